"""What a change made worse: outcomes under the conditions of both branches, known alarms, and waivers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import date

from pydantic import Field

from fire_circle.binding import differing
from fire_circle.gates.conditions import Conditions
from fire_circle.gates.verdicts import CaseVerdict, Expected, SuiteChange, tried
from llm_runtime.models import Model
from llm_runtime.structs import Struct


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


class SuiteSide(Struct):
    """A suite as one branch has it.

    Args:
        conditions: what stops the build.
        circle: all that decides a verdict beside the case, by name.
        contents: the digest of each case's content, by its id.
        expected: what a content must come to, where it says so.
        verdicts: what is known, by content.
        canaries: a content's canary and its twin, where it has them.
        waivers: as they stand.
    """

    conditions: Conditions
    circle: Mapping[str, object]
    contents: Mapping[str, str]
    expected: Mapping[str, Expected] = field(default_factory=dict[str, Expected])
    verdicts: Mapping[str, CaseVerdict] = field(default_factory=dict[str, CaseVerdict])
    waivers: Sequence[Waiver] = ()
    canaries: Mapping[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])

    def outcome(self, content: str, verdict: CaseVerdict | None = None) -> CaseVerdict:
        """Return a case's verdict, or another one, as this branch tries it; an error where none is known."""
        known = verdict or self.verdicts.get(content) or CaseVerdict(id=content, error="not known")
        return tried(known, self.conditions, known.hidden, self.expected.get(content, ""))

    def waived(self, today: date) -> dict[str, Waiver]:
        """Return the waivers that hold, by what they are for."""
        return {waiver.case: waiver for waiver in self.waivers if waiver.until >= today}


def changes(before: SuiteSide, now: SuiteSide, today: date) -> list[SuiteChange]:
    """Return what is otherwise than before, each case by what stands in it.

    What a waiver of ``before`` covers is told, and does not count as worse.
    """
    waived = before.waived(today)

    def judged(change: SuiteChange) -> SuiteChange:
        if not change.worse or (waiver := waived.get(change.subject)) is None:
            return change
        return change.model_copy(update={"worse": False, "what": f"{change.what} (waived: {waiver.reason})"})

    return [judged(change) for change in (*_suite(before, now), *_left(before, now), *_outcomes(before, now))]


def _suite(before: SuiteSide, now: SuiteSide) -> Iterator[SuiteChange]:
    for words in now.conditions.weaker_than(before.conditions):
        yield SuiteChange(subject="conditions", what=f"weaker than before: {words}")
    if names := differing(before.circle, now.circle):
        yield SuiteChange(subject="circle", what=f"verdicts are found in another way than before: {', '.join(names)}")


def _left(before: SuiteSide, now: SuiteSide) -> Iterator[SuiteChange]:
    """Yield the cases of before that are not what they were."""
    there = set(now.contents.values())
    for case, content in before.contents.items():
        if content not in there:
            yield SuiteChange(subject=case, what="replaced by another text" if case in now.contents else "gone")
        elif before.expected[content] != now.expected[content]:
            yield SuiteChange(subject=case, what="is expected to come to something else than before")
        elif content in before.canaries and before.canaries[content] != now.canaries.get(content):
            yield SuiteChange(subject=case, what="has another canary or twin than before")


def _outcomes(before: SuiteSide, now: SuiteSide) -> Iterator[SuiteChange]:
    earlier = set(before.contents.values())
    for case, content in now.contents.items():
        one, then = now.outcome(content), before.outcome(content)
        strictly = before.outcome(content, one) if content in earlier else None
        if one.passed:
            if strictly and not strictly.passed:
                yield SuiteChange(subject=case, what=f"passes by the new conditions alone: {strictly.why}")
            elif then.fired:
                yield SuiteChange(subject=case, what="passes now", worse=False)
        elif not then.fired:
            known = "passed before" if then.passed else "does not pass, and was not known before"
            yield SuiteChange(subject=case, what=known if strictly else "new, and does not pass")


def excused(
    verdicts: Iterable[CaseVerdict], now: SuiteSide, before: SuiteSide | None, today: date, *, known: bool
) -> Iterator[CaseVerdict]:
    """Yield verdicts, each with why it does not stop the build where something speaks for it.

    Args:
        before: the baseline, whose waivers alone count; without one those of the suite itself do.
        known: whether an alarm that the baseline has as well may pass.
    """
    side = before or now
    waivers = side.waived(today)
    for verdict in verdicts:
        content, waiver, why = now.contents[verdict.id], waivers.get(verdict.id), ""
        # A waiver is for the text that stood under the name when it was given.
        if waiver and side.contents.get(verdict.id) == content:
            why = f"waived until {waiver.until}: {waiver.reason}"
        elif known and before and _had(before.outcome(content), verdict):
            why = "the baseline has this alarm as well"
        yield verdict.model_copy(update={"excused": "" if verdict.passed else why})


def _had(then: CaseVerdict, verdict: CaseVerdict) -> bool:
    return bool(then.fired) and verdict.fired.keys() <= then.fired.keys() and not verdict.error
