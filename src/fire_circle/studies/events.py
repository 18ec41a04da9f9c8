"""What a study's log holds beside its calls: which passes there are, and each item as it is finished."""

from __future__ import annotations

from pydantic import Field

from fire_circle.gates.verdicts import CaseVerdict
from fire_circle.results import NeutrosophicEvaluation
from llm_runtime.events import Event


class PassesPlanned(Event, type="study.passes_planned"):
    """The passes ahead, in order: name, items in all, items finished before."""

    title: str
    passes: list[tuple[str, int, int]]


class PowerTold(Event, type="study.power"):
    """How often a study of so many items finds a lift that is there, in a sentence."""

    summary: str


class PassStarted(Event, type="study.pass_started"):
    """One begins."""

    name: str


class ItemFinished(Event, type="study.item_finished"):
    """An item has its result; ``fault`` says why it has no score.

    Of a case of a suite ``verdict`` is what came of it, and ``said`` what each judge said of it.
    """

    name: str
    falsehood: float | None
    fault: str
    verdict: CaseVerdict | None = Field(default=None, exclude_if=lambda verdict: not verdict)
    said: tuple[NeutrosophicEvaluation, ...] = Field(default=(), exclude_if=lambda said: not said)
