"""What came of each case of a suite, and of the suite as a whole, as data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from pydantic import Field

from fire_circle import PatternObservation, ReciprocityMetrics
from fire_circle.gates.conditions import COMPLETE, Conditions, shortfalls
from fire_circle.measurement.scores import Rule, Scales, score_by
from fire_circle.results import Spend
from llm_runtime.models import Model

Expected: TypeAlias = Literal["", "alarm", "calm"]
"""What a case must come to; left out, it must stay calm."""


class CaseVerdict(Model):
    """What came of one case.

    Args:
        id: the case's.
        falsehood: F by the suite's rule; ``None`` where there is no verdict.
        truth, indeterminacy, by, reasoning: of the judgement with the highest F.
        patterns: what the circle agreed on.
        lacking: why the circle was not complete, one line each.
        rounds: how many it took; 0 where nobody judged.
        answer: what the target answered when it was called.
        spend: what it took; ``later``: what of that the rounds behind the first took.
        error: why there is no verdict; ``code``: the exit code that this means.
        known: nobody is asked about it, and it costs nothing now: by the lock, or for an error told before.
        hidden: stretches of the case that nobody sees.
        moved: whether a canary proves the attack: by the bytes of the answers, whatever judges say.
        expect, tags: as the case has them.
        fired: the gates that stop the build, each with what happened.
        excused: why it does not stop the build all the same.
    """

    id: str
    falsehood: float | None = None
    truth: float = 0.0
    indeterminacy: float = 0.0
    by: str = ""
    reasoning: str = ""
    patterns: tuple[PatternObservation, ...] = ()
    lacking: tuple[str, ...] = ()
    rounds: int = 0
    answer: str = ""
    spend: Spend = Spend()
    later: Spend = Spend()
    error: str = ""
    code: int = 0
    known: bool = False
    hidden: int = 0
    moved: bool = Field(default=False, exclude_if=lambda so: not so)
    expect: Expected = Field(default="", exclude_if=lambda word: not word)
    tags: tuple[str, ...] = Field(default=(), exclude_if=lambda words: not words)
    fired: dict[str, str] = {}
    excused: str = Field(default="", exclude_if=lambda words: not words)

    @property
    def from_lock(self) -> bool:
        """Whether the lock held a verdict on it."""
        return self.known and not self.error

    @property
    def passed(self) -> bool:
        """Whether there is a verdict, and nothing in it stops the build."""
        return not self.fired and not self.error

    @property
    def stops(self) -> bool:
        """Whether it stops the build."""
        return not self.passed and not self.excused

    @property
    def values(self) -> dict[str, float]:
        """Its measures, as gates name them."""
        measures = {"F": self.falsehood or 0.0, "T": self.truth, "I": self.indeterminacy, "hidden": float(self.hidden)}
        security = sum(bool(pattern.security) for pattern in self.patterns)
        return {**measures, "patterns": float(len(self.patterns)), "security": float(security)}

    @property
    def why(self) -> str:
        """Why it did not pass, on one line; empty where it did."""
        return self.error or "; ".join(f"gate {gate} {what}" for gate, what in self.fired.items())


class Spared(Model):
    """What the cascade did not ask: cases that round 1 decided, and an estimate of what their dialogue had taken.

    ``measured``: by the later rounds of the other cases; else by one more round like the first.
    """

    cases: int = 0
    calls: int = 0
    cost: int = 0
    measured: bool = False


class SuiteChange(Model):
    """One thing that is otherwise than on the baseline.

    Args:
        subject: the case's id, or ``conditions``, ``circle``.
        what: in a sentence.
        worse: whether it stops the build.
    """

    subject: str
    what: str
    worse: bool = True


class GateResult(Model):
    """A suite's result.

    Args:
        name: the suite's.
        gates: every condition that was asked about.
        verdicts: one a case, in the suite's order.
        spend: what was paid for now; what the lock holds costs nothing.
        spared: what the cascade saved.
        changes: what is otherwise than on the baseline; ``None`` where there was none to compare with.
        notes: what a reader of the verdicts must know, one line each.
    """

    name: str
    gates: tuple[str, ...]
    verdicts: tuple[CaseVerdict, ...] = Field(min_length=1)
    spend: Spend = Spend()
    spared: Spared = Spared()
    changes: tuple[SuiteChange, ...] | None = Field(default=None, exclude_if=lambda changes: changes is None)
    notes: tuple[str, ...] = Field(default=(), exclude_if=lambda notes: not notes)

    @property
    def failed(self) -> tuple[CaseVerdict, ...]:
        """The cases that stop the build."""
        return tuple(verdict for verdict in self.verdicts if verdict.stops)

    @property
    def worse(self) -> tuple[SuiteChange, ...]:
        """What became worse than on the baseline, and nobody waived."""
        return tuple(change for change in self.changes or () if change.worse)

    @property
    def code(self) -> int:
        """The exit code: 1 where a gate stops the build, else that of the first case without a verdict."""
        codes = [*(verdict.code or 1 for verdict in self.failed), *(1 for _ in self.worse)]
        return 1 if 1 in codes else next(iter(codes), 0)


def verdict_of(
    case: str, metrics: ReciprocityMetrics, rule: Rule, seats: int, answer: str, scales: Scales
) -> CaseVerdict:
    """Return what a circle of ``seats`` judges came to, its F made by ``rule``."""
    result = metrics.result
    worst = max(metrics.evaluations, key=lambda e: (e.falsehood, e.round_number, -e.seat))
    return CaseVerdict(
        **{name: getattr(metrics, name) for name in ("truth", "indeterminacy", "patterns", "spend")},
        id=case,
        falsehood=score_by(rule, result, scales) if result else metrics.falsehood,
        by=worst.model,
        reasoning=worst.reasoning[:1_000],
        lacking=tuple(shortfalls(metrics, seats)),
        rounds=len(result.dialogue_history) if result else 1,
        answer=answer,
        later=sum((e.spend for e in metrics.evaluations if e.round_number > 1), Spend()),
    )


def tried(verdict: CaseVerdict, conditions: Conditions, hidden: int, expect: Expected = "") -> CaseVerdict:
    """Return a verdict with what stops the build by some conditions: an alarm, or a missing one."""
    counted = verdict.model_copy(update={"hidden": hidden, "expect": expect, "fired": {}})
    if verdict.error:
        return counted
    fired = conditions.fired(counted.values, verdict.lacking)
    if expect == "alarm":
        missing = {} if fired.keys() - {COMPLETE} else {"alarm": f"is missing: F {verdict.falsehood or 0:g}"}
        fired = {**missing, **{gate: why for gate, why in fired.items() if gate == COMPLETE}}
    if verdict.moved:
        fired["canary"] = "moves: the answer has what only the target holds, and that of the harmless twin does not"
    return counted.model_copy(update={"fired": fired})


def spared_by(verdicts: Sequence[CaseVerdict]) -> Spared:
    """Return what a cascade saved on the cases that were judged now."""
    short = [verdict for verdict in verdicts if verdict.rounds == 1]
    whole = [verdict for verdict in verdicts if verdict.rounds > 1]
    if not short:
        return Spared(measured=True)
    usual = [verdict.later for verdict in whole] or [verdict.spend for verdict in short]
    calls, cost = (sum(getattr(spend, name) for spend in usual) / len(usual) for name in ("calls", "cost"))
    count = len(short)
    return Spared(cases=count, calls=round(calls * count), cost=round(cost * count), measured=bool(whole))


def drift(pairs: Sequence[tuple[CaseVerdict, CaseVerdict]], conditions: Conditions) -> list[str]:
    """Return in words how far verdicts moved that were asked anew, each beside the one before."""
    both = [(before, after) for before, after in pairs if after.falsehood is not None]
    if not both:
        return []
    shift = sum((after.falsehood or 0.0) - (before.falsehood or 0.0) for before, after in both) / len(both)
    turned = sum(len({bool(tried(one, conditions, 0).fired) for one in pair}) > 1 for pair in both)
    return [f"asked anew: F of {len(both)} cases moved by {shift:+.2f} on average, {turned} came to another outcome"]
