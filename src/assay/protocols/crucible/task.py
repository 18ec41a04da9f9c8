"""What a council is asked, how it can be set, and how one is held."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from pydantic import Field, model_validator

from assay.demo import PreparedDemo, demo_answers, written_demo
from assay.fields import Ui
from assay.protocol import Measures
from assay.protocols.crucible.dossier import Attachment, check, fitted
from assay.protocols.crucible.purposes import WORDS, Purpose, form_of
from assay.report.standing import Leaning, RunVerdict
from assay.report.units import count_noun
from assay.seat_tools.offered import Tools
from crucible import EngineConfig
from crucible.config import DeltaStrategy
from llm_runtime.messages import Generate
from llm_runtime.models import Model
from llm_runtime.names import ModelName, RunName, Source

#: What options that older logs do not have stood for.
_ABSENT = {"delta": "judge", "ledger": "off", "letters": False}


def _counted(outcome: str) -> Any:
    def count(result: Mapping[str, Any]) -> int | None:
        ledger = result.get("ledger")
        return (
            None if ledger is None else sum(one.get("outcome", "open") == outcome for one in ledger["objections"])
        )

    return count


#: Of a result, for the table of a batch.
MEASURES: Measures = {
    "ended early": lambda result: result.get("early_exit"),
    "loops": lambda result: result.get("loops_executed"),
    "objections conceded": _counted("conceded"),
    "objections refuted": _counted("refuted"),
    "objections open": _counted("open"),
}


class Task(Model):
    """A question to a council."""

    query: Annotated[str, Ui(argument=True, metavar="QUESTION", label="Question", kind="text")] = Field(
        min_length=1, pattern=r"\S", description="say what you want to know"
    )
    attach: Annotated[
        tuple[Source, ...],
        Ui(
            help="A file, folder, pattern, https address, or - for standard input, that the whole council reads "
            "(repeatable).",
            metavar="SOURCE",
            label="Attached pages",
            local=True,
        ),
    ] = ()
    """Pages that the whole council reads: https addresses, one a line."""
    material: Annotated[str, Ui(kind="file", label="Attached text", doors=("form",), advanced=False)] = ""
    """A text that the whole council reads: a diff, a document, a log."""
    purpose: Annotated[
        Purpose, Ui(flag="--as", show_default=True, words=WORDS, label="Form of the answer", advanced=False)
    ] = "answer"
    """What for: the form of the answer, and where the council looks."""
    follow: Annotated[
        RunName,
        Ui(
            help="Go on from a council that is finished: its question, answer and objections are read first.",
            metavar="RUN",
            label="Goes on from run",
        ),
    ] = ""
    """The run of a finished council, whose question, answer and objections this one reads first."""
    context: Annotated[
        dict[str, Any] | None,
        Ui(
            help="A JSON object for triage: what it should know about the asker.",
            metavar="PATH",
            kind="json",
            label="About the asker, JSON",
        ),
    ] = None
    """A JSON object for triage: what it should know about the asker. May stay empty."""
    fit: Annotated[int | None, Ui(metavar="TOKENS", label="Most tokens of attachments")] = Field(
        default=None, ge=100
    )
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
        if task.get("query") or not any(map(task.get, ("attach", "material", "dossier"))):
            return task
        purpose = task.get("purpose", "answer")
        return {**task, "query": form_of(purpose if purpose in WORDS else "answer").question}


class Options(Model):
    """How a council sits. Triage decides the rest."""

    delta: Annotated[
        Literal["conclusions", "judge", "similarity"],
        Ui(
            label="Stop when nothing changes",
            show_default=True,
            words={
                "conclusions": "a model compares what the seats conclude",
                "judge": "a model compares all that the seats write",
                "similarity": "the texts are compared, without a model",
            },
        ),
    ] = "conclusions"
    """Who decides that positions stopped changing: a model that compares conclusions, one that compares whole
    positions, or a comparison of texts."""
    ledger: Annotated[
        Literal["on", "off"],
        Ui(label="Ledger of objections", show_default=True, words={"on": "a clerk writes it", "off": "none"}),
    ] = "on"
    """Have a clerk record what became of each objection: a call for each critique, after the answer."""
    ledger_budget: Annotated[float | None, Ui(metavar="USD", label="Budget of the clerk, USD")] = Field(
        default=None, ge=0, allow_inf_nan=False
    )
    """Dollars that the clerk may spend, within the run's own bounds."""
    letters: Annotated[bool, Ui(hidden=True)] = True
    """Whether red team and synthesis know seats by letters, in an order drawn from the seed."""
    triage_model: Annotated[
        ModelName, Ui(help="The model that configures the council, where --model names none.", metavar="MODEL")
    ] = EngineConfig.model_fields["triage_model"].default
    """The model that configures the council, where Model names none."""
    default_model: Annotated[
        ModelName,
        Ui(help="The model of every seat that triage has no hint for, where --model names none.", metavar="MODEL"),
    ] = EngineConfig.model_fields["default_model"].default
    """The model of every seat that triage has no hint for, where Model names none."""

    tools: Tools = ()
    """Tools that seats may use to look things up: files, a search, Python in a box, servers of yours."""
    models: Annotated[
        tuple[ModelName, ...],
        Ui(
            help="A panel: seats take these models in turn, the red team the least used.",
            metavar="A,B,C",
            label="Panel",
        ),
    ] = ()
    """Models that the seats take in turn, one a line: ids, or PROVIDER:MODEL; the red team takes the least used."""

    @property
    def named_models(self) -> tuple[str, ...]:
        """The models that the user put into the seats."""
        return self.models

    def _own(self, name: str) -> str:
        """Return a model that belongs to no seat: the panel's first, where the user named none."""
        model: str = getattr(self, name)
        usual = EngineConfig.model_fields[name].default
        return self.models[0] if self.models and model == usual else model

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


def prepare(task: Task, options: Options) -> tuple[Task, Options]:
    """Read what is to be attached; a diff in place of a question becomes an attachment.

    Raises:
        ConfigurationError: something cannot be read, or it is too much; nothing was asked.
    """
    # Some of it takes time to import, and most councils have no attachments.
    from assay.protocols.crucible.attaching import attachment, is_diff, read_attachments

    # Programs send texts as they have them.
    dossier = [one if one.shown else attachment(one.name, one.text) for one in task.dossier]
    left_out = list(task.left_out)
    query, purpose = task.query, task.purpose
    if is_diff(query):
        dossier.append(attachment("diff", query))
        purpose = "review" if purpose == "answer" else purpose
        query = form_of(purpose).question
    if task.material.strip():
        dossier.append(attachment("attached text", task.material))
    if task.attach:
        attachments, passed_over = read_attachments(task.attach)
        dossier += attachments
        left_out += passed_over
    if task.fit is not None:
        dossier = list(fitted(dossier, query, task.fit))
    check(dossier)
    read: dict[str, Any] = {
        "query": query,
        "purpose": purpose,
        "attach": (),
        "material": "",
        "fit": None,
        "dossier": dossier,
        "left_out": left_out,
    }
    return task.model_copy(update=read), options


def take_up(task: Task, parent: Mapping[str, Any]) -> Task:
    """Return the task of a council that follows another: that one's question, answer and ledger are read first.

    Args:
        parent: the other's task, result and state.

    Raises:
        ConfigurationError: it has no answer.
    """
    from assay.protocols.crucible.following import earlier_council

    return task.model_copy(update={"follow": parent["run_id"], "earlier": earlier_council(parent)})


def outcome(result: Mapping[str, Any]) -> RunVerdict:
    """Return what became of the objections to the answer."""
    from assay.protocols.crucible.ledger import Ledger, headline

    gist, loops = result["final_response"], result.get("loops_executed")
    if loops == 0:
        return RunVerdict("answered", "by one model", "no council sat", gist=gist)
    early = "settled early " if result.get("early_exit") else ""
    after = f"{early}after {count_noun(loops, 'loop')}" if loops else ""
    if result.get("ledger") is None:
        return RunVerdict("answered", after, gist=gist)
    ledger = Ledger.model_validate(result["ledger"])
    leaning: Leaning = "open" if ledger.still_open else "good" if ledger.objections else "neutral"
    return RunVerdict("answered", headline(ledger), leaning=leaning, gist=gist)


def upgrade(task: Mapping[str, Any], settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return task and options of an older log or job file."""
    return dict(task), {**_ABSENT, **settings.get("options", settings.get("engine", {}))}


def demo(folder: Path, speed: float) -> PreparedDemo:
    """Make the recorded council ready."""
    answers = demo_answers("council")
    return written_demo("crucible.council", answers, {"query": answers.manifest["question"]}, {}, speed)
