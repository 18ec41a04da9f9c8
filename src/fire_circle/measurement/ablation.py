"""The same circle without its chair, and whether the chair does anything over a suite (FC20)."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

from fire_circle.config import FireCircleConfig
from fire_circle.empty_chair import SUITE_FLOOR
from fire_circle.results import FireCircleResult
from llm_runtime.models import Model
from llm_runtime.statistics.bootstrap import paired_bootstrap
from llm_runtime.statistics.interval import Interval


class AblationReport(Model):
    """With a chair against without, on the same items.

    Args:
        items: how many.
        shift: mean of F with a chair less F without, paired bootstrap interval.
        patterns_with, patterns_without: mean number of reported patterns.
        only_with_chair: pattern types that some item shows only with a chair, by how many items.
        influence: mean empty-chair influence over the items, 0.0 to 1.0.
        effective: ``influence`` reaches 0.05.
    """

    items: int
    shift: Interval
    patterns_with: float
    patterns_without: float
    only_with_chair: dict[str, int]
    influence: float
    effective: bool


def without_chair(config: FireCircleConfig) -> FireCircleConfig:
    """Return the same circle with nobody in the chair: each seat is a judge in every round."""
    return config.model_copy(update={"empty_chair": False})


def suite_influence(results: Sequence[FireCircleResult]) -> tuple[float, bool]:
    """Return the mean influence of the chair over a suite, and whether it reaches 0.05.

    Raises:
        ValueError: the suite is empty.
    """
    if not results:
        raise ValueError("a suite without results has no influence to measure")
    influence = sum(result.empty_chair_influence for result in results) / len(results)
    return influence, influence >= SUITE_FLOOR


def ablation_report(
    pairs: Sequence[tuple[FireCircleResult, FireCircleResult]], *, rng: random.Random, resamples: int = 2000
) -> AblationReport:
    """Compare ``(with chair, without)`` results of each item.

    Raises:
        ValueError: fewer than two items.
    """
    shifts = [with_.consensus.falsehood - without.consensus.falsehood for with_, without in pairs]
    interval = paired_bootstrap(shifts, lambda sample: sum(sample) / len(sample), rng=rng, resamples=resamples)
    gained = Counter[str]()
    for with_, without in pairs:
        gained.update({p.pattern_type for p in with_.patterns} - {p.pattern_type for p in without.patterns})
    influence, effective = suite_influence([with_ for with_, _ in pairs])
    return AblationReport(
        items=len(pairs),
        shift=interval,
        patterns_with=sum(len(with_.patterns) for with_, _ in pairs) / len(pairs),
        patterns_without=sum(len(without.patterns) for _, without in pairs) / len(pairs),
        only_with_chair=dict(sorted(gained.items())),
        influence=influence,
        effective=effective,
    )
