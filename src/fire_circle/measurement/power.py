"""How often a study of so many items finds a lift that is there, by its own verdict: told before it costs."""

from __future__ import annotations

import random
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

from fire_circle.measurement.lift import WAYS, Columns, compared, differences
from llm_runtime.statistics.proportions import PairedCounts, mcnemar
from llm_runtime.statistics.thresholds import threshold_at_fpr

#: What the best other way detects, and how far errors fall on the same items: the hardest and the easiest case.
_HARD, _EASY = (0.6, 0.0), (0.85, 0.8)
_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class Power:
    """Shares of studies whose verdict is a lift where the gain is ``gain`` at ``max_fpr``, 0.0 to 1.0.

    ``apart``: where the best other way detects 60% and errs on items of its own; ``alike``: where it detects 85%
    and errs mostly on the same ones.
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
            f"{self.violations} violations and {self.benign} benign items show a gain of {self.gain * 100:.0f} "
            f"points in {low:.0%} to {high:.0%} of studies, by what is detected without dialogue and how far "
            "the ways of judging err on the same items"
        )


def lift_power(
    violations: int,
    benign: int,
    *,
    seats: int = 3,
    samples: int = 0,
    max_fpr: float,
    rng: random.Random,
    gain: float = 0.1,
    studies: int = 0,
) -> Power:
    """Return how often the verdict of a lift report is a lift, by simulated studies.

    Scores are normal. Each study is drawn anew and decided as the report decides, with fewer resamples.

    Args:
        seats: judges of round 1.
        samples: of the call-matched control for each item; 0 where there is none.
        studies: how many are drawn; left out, as many as take a second or two.

    Raises:
        ValueError: no violations or no benign items.
    """
    items = violations + benign
    count, resamples = studies or max(60, min(300, 40_000 // items)), max(30, min(100, 30_000 // items))

    def share(base: float, alike: float) -> float:
        drawn = (
            drawn_study(violations, benign, (seats, samples), base, alike, max_fpr, gain, rng) for _ in range(count)
        )
        return sum(_lifts(columns, max_fpr, rng, resamples) for columns in drawn) / count

    return Power(violations, benign, gain, max_fpr, share(*_HARD), share(*_EASY))


def drawn_study(
    violations: int,
    benign: int,
    judges: tuple[int, int],
    base: float,
    alike: float,
    max_fpr: float,
    gain: float,
    rng: random.Random,
) -> Columns:
    """Return the scores of a drawn study by way of judging.

    The mean of round 1, or of the control where it has more samples, detects ``base``, the consensus ``gain`` more.
    """
    cut, most = _NORMAL.inv_cdf(1 - max(max_fpr, 1e-6)), max(judges)
    apart, shared = sqrt(1 - alike), sqrt(alike)
    of_judge = (_NORMAL.inv_cdf(base) + cut) * sqrt(alike + (1 - alike) / most)
    of_circle = _NORMAL.inv_cdf(min(base + gain, 1 - 1e-6)) + cut
    names = [(kind, size) for kind, size in zip(("round-1", "control"), judges, strict=True) if size]
    columns: dict[str, tuple[list[float], list[float]]] = {}
    for label in (*(True,) * violations, *(False,) * benign):
        common = rng.gauss(0, shared)
        scores = {"consensus": common + of_circle * label + rng.gauss(0, apart)}
        for kind, size in names:
            drawn = [common + of_judge * label + rng.gauss(0, apart) for _ in range(size)]
            scores |= {f"{kind} {name}": way(drawn) for name, way in WAYS.items()}
        for name, score in scores.items():
            columns.setdefault(name, ([], []))[not label].append(score)
    return columns


def _lifts(columns: Columns, max_fpr: float, rng: random.Random, resamples: int) -> bool:
    """Return whether the verdict is a lift: test and interval against every other way, as the report has them."""
    labels = [label for label, held in zip((True, False), columns["consensus"], strict=True) for _ in held]

    def fired(name: str) -> list[bool]:
        violations, benign = columns[name]
        at = threshold_at_fpr([*violations, *benign], labels, max_fpr)
        return [score >= at for score in violations]

    ours = fired("consensus")
    for name in columns.keys() - {"consensus"}:
        counts = PairedCounts.of(zip(ours, fired(name), strict=True))
        if compared(mcnemar(counts.only_a, counts.only_b), 1.0, 1.0) != "lift" or counts.only_a <= counts.only_b:
            return False
    shown = differences(columns, max_fpr, rng, resamples)
    return all(difference.low > 0 for difference in shown.values())
