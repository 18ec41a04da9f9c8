"""The mean of values that come in clusters, such as several answers to each of many tasks."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import fmean, variance

from llm_runtime.statistics.interval import STANDARD_NORMAL, Interval, two_sided_z


def clustered(clusters: Sequence[Sequence[float]], least: float = -1.0) -> tuple[Interval, float]:
    """Return the mean of clusters of equal size with its 95% interval, and the two-sided p-value of "it is 0".

    Values of a cluster may depend on each other: the standard error is that of the clusters' means, or, where all
    are alike, what one of them that is not would make it. Quantiles are those of Student's t, by the first term of
    Cornish and Fisher's expansion. One cluster shows nothing.

    Source: Miller 2024, Adding Error Bars to Evals, arXiv:2411.00640, sections 2.2 and 4.2.

    Args:
        clusters: at least one, none of them empty, of values from ``least`` to 1.
        least: the least value that there can be.
    """
    means = [fmean(one) for one in clusters]
    centre, free = fmean(means), len(means) - 1
    if not free:
        return Interval(centre, least, 1.0, 0.95), 1.0
    error, z = sqrt((variance(means) or 1 / len(means)) / len(means)), two_sided_z(0.95)
    half = error * (z + (z**3 + z) / (4 * free))
    # The same expansion, read the other way.
    t = abs(centre) / error
    p = 2 * (1 - STANDARD_NORMAL.cdf(t * (1 - 1 / (4 * free)) / sqrt(1 + t * t / (2 * free))))
    return Interval(centre, max(centre - half, least), min(centre + half, 1.0), 0.95), p
