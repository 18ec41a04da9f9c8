"""Agreement among several raters, some of whom may be silent: Krippendorff's alpha."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from math import isfinite
from typing import TypeVar

Value = TypeVar("Value", bound=Hashable)


def interval_disagreement(values: Sequence[float]) -> float:
    """Return the sum of (x - y)² over all ordered pairs of values, in linear time: 2n Σ(x - mean)².

    Raises:
        ValueError: a value is NaN or infinite.
    """
    if not all(map(isfinite, values)):
        raise ValueError("a rating is not a finite number; leave a missing one as None")
    mean = sum(values) / len(values)
    return 2 * len(values) * sum((value - mean) ** 2 for value in values)


def nominal_disagreement(values: Sequence[Hashable]) -> float:
    """Count the ordered pairs of values that differ: n² less the squared count of each distinct value."""
    return float(len(values) ** 2 - sum(count**2 for count in Counter(values).values()))


def krippendorff_alpha(
    ratings: Sequence[Sequence[Value | None]], disagreement: Callable[[Sequence[Value]], float]
) -> float | None:
    """Return agreement beyond chance: 1 - D_o / D_e.

    Over the units with at least two values, m_u in unit u and n in all, with δ² summed over ordered pairs:
    D_o = (1/n) Σ_u δ²(unit u) / (m_u - 1) and D_e = δ²(all values pooled) / (n(n - 1)).

    Source: Krippendorff 2011, Computing Krippendorff's Alpha-Reliability; Content Analysis, chapter 12.

    Args:
        ratings: one row a rater, one column a unit, None where a rater is silent; all rows of one length.
        disagreement: :func:`interval_disagreement` for numbers whose distance counts, :func:`nominal_disagreement`
            for categories.

    Returns:
        1 is full agreement, 0 what chance gives, below 0 systematic disagreement. None where alpha is undefined:
        no unit has two values, or all paired values are equal, so that agreement cannot be told from a rater
        who always says the same.

    Raises:
        ValueError: rows of different lengths, or a value that the metric refuses.
    """
    if len({len(row) for row in ratings}) > 1:
        raise ValueError("every rater needs one entry a unit, None where there is no rating")
    columns = ([value for value in column if value is not None] for column in zip(*ratings, strict=True))
    units = [unit for unit in columns if len(unit) >= 2]
    pooled = [value for unit in units for value in unit]
    if len(set(pooled)) < 2:
        return None
    count = len(pooled)
    observed = sum(disagreement(unit) / (len(unit) - 1) for unit in units) / count
    return 1 - observed / (disagreement(pooled) / (count * (count - 1)))
