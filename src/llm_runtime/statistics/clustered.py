"""The mean of values that come in clusters, such as several answers to each of many tasks."""

from __future__ import annotations

from collections.abc import Sequence
from math import expm1, log1p, sqrt
from statistics import fmean, variance

from llm_runtime.statistics.interval import STANDARD_NORMAL, Interval, two_sided_z


def clustered(clusters: Sequence[Sequence[float]], least: float = -1.0) -> tuple[Interval, float]:
    """Return the mean of clusters of equal size with its 95% interval, and the two-sided p-value of "it is 0".

    Values of a cluster may depend on each other: the standard error is that of the clusters' means, or, where all
    are alike, what one of them that is not would make it. Quantiles are those of Student's t, by Wallace's
    approximation: 4% too far at three clusters, less at more, and 39% at two. One cluster shows nothing.

    Source: Miller 2024, Adding Error Bars to Evals, arXiv:2411.00640: clustered errors, paired differences;
    Wallace 1959, Ann. Math. Statist. 30:1121-1130.

    Args:
        clusters: at least one, none of them empty, of values from ``least`` to 1.
        least: the least value that there can be.
    """
    means = [fmean(one) for one in clusters]
    centre, free = fmean(means), len(means) - 1
    if not free:
        return Interval(centre, least, 1.0, 0.95), 1.0
    error, shrink = sqrt((variance(means) or 1 / len(means)) / len(means)), (8 * free + 1) / (8 * free + 3)
    half = error * sqrt(free * expm1((two_sided_z(0.95) / shrink) ** 2 / free))
    p = 2 * STANDARD_NORMAL.cdf(-shrink * sqrt(free * log1p((centre / error) ** 2 / free)))
    return Interval(centre, max(centre - half, least), min(centre + half, 1.0), 0.95), p
