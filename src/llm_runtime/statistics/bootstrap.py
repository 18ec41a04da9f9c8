"""Bootstrap intervals of a statistic over units that are resampled whole, so that what is paired stays paired."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from math import isfinite
from typing import Literal, TypeVar

from llm_runtime.statistics.interval import STANDARD_NORMAL, Interval, check_confidence

Unit = TypeVar("Unit")


def paired_bootstrap(
    units: Sequence[Unit],
    statistic: Callable[[Sequence[Unit]], float],
    *,
    rng: random.Random,
    resamples: int = 2000,
    confidence: float = 0.95,
    method: Literal["percentile", "bca"] = "percentile",
) -> Interval:
    """Return the interval of ``statistic(units)`` from samples of whole units, drawn with replacement.

    A unit holds everything that was measured on one item (both methods' scores, its label); a cluster of items
    that belong together is one unit. So the dependence inside a unit survives the resampling.

    Source: Efron & Tibshirani 1993, An Introduction to the Bootstrap, chapters 13 (percentile) and 14 (BCa).

    Args:
        units: at least 2.
        statistic: a finite number for any sample of as many units; it is called ``resamples + 1`` times, and
            ``len(units)`` times more for BCa, on samples one unit smaller.
        rng: only its ``random()`` is used, whose sequence for a seed Python guarantees across versions.
        resamples: at least 100; a few thousand for a bound to two digits.
        confidence: nominal coverage, 0 to 1 exclusive.
        method: ``bca`` corrects for bias and skew.

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
    if method == "percentile":
        return percentile_interval(estimate, replicates, confidence)
    left_out = [_finite(statistic([*units[:i], *units[i + 1 :]])) for i in range(len(units))]
    return bca_interval(estimate, replicates, left_out, confidence)


def percentile_interval(estimate: float, replicates: Sequence[float], confidence: float = 0.95) -> Interval:
    """Return the central ``confidence`` share of the bootstrap replicates.

    Quantiles are interpolated linearly between order statistics (Hyndman & Fan's type 7).

    Raises:
        ValueError: there are no replicates, or confidence is outside its range.
    """
    check_confidence(confidence)
    ordered = _ordered(replicates)
    tail = (1 - confidence) / 2
    return Interval(estimate, _quantile(ordered, tail), _quantile(ordered, 1 - tail), confidence)


def bca_interval(
    estimate: float, replicates: Sequence[float], left_out: Sequence[float], confidence: float = 0.95
) -> Interval:
    """Return the bias-corrected and accelerated interval.

    The quantile levels are Φ(z₀ + (z₀ + z) / (1 - a(z₀ + z))) for z = ±Φ⁻¹ of the tail, where z₀ = Φ⁻¹ of the share
    of replicates below the estimate (ties count half), and a = Σd³ / 6(Σd²)^1.5 with d the jackknife's mean minus
    each of its values; a is 0 where the jackknife does not vary.

    Source: Efron 1987, JASA 82:171-185.

    Args:
        estimate: the statistic of the whole sample.
        replicates: the statistic of each resample, at least 1.
        left_out: the statistic with each unit left out in turn (the jackknife), at least 2.
        confidence: nominal coverage, 0 to 1 exclusive.

    Raises:
        ValueError: every replicate lies on one side of the estimate, so no bias can be estimated, or an argument
            is outside its range.
    """
    check_confidence(confidence)
    if len(left_out) < 2:
        raise ValueError(f"the jackknife needs at least two values, not {len(left_out)}")
    ordered = _ordered(replicates)
    below = sum(value < estimate for value in ordered)
    ties = sum(value == estimate for value in ordered)
    share = (below + ties / 2) / len(ordered)
    if not 0 < share < 1:
        raise ValueError("every bootstrap replicate lies on one side of the estimate; use the percentile interval")
    bias = STANDARD_NORMAL.inv_cdf(share)
    acceleration = _acceleration(left_out)

    def level(tail: float) -> float:
        shifted = bias + STANDARD_NORMAL.inv_cdf(tail)
        return STANDARD_NORMAL.cdf(bias + shifted / (1 - acceleration * shifted))

    tail = (1 - confidence) / 2
    bounds = sorted((_quantile(ordered, level(tail)), _quantile(ordered, level(1 - tail))))
    return Interval(estimate, bounds[0], bounds[1], confidence)


def _resample(units: Sequence[Unit], rng: random.Random) -> list[Unit]:
    count = len(units)
    return [units[int(rng.random() * count)] for _ in range(count)]


def _acceleration(left_out: Sequence[float]) -> float:
    mean = sum(left_out) / len(left_out)
    deviations = [mean - value for value in left_out]
    squares = sum(d * d for d in deviations)
    return sum(d**3 for d in deviations) / (6 * squares**1.5) if squares > 0 else 0.0


def _quantile(ordered: Sequence[float], level: float) -> float:
    place = level * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def _ordered(replicates: Sequence[float]) -> list[float]:
    if not replicates:
        raise ValueError("there are no bootstrap replicates")
    return sorted(replicates)


def _finite(value: float) -> float:
    if not isfinite(value):
        raise ValueError(f"the statistic is {value} on a sample; choose one that every resample defines")
    return value
