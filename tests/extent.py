"""How much a run of the tests proves. Here alone the environment is asked; the profiles differ in counts only."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")

_WANTED = os.environ.get("ASSAY_TESTS", "quick")
if _WANTED not in ("quick", "full", "fuzz"):
    raise ValueError(f"ASSAY_TESTS is quick, full or fuzz, not {_WANTED!r}")

FULL = _WANTED != "quick"
#: Draw other examples at each run. Elsewhere a test tries the same ones each time.
FUZZ = _WANTED == "fuzz"

#: How many examples a property is tried with, where the test does not say otherwise.
EXAMPLES = {"quick": 25, "full": 200, "fuzz": 1000}[_WANTED]
#: Seconds that a test waits for what has to come. Only what hangs takes as long, however busy the machine is.
PATIENCE = 900


def examples(full: int) -> int:
    """Return how many examples to try where 200 are too many or too few."""
    return full * 5 if FUZZ else full if FULL else min(full, EXAMPLES)


def kills(points: Sequence[Item]) -> Sequence[Item]:
    """Return the places to kill at: all, or five from first to last."""
    return points if FULL else spread(points, 5)


def payloads(texts: Sequence[Item]) -> Sequence[Item]:
    """Return the hostile texts to try: all, or ten from first to last."""
    return texts if FULL else spread(texts, 10)


def spread(items: Sequence[Item], count: int) -> Sequence[Item]:
    """Return ``count`` items at equal distances, with the first and the last."""
    if len(items) <= count:
        return items
    return [items[round(number * (len(items) - 1) / (count - 1))] for number in range(count)]
