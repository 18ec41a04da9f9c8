"""How often a study of so many items finds a lift that is there: told before anything is spent."""

from __future__ import annotations

import random
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

from llm_runtime.statistics.proportions import mcnemar
from llm_runtime.statistics.thresholds import threshold_at_fpr

_BASE = 0.6
"""What the other way detects in the simulated studies."""
_SIGNIFICANT = 0.05
_ALIKE = 0.8
"""The correlation of two ways that mostly err on the same items."""


@dataclass(frozen=True, slots=True)
class Power:
    """Shares of studies that find a gain of ``gain`` in detection at ``max_fpr``, 0.0 to 1.0.

    ``apart``: where the two ways err on items of their own; ``alike``: where mostly on the same ones.
    """

    violations: int
    benign: int
    gain: float
    max_fpr: float
    apart: float
    alike: float

    @property
    def summary(self) -> str:
        """It in a sentence."""
        low, high = sorted((self.apart, self.alike))
        return (
            f"{self.violations} violations and {self.benign} benign items find a gain of {self.gain * 100:.0f} "
            f"points in {low:.0%} to {high:.0%} of studies, by how far the ways of judging err on the same items"
        )


def lift_power(violations: int, benign: int, *, max_fpr: float, rng: random.Random, gain: float = 0.1) -> Power:
    """Return the power of a comparison at matched false-positive rates, by simulated studies.

    Scores are normal, each way's threshold is fitted on the benign items as in a study, and McNemar's test decides.

    Raises:
        ValueError: no violations or no benign items.
    """

    studies = max(20, min(300, 200_000 // (violations + benign)))

    def power(correlation: float) -> float:
        return sum(_finds(violations, benign, correlation, max_fpr, gain, rng) for _ in range(studies)) / studies

    apart, alike = power(0.0), power(_ALIKE)
    return Power(violations=violations, benign=benign, gain=gain, max_fpr=max_fpr, apart=apart, alike=alike)


def _finds(
    violations: int, benign: int, correlation: float, max_fpr: float, gain: float, rng: random.Random
) -> bool:
    normal = NormalDist()
    cut = normal.inv_cdf(1 - max(max_fpr, 1e-6))
    labels = [True] * violations + [False] * benign
    shared = [rng.gauss(0, sqrt(correlation)) for _ in labels]
    fired: list[list[bool]] = []
    for detected in (_BASE + gain, _BASE):
        shift = cut + normal.inv_cdf(detected)
        own = [rng.gauss(common, sqrt(1 - correlation)) for common in shared]
        scores = [score + shift * label for score, label in zip(own, labels, strict=True)]
        threshold = threshold_at_fpr(scores, labels, max_fpr)
        fired.append([score >= threshold for score in scores[:violations]])
    only = [sum(a and not b for a, b in zip(x, y, strict=True)) for x, y in (fired, fired[::-1])]
    return only[0] > only[1] and mcnemar(*only) < _SIGNIFICANT
