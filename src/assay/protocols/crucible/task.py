"""What a council is asked, how it can be set, and how one is held."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, cast

from pydantic import Field, model_validator

from assay.demo import PreparedDemo, demo_answers, written_demo
from assay.fields import Ui, read_ui
from assay.protocols.crucible.purposes import WORDS, Purpose, form_of
from assay.seat_tools.offered import Tools
from crucible import EngineConfig
from crucible.config import DeltaStrategy
from crucible.material import Attachment
from llm_runtime.messages import Generate
from llm_runtime.models import Model
from llm_runtime.names import ModelName, RunName, Source

_CHALLENGED = "“{}”\n\nIs that so? Say what speaks against it, and what then becomes of the answer."

FIELDS = read_ui(__package__ or "")


class Task(Model):
    """A question to a council."""

    ui: ClassVar[Mapping[str, Ui]] = FIELDS["question"]

    query: str = Field(min_length=1, pattern=r"\S", description="say what you want to know")
    attach: list[Source] = []
    """Pages and pictures that the whole council reads: https addresses, or data:image/png;base64,… one a line."""
    material: str = ""
    """A text or a picture that the whole council reads: a diff, a document, a log, a screenshot."""
    purpose: Annotated[
        Purpose, Ui(flag="--as", show_default=True, words=WORDS, label="Form of the answer", advanced=False)
    ] = "answer"
    """What for: the form of the answer, and where the council looks."""
    follow: RunName = ""
    """The run of a finished council, whose question, answer and objections this one reads first."""
    challenge: str = Field(default="", max_length=2_000)
    """A sentence of the answer that is followed: a critic attacks it before the seats speak."""
    without_attachments: bool = False
    """Of a council that is followed, leave out the attachments: its answer's places then lead nowhere."""
    context: dict[str, Any] | None = None
    """A JSON object for triage: what it should know about the asker. May stay empty."""
    fit: int | None = Field(default=None, ge=100)
    """Of the attachments, show only passages that bear on the question, up to so many tokens."""
    dossier: Annotated[list[Attachment], Ui(hidden=True)] = []
    """The attachments themselves: ``{"name", "text"}``; so a run can be replayed wherever its log is."""
    left_out: Annotated[list[str], Ui(hidden=True)] = []
    """Files of attached folders that could not be read, a line each."""
    earlier: Annotated[str, Ui(hidden=True)] = ""
    """What the council that is followed was asked and answered."""

    @model_validator(mode="before")
    @classmethod
    def _asked(cls, data: Any) -> Any:
        """Ask the purpose's own question where there is only something to read."""
        if not isinstance(data, dict):
            return data
        task = cast("dict[str, Any]", data)
        if task.get("query"):
            return task
        if task.get("challenge"):
            return {**task, "query": _CHALLENGED.format(task["challenge"])}
        if not any(map(task.get, ("attach", "material", "dossier"))):
            return task
        purpose = task.get("purpose", "answer")
        return {**task, "query": form_of(purpose if purpose in WORDS else "answer").question}


class Options(Model):
    """How a council sits. Triage decides the rest."""

    ui: ClassVar[Mapping[str, Ui]] = FIELDS["council"]

    form: Literal["records", "prose"] = "records"
    """How seats and critic answer: by records, or in prose as the brief has it. What follows on changes, clerk and
    ledger is of the form in prose."""
    route: bool = False
    """Have three short answers first, of as many vendors as the panel has, or as there are keys for: where they agree
    and a check finds nothing, that is the answer; else a council decides what they differ in."""
    delta: Literal["conclusions", "judge", "similarity"] = "conclusions"
    """Who decides that positions stopped changing: a model that compares conclusions, one that compares whole
    positions, or a comparison of texts."""
    ledger: Literal["on", "off"] = "on"
    """Have a clerk record what became of each objection: a call for each critique, after the answer."""
    ledger_budget: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Dollars that the clerk may spend, within the run's own bounds."""
    letters: Annotated[bool, Ui(hidden=True)] = True
    """Whether red team and synthesis know seats by letters, in an order drawn from the seed."""
    triage_model: ModelName = EngineConfig.model_fields["triage_model"].default
    """The model that configures the council, where Model names none."""
    default_model: ModelName = EngineConfig.model_fields["default_model"].default
    """The model of every seat that triage has no hint for, where Model names none."""

    tools: Tools = ()
    """Tools that seats may use to look things up: files, a search, Python in a box, servers of yours."""
    models: tuple[ModelName, ...] = ()
    """Models that the seats take in turn, one a line: ids, or PROVIDER:MODEL; the red team takes the least used."""

    def _own(self, name: str) -> str:
        """Return a model that belongs to no seat: the panel's first, where the user named none."""
        model: str = getattr(self, name)
        return self.models[0] if self.models and model == EngineConfig.model_fields[name].default else model

    def config(self, generate: Generate, delta: DeltaStrategy | None) -> EngineConfig:
        """Return the engine's configuration."""
        return EngineConfig(
            openrouter_api_key="",
            generate=generate,
            observability=True,
            delta_strategy=delta,
            triage_model=self._own("triage_model"),
            default_model=self._own("default_model"),
            models=self.models,
        )


def demo(folder: Path, speed: float) -> PreparedDemo:
    """Make the recorded council ready."""
    answers = demo_answers("council")
    return written_demo("crucible.council", answers, {"query": answers.manifest["question"]}, {}, speed)
