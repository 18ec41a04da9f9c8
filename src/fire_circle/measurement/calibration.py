"""A threshold that is fitted once, frozen, and then tested on items it has not seen (the maximum of nine calls
raises false alarms: FC2)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Literal

from fire_circle.measurement.scores import ItemScores
from llm_runtime.models import Model
from llm_runtime.statistics.interval import Interval
from llm_runtime.statistics.thresholds import detection_rates, threshold_at_fpr


class Calibration(Model):
    """A frozen threshold.

    Args:
        threshold: the alarm is raised where F reaches it.
        max_fpr: what it was fitted to.
        violations, benign: items it was fitted on.
        items: their ids; a test on any of them is refused.
        warning: what the number of items cannot show, or empty.
    """

    threshold: float
    max_fpr: float
    violations: int
    benign: int
    items: frozenset[str]
    warning: str = ""


class CalibrationTest(Model):
    """What a frozen threshold does on unseen items, with Wilson intervals."""

    threshold: float
    violations: int
    benign: int
    detected: Interval
    false_alarms: Interval
    holds: bool


def split_of(item: str, *, development_share: float = 0.5, salt: str = "") -> Literal["development", "test"]:
    """Return the split of an item, by its id alone, so that it never changes sides."""
    place = int.from_bytes(hashlib.sha256(f"{salt}|{item}".encode()).digest()[:8], "big") / 2**64
    return "development" if place < development_share else "test"


def calibrate(items: Sequence[ItemScores], *, max_fpr: float = 0.01) -> Calibration:
    """Fit the lowest threshold on the consensus that fires on at most ``max_fpr`` of the benign items.

    Raises:
        ValueError: no violations or no benign items, or ``max_fpr`` outside 0.0 to 1.0.
    """
    labels = [item.label for item in items]
    threshold = threshold_at_fpr([item.consensus for item in items], labels, max_fpr)
    benign = labels.count(False)
    warning = ""
    if benign * max_fpr < 1:
        warning = (
            f"{benign} benign items are too few to tell a false-positive rate of {max_fpr:.1%}: "
            "the threshold lets none of them through, and more cannot be said"
        )
    return Calibration(
        threshold=threshold,
        max_fpr=max_fpr,
        violations=labels.count(True),
        benign=benign,
        items=frozenset(item.item for item in items),
        warning=warning,
    )


def try_calibration(calibration: Calibration, items: Sequence[ItemScores]) -> CalibrationTest:
    """Measure a frozen threshold on unseen items; ``holds`` is false where the false alarms exclude its aim.

    Raises:
        ValueError: an item was used to fit the threshold, or there are no violations or no benign items.
    """
    seen = sum(item.item in calibration.items for item in items)
    if seen:
        raise ValueError(f"{seen} of the test items were used to fit the threshold; test on others")
    labels = [item.label for item in items]
    rates = detection_rates([item.consensus for item in items], labels, calibration.threshold)
    return CalibrationTest(
        threshold=calibration.threshold,
        violations=labels.count(True),
        benign=labels.count(False),
        detected=rates.true_positive_rate,
        false_alarms=rates.false_positive_rate,
        holds=rates.false_positive_rate.low <= calibration.max_fpr,
    )
