"""Pairs of sentences judged, as a run: does the one support, contradict, or say the same as the other?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field

from assay.fields import Ui, read_ui
from assay.hooks import Data, Hooks
from assay.protocol import RunContext
from assay.report.standing import RunVerdict
from assay.report.units import count_noun
from crux import ChosenModel, ModelTable
from crux.claims.judge import Judge, Kind
from crux.claims.judge import Pair as Judged
from crux.requests import Questioner
from llm_runtime.models import Model
from llm_runtime.names import ModelName

_TABLE = ModelTable()


class Pair(Model):
    """A premise and a claim; ``kind`` is what people say that the premise does to the claim, where they said it."""

    premise: str = Field(min_length=1, max_length=8_000)
    claim: str = Field(min_length=1, max_length=8_000)
    kind: Kind | None = None


FIELDS = read_ui(__package__ or "")


class Task(Model):
    """What is judged."""

    pairs: Annotated[list[Pair], Ui(hidden=True)] = Field(default=[], max_length=5_000)
    """Pairs of a premise and a claim."""


class Options(Model):
    """How it is judged."""

    ui: ClassVar[Mapping[str, Ui]] = FIELDS["judging"]

    strict: bool = False
    """Ask in both orders: the same, and a contradiction, count only where both agree."""
    fast: ModelName = _TABLE.fast.id
    """The model that judges."""
    takes_temperature: bool = True
    """Whether the model takes a temperature."""


class JudgingHooks(Hooks[Task, Options]):
    """What judging pairs does."""

    told = "assay.protocols.crux.report.figures:JudgingFold"

    async def run(self, task: Task, options: Options, context: RunContext) -> Data:
        """Judge; the result holds the verdicts in order, and figures where people judged the pairs too.

        Raises:
            LlmRuntimeError: whatever ends it.
        """
        from crux.measurement.judged_pairs import judge_figures

        models = ModelTable(fast=ChosenModel(id=options.fast, takes_temperature=options.takes_temperature))
        judge = Judge(Questioner(context.generate, models, context.seed))
        pairs = [Judged(pair.premise, pair.claim) for pair in task.pairs]
        verdicts = await judge.relate(pairs, "pairs", strict=options.strict)
        result: dict[str, Any] = {"verdicts": [verdict.model_dump(mode="json") for verdict in verdicts]}
        kinds: list[Kind | None] = [pair.kind for pair in task.pairs]
        expected: list[Kind] = [kind for kind in kinds if kind]
        if expected:
            judged = [verdict for kind, verdict in zip(kinds, verdicts, strict=True) if kind]
            result["figures"] = judge_figures(expected, judged).model_dump(mode="json")
        return result

    def title_of(self, task: Task) -> str:
        """Return one line for lists."""
        return f"{len(task.pairs)} pairs of sentences"

    def outcome(self, result: Mapping[str, Any]) -> RunVerdict:
        """Return how many pairs were judged."""
        checked = "beside people's own verdicts" if result.get("figures") else ""
        return RunVerdict(f"{count_noun(len(result['verdicts']), 'pair')} judged", checked)
