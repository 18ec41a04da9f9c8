"""A share with its interval: what most measures are."""

from __future__ import annotations

from collections.abc import Iterable

from crux.results import CamelModel
from llm_runtime.statistics.proportions import wilson


class Share(CamelModel):
    """``hits`` of ``of``; ``value`` is None of nothing. ``low`` and ``high`` are Wilson's bounds at 95%."""

    hits: int
    of: int
    value: float | None = None
    low: float | None = None
    high: float | None = None


def share(outcomes: Iterable[bool]) -> Share:
    """Return the share of what is true."""
    values = list(outcomes)
    hits, count = sum(values), len(values)
    if not count:
        return Share(hits=0, of=0)
    interval = wilson(hits, count)
    return Share(hits=hits, of=count, value=hits / count, low=interval.low, high=interval.high)
