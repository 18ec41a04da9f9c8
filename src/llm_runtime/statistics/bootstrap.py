"""Bootstrap intervals of a statistic over units that are resampled whole, so that what is paired stays paired."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from math import isfinite
from typing import TypeVar

from llm_runtime.statistics.interval import Interval, check_confidence

Unit = TypeVar("Unit")


def paired_bootstrap(
    units: Sequence[Unit], statistic: Callable[[Sequence[Unit]], float], *, rng: random.Random,
    resamples: int = 2000, confidence: float = 0.95,
) -> Interval:  # fmt: skip
    """Return the interval of ``statistic(units)`` from samples of whole units, drawn with replacement.

    A unit holds everything that was measured on one item (both methods' scores, its label); a cluster of items
    that belong together is one unit. So the dependence inside a unit survives the resampling.

    Source: Efron & Tibshirani 1993, An Introduction to the Bootstrap, chapter 13 (percentile).

    Args:
        units: at least 2.
        statistic: a finite number for any sample of as many units; it is called ``resamples + 1`` times.
        rng: only its ``random()`` is used, whose sequence for a seed Python guarantees across versions.
        resamples: at least 100; a few thousand for a bound to two digits.
        confidence: nominal coverage, 0 to 1 exclusive.

    Raises:
        ValueError: an argument is outside its range, or the statistic is not finite on some sample.
    """
    if len(units) < 2:
        raise ValueError(f"a bootstrap needs at least two units, not {len(units)}")
    if resamples < 100:
        raise ValueError(f"a bootstrap needs at least 100 resamples, not {resamples}")
    check_confidence(confidence)
    estimate = _finite(statistic(units))
    replicates = [_finite(statistic(_resample(units, rng))) for _ in range(resamples)]
    return percentile_interval(estimate, replicates, confidence)


def percentile_interval(estimate: float, replicates: Sequence[float], confidence: float = 0.95) -> Interval:
    """Return the central ``confidence`` share of the bootstrap replicates.

    Quantiles are interpolated linearly between order statistics (Hyndman & Fan's type 7).

    Raises:
        ValueError: there are no replicates, or confidence is outside its range.
    """
    check_confidence(confidence)
    if not replicates:
        raise ValueError("there are no bootstrap replicates")
    ordered = sorted(replicates)
    tail = (1 - confidence) / 2
    return Interval(estimate, _quantile(ordered, tail), _quantile(ordered, 1 - tail), confidence)


def _resample(units: Sequence[Unit], rng: random.Random) -> list[Unit]:
    count = len(units)
    return [units[int(rng.random() * count)] for _ in range(count)]


def _quantile(ordered: Sequence[float], level: float) -> float:
    place = level * (len(ordered) - 1)
    below = int(place)
    return ordered[below] + (place - below) * (ordered[min(below + 1, len(ordered) - 1)] - ordered[below])


def _finite(value: float) -> float:
    if not isfinite(value):
        raise ValueError(f"the statistic is {value} on a sample; choose one that every resample defines")
    return value
