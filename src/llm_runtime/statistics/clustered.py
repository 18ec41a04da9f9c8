"""The mean of values that come in clusters, such as several answers to each of many tasks."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cache
from math import atan, pi, sqrt
from statistics import fmean, variance

from llm_runtime.statistics.interval import Interval


def clustered(clusters: Sequence[Sequence[float]], least: float = -1.0) -> tuple[Interval, float]:
    """Return the mean of clusters of equal size with its 95% interval, and the two-sided p-value of "it is 0".

    Values of a cluster may depend on each other: the standard error is that of the clusters' means, or, where all
    are alike, what one of them that is not would make it. Quantiles are those of Student's t with one degree of
    freedom less than there are clusters. One cluster shows nothing.

    Source: Miller 2024, Adding Error Bars to Evals, arXiv:2411.00640: clustered errors, paired differences.

    Args:
        clusters: at least one, none of them empty, of values from ``least`` to 1.
        least: the least value that there can be.
    """
    means = [fmean(one) for one in clusters]
    centre, free = fmean(means), len(means) - 1
    if not free:
        return Interval(centre, least, 1.0, 0.95), 1.0
    error = sqrt((variance(means) or 1 / len(means)) / len(means))
    half = error * _quantile(free)
    return Interval(centre, max(centre - half, least), min(centre + half, 1.0), 0.95), _beyond(centre / error, free)


@cache
def _quantile(free: int) -> float:
    """Return what Student's t exceeds in either direction in one case of 20; 12.7 at most."""
    return bisect_left(range(13 * 10**9), -0.05, key=lambda billionths: -_beyond(billionths / 1e9, free)) / 1e9


def _beyond(t: float, free: int) -> float:
    """Return how likely Student's t is as far from 0 as ``t``, or farther.

    Source: Abramowitz & Stegun 1964, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
    """
    odd, sine, square = free % 2, abs(t) / sqrt(free + t * t), free / (free + t * t)
    term = total = (sqrt(square) if odd else 1.0) * (free > 1)
    for step in range(2 + odd, free, 2):
        term *= square * (step - 1) / step
        total += term
    within = sine * total
    return max(0.0, 1 - (2 / pi * (atan(abs(t) / sqrt(free)) + within) if odd else within))
