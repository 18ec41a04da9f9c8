"""Proportions of yes and no: one (Wilson), two in strata, apart or paired (Newcombe), and McNemar's exact test."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import sqrt

from llm_runtime.statistics.interval import Interval, two_sided_z
from llm_runtime.structs import Struct


def wilson(successes: int, trials: int, confidence: float = 0.95) -> Interval:
    """Return the score interval of one proportion p = successes / trials.

    (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n). It keeps its coverage for small n and for p at 0 or 1,
    where the textbook p ± z·se collapses to a point.

    Source: Wilson 1927, JASA 22:209-212; recommended by Newcombe 1998, Stat. Med. 17:857-872 (method 3).

    Args:
        successes: 0 to trials.
        trials: at least 1.
        confidence: nominal coverage, 0 to 1 exclusive.

    Raises:
        ValueError: an argument is outside its range.
    """
    z = two_sided_z(confidence)
    _check_counts(successes, trials)
    p = successes / trials
    shrink = 1 + z * z / trials
    centre = (p + z * z / (2 * trials)) / shrink
    half = z / shrink * sqrt(p * (1 - p) / trials + z * z / (4 * trials * trials))
    # At the ends the bound is 0 or 1 exactly; rounding would put it a hair to either side.
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    return Interval(p, low, 1.0 if successes == trials else min(1.0, centre + half), confidence)


def newcombe(successes_a: int, trials_a: int, successes_b: int, trials_b: int, confidence: float = 0.95) -> Interval:
    """Return the hybrid score interval of a difference of two independent proportions, p_a - p_b.

    With the Wilson bounds l and u of each and d the difference:
    from d - √((p_a - l_a)² + (u_b - p_b)²) to d + √((u_a - p_a)² + (p_b - l_b)²).

    Source: Newcombe 1998, Stat. Med. 17:873-890, method 10 (no continuity correction).

    Args:
        successes_a: 0 to trials_a.
        trials_a: at least 1.
        successes_b: 0 to trials_b.
        trials_b: at least 1.
        confidence: nominal coverage, 0 to 1 exclusive.

    Returns:
        The difference and its bounds, each within -1 to 1.

    Raises:
        ValueError: an argument is outside its range.
    """
    return _square_and_add(wilson(successes_a, trials_a, confidence), wilson(successes_b, trials_b, confidence), 0.0)


def newcombe_stratified(strata: Sequence[tuple[int, int, int, int]], confidence: float = 0.95) -> Interval:
    """Return the mean difference p_a - p_b over strata, with the weights of Mantel and Haenszel.

    With d, l and u of each stratum's :func:`newcombe` at the whole confidence and c its share of the weights
    n_a n_b / (n_a + n_b): from Σcd - √Σc²(d - l)² to Σcd + √Σc²(u - d)².

    Source: Zou & Donner 2008, Stat. Med. 27:1693-1702, on recovering variances from limits.

    Args:
        strata: successes and trials of a, then of b; at least one stratum, trials at least 1.
        confidence: nominal coverage, 0 to 1 exclusive.

    Raises:
        ValueError: there is no stratum, or an argument is outside its range.
    """
    if not strata:
        raise ValueError("a mean over strata needs one")
    weights = [n_a * n_b / (n_a + n_b) for _, n_a, _, n_b in strata]
    parts = [(w / sum(weights), newcombe(*one, confidence)) for w, one in zip(weights, strata, strict=True)]
    mean = sum(share * part.estimate for share, part in parts)
    down = sqrt(sum((share * (part.estimate - part.low)) ** 2 for share, part in parts))
    up = sqrt(sum((share * (part.high - part.estimate)) ** 2 for share, part in parts))
    return Interval(mean, max(-1.0, mean - down), min(1.0, mean + up), confidence)


class PairedCounts(Struct):
    """The four cells of a paired yes/no comparison of A and B on the same items; none negative.

    Raises:
        ValueError: a count is negative.
    """

    both: int
    only_a: int
    only_b: int
    neither: int

    def __post_init__(self) -> None:
        if min(self.both, self.only_a, self.only_b, self.neither) < 0:
            raise ValueError(f"counts cannot be negative: {self}")

    @property
    def total(self) -> int:
        """How many items were compared."""
        return self.both + self.only_a + self.only_b + self.neither

    @classmethod
    def of(cls, outcomes: Iterable[tuple[bool, bool]]) -> PairedCounts:
        """Count (A's outcome, B's outcome), one tuple an item."""
        pairs = [(bool(a), bool(b)) for a, b in outcomes]
        return cls(*map(pairs.count, ((True, True), (True, False), (False, True), (False, False))))


def newcombe_paired(counts: PairedCounts, confidence: float = 0.95) -> Interval:
    """Return the hybrid score interval of a difference of paired proportions, p_a - p_b = (only_a - only_b) / n.

    As :func:`newcombe`, with -2φ(p_a - l_a)(u_b - p_b) under the first root and -2φ(u_a - p_a)(p_b - l_b) under
    the second. φ is the correlation of the two outcomes; where it is positive, its numerator
    both·neither - only_a·only_b is first reduced by n/2, not below 0. φ is 0 where a margin is empty.

    Source: Newcombe 1998, Stat. Med. 17:2635-2650, method 10.

    Args:
        counts: at least one item.
        confidence: nominal coverage, 0 to 1 exclusive.

    Returns:
        The difference and its bounds, each within -1 to 1.

    Raises:
        ValueError: there are no items, or confidence is outside its range.
    """
    a, b = (wilson(counts.both + only, counts.total, confidence) for only in (counts.only_a, counts.only_b))
    return _square_and_add(a, b, _corrected_phi(counts))


def mcnemar(only_a: int, only_b: int, *, mid_p: bool = False) -> float:
    """Return the two-sided exact p-value that A and B differ, from the items on which they disagree.

    With n = only_a + only_b, k the smaller of the two and f the Binomial(n, 1/2) mass at k:
    min(1, 2 · P(X ≤ k)). The mid-p version takes half of the mass of what is exactly as extreme: f less, or f/2
    less where the two counts are equal; it is less conservative and keeps its level in practice.

    Source: McNemar 1947, Psychometrika 12:153-157; mid-p: Fagerland, Lydersen & Laake 2013,
    BMC Med. Res. Methodol. 13:91.

    Args:
        only_a: items where only A says yes, at least 0.
        only_b: items where only B says yes, at least 0.
        mid_p: the mid-p version.

    Returns:
        A p-value from 0 to 1; 1 where they never disagree.

    Raises:
        ValueError: a count is negative.
    """
    if min(only_a, only_b) < 0:
        raise ValueError(f"counts cannot be negative: {only_a}, {only_b}")
    n, k = only_a + only_b, min(only_a, only_b)
    if n == 0:
        return 1.0
    mass, tail = 1, 1
    for i in range(1, k + 1):
        mass = mass * (n - i + 1) // i
        tail += mass
    # Integers in units of 2^-(n+1), so that half a mass is whole and the one rounding is the last division.
    doubled = min(4 * tail, 2 << n)
    if mid_p:
        doubled -= mass if only_a == only_b else 2 * mass
    return doubled / (2 << n)


def _corrected_phi(counts: PairedCounts) -> float:
    a_yes, a_no = counts.both + counts.only_a, counts.only_b + counts.neither
    b_yes, b_no = counts.both + counts.only_b, counts.only_a + counts.neither
    margins = a_yes * a_no * b_yes * b_no
    if margins == 0:
        return 0.0
    numerator = float(counts.both * counts.neither - counts.only_a * counts.only_b)
    if numerator > 0:
        numerator = max(0.0, numerator - counts.total / 2)
    return numerator / sqrt(margins)


def _square_and_add(a: Interval, b: Interval, correlation: float) -> Interval:
    difference = a.estimate - b.estimate
    down = _distance(a.estimate - a.low, b.high - b.estimate, correlation)
    up = _distance(a.high - a.estimate, b.estimate - b.low, correlation)
    return Interval(difference, max(-1.0, difference - down), min(1.0, difference + up), a.confidence)


def _distance(x: float, y: float, correlation: float) -> float:
    return sqrt(max(0.0, x * x - 2 * correlation * x * y + y * y))


def _check_counts(successes: int, trials: int) -> None:
    if trials < 1:
        raise ValueError(f"a proportion needs at least one trial, not {trials}")
    if not 0 <= successes <= trials:
        raise ValueError(f"successes must lie between 0 and {trials}, not {successes}")
