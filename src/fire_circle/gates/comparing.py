"""What a change made worse: outcomes under the conditions of both branches, known alarms, and waivers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from pydantic import Field

from fire_circle.gates.conditions import Conditions
from fire_circle.gates.verdicts import CaseVerdict, SuiteChange, Expected, tried
from llm_runtime.models import Model


class Waiver(Model):
    """Somebody answers for a case that stops the build, until a day.

    Args:
        case: its id; ``conditions`` and ``circle`` stand for those of the suite.
        reason: why, in words.
        until: the last day on which it holds.
    """

    case: str
    reason: str = Field(min_length=10)
    until: date


@dataclass(frozen=True, slots=True)
class SuiteSide:
    """A suite as one branch has it.

    Args:
        conditions: what stops the build.
        circle: all that decides a verdict beside the case, by name.
        contents: the digest of each case's content, by its id.
        expected: what a content must come to, where it says so.
        verdicts: what is known, by content.
        waivers: as they stand.
    """

    conditions: Conditions
    circle: Mapping[str, Any]
    contents: Mapping[str, str]
    expected: Mapping[str, Expected] = field(default_factory=dict[str, Expected])
    verdicts: Mapping[str, CaseVerdict] = field(default_factory=dict[str, CaseVerdict])
    waivers: Sequence[Waiver] = ()

    def outcome(self, content: str, verdict: CaseVerdict | None = None) -> CaseVerdict | None:
        """Return a case's verdict, or another one, as this branch tries it; ``None`` where none is known."""
        known = verdict or self.verdicts.get(content)
        return known and tried(known, self.conditions, known.hidden, self.expected.get(content, ""))


def changes(before: SuiteSide, now: SuiteSide, today: date) -> list[SuiteChange]:
    """Return what is otherwise than before, each case by what stands in it.

    What a waiver of ``before`` covers is told, and does not count as worse.
    """
    waived = {waiver.case: waiver for waiver in before.waivers if waiver.until >= today}

    def judged(change: SuiteChange) -> SuiteChange:
        if not change.worse or (waiver := waived.get(change.subject)) is None:
            return change
        return change.model_copy(update={"worse": False, "what": f"{change.what} (waived: {waiver.reason})"})

    return [judged(change) for change in (*_suite(before, now), *_cases(before, now))]


def _suite(before: SuiteSide, now: SuiteSide) -> Iterator[SuiteChange]:
    for words in now.conditions.weaker_than(before.conditions):
        yield SuiteChange(subject="conditions", what=f"weaker than before: {words}")
    names = sorted(name for name in before.circle.keys() | now.circle.keys() if _differs(before, now, name))
    if names:
        yield SuiteChange(
            subject="circle", what=f"verdicts are found in another way than before: {', '.join(names)}"
        )


def _differs(before: SuiteSide, now: SuiteSide, name: str) -> bool:
    return before.circle.get(name) != now.circle.get(name)


def _cases(before: SuiteSide, now: SuiteSide) -> Iterator[SuiteChange]:
    there, earlier = set(now.contents.values()), set(before.contents.values())
    for case, content in before.contents.items():
        if content not in there:
            yield SuiteChange(subject=case, what="replaced by another text" if case in now.contents else "gone")
        elif before.expected.get(content, "") != now.expected.get(content, ""):
            yield SuiteChange(subject=case, what="is expected to come to something else than before")
    for case, content in now.contents.items():
        if (one := now.outcome(content)) is None:
            continue
        if content not in earlier:
            if not one.passed:
                yield SuiteChange(subject=case, what="new, and does not pass")
            continue
        then, strictly = before.outcome(content), before.outcome(content, one)
        if one.passed and strictly and not strictly.passed:
            yield SuiteChange(subject=case, what=f"passes by the new conditions alone: {strictly.why}")
        elif not one.passed and not (then and not then.passed):
            yield SuiteChange(
                subject=case, what="passed before" if then else "does not pass, and was not known before"
            )
        elif one.passed and then and not then.passed:
            yield SuiteChange(subject=case, what="passes now", worse=False)


def excused(
    verdicts: Iterable[CaseVerdict], now: SuiteSide, before: SuiteSide | None, today: date, *, known: bool
) -> Iterator[CaseVerdict]:
    """Yield verdicts, each with why it does not stop the build where something speaks for it.

    Args:
        before: the baseline, whose waivers alone count; without one those of the suite itself do.
        known: whether an alarm that the baseline has as well may pass.
    """
    waivers = {waiver.case: waiver for waiver in (before or now).waivers if waiver.until >= today}
    for verdict in verdicts:
        content, waiver = now.contents[verdict.id], waivers.get(verdict.id)
        then = before.outcome(content) if before else None
        # A waiver is for the text that stood under the name when it was given.
        if waiver and (before is None or before.contents.get(verdict.id) == content):
            why = f"waived until {waiver.until}: {waiver.reason}"
        elif known and then and then.fired and verdict.fired.keys() <= then.fired.keys() and not verdict.error:
            why = "the baseline has this alarm as well"
        else:
            why = ""
        yield verdict.model_copy(update={"excused": why if not verdict.passed else ""})
