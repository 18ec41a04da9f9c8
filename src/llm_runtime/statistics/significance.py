"""Many tests at once: the chance of any false claim."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values so that the chance of any false claim among those at or below alpha is at most alpha.

    For the i-th smallest of m: the most of p_j · (m − j + 1) over j ≤ i, at most 1. Valid whatever the dependence.

    Source: Holm 1979, Scand. J. Statist. 6:65-70.

    Args:
        p_values: each from 0 to 1; none at all is fine.

    Returns:
        One adjusted p-value for each, in the order given.

    Raises:
        ValueError: a value is not within 0 to 1.
    """
    for p in p_values:
        if not 0 <= p <= 1:
            raise ValueError(f"a p-value must lie between 0 and 1, not {p!r}")
    adjusted, most = [1.0] * len(p_values), 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        most = min(max(most, p_values[index] * (len(p_values) - rank)), 1.0)
        adjusted[index] = most
    return adjusted
