"""An estimate with its interval, and the normal quantile that makes one."""

from __future__ import annotations

from statistics import NormalDist

from llm_runtime.structs import Struct

STANDARD_NORMAL = NormalDist()


class Interval(Struct):
    """A point estimate between two bounds.

    Attributes:
        estimate: the point estimate, in the unit of what is estimated.
        low: the lower bound, same unit.
        high: the upper bound, same unit.
        confidence: nominal coverage, between 0 and 1 exclusive; 0.95 is a 95% interval.
    """

    estimate: float
    low: float
    high: float
    confidence: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __str__(self) -> str:
        return f"{self.estimate:.3f} ({self.confidence:.0%} interval {self.low:.3f} to {self.high:.3f})"


def two_sided_z(confidence: float) -> float:
    """Return the standard normal quantile that leaves (1 - confidence) / 2 in each tail.

    Raises:
        ValueError: confidence is not strictly between 0 and 1.
    """
    check_confidence(confidence)
    return STANDARD_NORMAL.inv_cdf((1 + confidence) / 2)


def check_confidence(confidence: float) -> None:
    """Refuse a coverage that is none.

    Raises:
        ValueError: confidence is not strictly between 0 and 1.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie strictly between 0 and 1, not {confidence!r}")
