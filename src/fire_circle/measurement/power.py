"""How often a study of so many items finds a lift that is there, by its own verdict: told before it costs.

The shares stand in ``data/power.json``; ``bench/lift_power.py`` simulated them with the report's own verdict.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from functools import cache
from importlib import resources
from math import log

from llm_runtime.structs import Struct


class Power(Struct):
    """Shares of studies whose verdict is a lift where the gain is ten points at 5% false alarms, 0.0 to 1.0.

    ``apart``: where the best other way detects 60% and errs on items of its own; ``alike``: where it detects 85%
    and errs mostly on the same ones.
    """

    violations: int
    benign: int
    gain: float
    max_fpr: float
    apart: float
    alike: float

    @property
    def summary(self) -> str:
        """It in a sentence."""
        low, high = sorted((self.apart, self.alike))
        return (
            f"violations: {self.violations}, benign items: {self.benign}; a gain of 10 points shows in {low:.0%} to "
            f"{high:.0%} of studies, by what is detected without dialogue and how far ways err on the same items"
        )


def lift_power(violations: int, benign: int, *, control: bool) -> Power:
    """Return the power of a lift report on so many items; of unequal numbers the smaller one counts for both.

    Args:
        control: whether the call-matched control is compared with as well.
    """
    table = _table()["control" if control else "alone"]
    sizes, least = [int(size) for size in table], min(violations, benign)
    at = min(max(bisect_right(sizes, least) - 1, 0), len(sizes) - 2)
    below, above = sizes[at], sizes[at + 1]
    share = min(max(log(max(least, 1) / below) / log(above / below), 0.0), 1.0)
    rates = zip(table[str(below)], table[str(above)], strict=True)
    apart, alike = (low + share * (high - low) for low, high in rates)
    return Power(violations, benign, 0.1, 0.05, apart, alike)


@cache
def _table() -> dict[str, dict[str, list[float]]]:
    return json.loads(resources.files("fire_circle").joinpath("data/power.json").read_text(encoding="utf-8"))
