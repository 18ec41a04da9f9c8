"""What a council is asked, how it can be set, and how one is held."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from assay.demo import PreparedDemo, demo_answers, written_demo
from assay.fields import Ui
from assay.protocol import Measures, RunContext
from crucible import Crucible, EngineConfig
from crucible.executor.delta import TextSimilarityDeltaStrategy
from llm_runtime.messages import Generate
from llm_runtime.models import Model

_DELTAS = {"judge": lambda: None, "similarity": TextSimilarityDeltaStrategy}
#: Of a result, for the table of a batch.
MEASURES: Measures = {
    "ended early": lambda result: result.get("early_exit"),
    "loops": lambda result: result.get("loops_executed"),
}


class Task(Model):
    """A question to a council."""

    query: Annotated[str, Ui(argument=True, metavar="QUESTION", label="Question", kind="text")] = Field(
        min_length=1, pattern=r"\S", description="say what you want to know"
    )
    context: Annotated[
        dict[str, Any] | None,
        Ui(help="A JSON object for triage: what it should know about the asker.", metavar="PATH", kind="json"),
    ] = None
    """A JSON object for triage: what it should know about the asker. May stay empty."""


class Options(Model):
    """How a council sits. Triage decides the rest."""

    delta: Annotated[
        Literal["judge", "similarity"],
        Ui(
            label="Stop when nothing changes",
            show_default=True,
            words={
                "judge": "a model compares the loops",
                "similarity": "the texts are compared, without a model",
            },
        ),
    ] = "judge"
    """Who decides that positions stopped changing: a model, or a comparison of texts."""
    triage_model: Annotated[
        str, Ui(help="The model that configures the council, where --model names none.", metavar="MODEL")
    ] = EngineConfig.model_fields["triage_model"].default
    """The model that configures the council, where Model names none."""
    default_model: Annotated[
        str,
        Ui(help="The model of every seat that triage has no hint for, where --model names none.", metavar="MODEL"),
    ] = EngineConfig.model_fields["default_model"].default
    """The model of every seat that triage has no hint for, where Model names none."""

    models: Annotated[
        tuple[str, ...],
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

    @property
    def asked_models(self) -> tuple[str, ...]:
        """The models that must be reached before it begins."""
        return tuple(dict.fromkeys((*self.models, self._own("default_model"))))

    def _own(self, name: str) -> str:
        """Return a model that belongs to no seat: the panel's first, where the user named none."""
        model: str = getattr(self, name)
        usual = EngineConfig.model_fields[name].default
        return self.models[0] if self.models and model == usual else model

    def config(self, generate: Generate) -> EngineConfig:
        """Return the engine's configuration."""
        return EngineConfig(
            openrouter_api_key="",
            generate=generate,
            observability=True,
            delta_strategy=_DELTAS[self.delta](),
            triage_model=self._own("triage_model"),
            default_model=self._own("default_model"),
            models=self.models,
        )


async def run(task: Task, options: Options, context: RunContext) -> dict[str, Any]:
    """Put the question to a council; the result is ``ExecutorResult`` as data, its trace included.

    Raises:
        LlmRuntimeError: whatever ends a council.
    """
    async with Crucible(options.config(context.generate), emit=context.emit, seed=context.seed) as engine:
        result = await engine.run(task.query, task.context)
    return result.model_dump(mode="json")


def upgrade(task: Mapping[str, Any], settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return task and options of an older log or job file."""
    return dict(task), dict(settings.get("engine", {}))


def demo(folder: Path, speed: float) -> PreparedDemo:
    """Make the recorded council ready."""
    answers = demo_answers("council")
    return written_demo("crucible.council", answers, {"query": answers.manifest["question"]}, {}, speed)
