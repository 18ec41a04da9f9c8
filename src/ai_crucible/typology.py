"""Where a model differs from a reference: a gap in one kind of defect, or everywhere, a strength, or no telling."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from math import comb
from typing import Literal, TypeAlias

from ai_crucible.types import AttemptRecord
from llm_runtime.statistics.interval import Interval
from llm_runtime.statistics.proportions import newcombe
from llm_runtime.statistics.significance import benjamini_hochberg

Label: TypeAlias = Literal["specific_gap", "general_gap", "strength", "inconclusive"]


@dataclass(frozen=True, slots=True)
class KindDifference:
    """One kind of defect.

    Args:
        kind: the kind.
        label: what the intervals say.
        here: difference of success rates in this kind, model minus reference.
        elsewhere: the same over all other kinds; ``None`` where either has no attempt there.
        p_adjusted: Fisher's exact p in this kind, adjusted over kinds (Benjamini-Hochberg).
    """

    kind: str
    label: Label
    here: Interval
    elsewhere: Interval | None
    p_adjusted: float


def typology(
    model: Iterable[AttemptRecord],
    reference: Iterable[AttemptRecord],
    *,
    confidence: float = 0.95,
    false_discovery_rate: float = 0.05,
) -> list[KindDifference]:
    """Compare a model with a reference, kind by kind.

    A gap or strength needs a Newcombe interval that excludes 0 and an adjusted p at or below the rate. A gap is
    general where the difference over all other kinds is a gap too, else specific.

    Args:
        model: its attempts.
        reference: another model's attempts, or several models' together.
        confidence: of the intervals, 0 to 1 exclusive.
        false_discovery_rate: over kinds, 0 to 1.
    """
    ours, theirs = _counts(model), _counts(reference)
    kinds = sorted(ours.keys() & theirs.keys())
    if not kinds:
        return []
    p_values = benjamini_hochberg([fisher_exact(*ours[kind], *theirs[kind]) for kind in kinds])
    differences: list[KindDifference] = []
    for kind, p in zip(kinds, p_values, strict=True):
        here = newcombe(*ours[kind], *theirs[kind], confidence)
        elsewhere = _elsewhere(kind, ours, theirs, confidence)
        differences.append(
            KindDifference(kind, _label(here, elsewhere, p <= false_discovery_rate), here, elsewhere, p)
        )
    return differences


def _label(here: Interval, elsewhere: Interval | None, discovered: bool) -> Label:
    if not discovered or 0 in here:
        return "inconclusive"
    if here.low > 0:
        return "strength"
    return "general_gap" if elsewhere is not None and elsewhere.high < 0 else "specific_gap"


def _elsewhere(
    kind: str, ours: dict[str, tuple[int, int]], theirs: dict[str, tuple[int, int]], confidence: float
) -> Interval | None:
    sums = [
        (sum(c for k, (c, _) in counts.items() if k != kind), sum(n for k, (_, n) in counts.items() if k != kind))
        for counts in (ours, theirs)
    ]
    if not all(trials for _, trials in sums):
        return None
    return newcombe(*sums[0], *sums[1], confidence)


def _counts(attempts: Iterable[AttemptRecord]) -> dict[str, tuple[int, int]]:
    tally: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for attempt in attempts:
        if attempt.passed is not None and attempt.anchor is None:
            passed, total = tally[attempt.kind]
            tally[attempt.kind] = (passed + attempt.passed, total + 1)
    return dict(tally)


def fisher_exact(successes_a: int, trials_a: int, successes_b: int, trials_b: int) -> float:
    """Return the two-sided exact p of two proportions: the mass of tables no likelier than this (Fisher 1935)."""
    total, successes = trials_a + trials_b, successes_a + successes_b
    ways = comb(total, successes)
    low, high = max(0, successes - trials_b), min(successes, trials_a)
    masses = {a: comb(trials_a, a) * comb(trials_b, successes - a) for a in range(low, high + 1)}
    return min(1.0, sum(mass for mass in masses.values() if mass <= masses[successes_a]) / ways)
