"""A detector's threshold at a bounded false-positive rate, and its rates there.

A case fires where its score is at least the threshold.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import groupby
from math import inf, isfinite, nextafter, sqrt

from llm_runtime.statistics.interval import Interval, two_sided_z
from llm_runtime.statistics.proportions import wilson
from llm_runtime.structs import Struct


class DetectionRates(Struct):
    """What a threshold does to one set of cases: the share of positives that fire, and of negatives that do."""

    threshold: float
    true_positive_rate: Interval
    false_positive_rate: Interval


def threshold_at_fpr(scores: Sequence[float], labels: Sequence[bool], max_fpr: float) -> float:
    """Return the lowest observed score that, as a threshold, fires on at most ``max_fpr`` of the negatives.

    Fit it on a development split and freeze it. Ties are met conservatively: negatives that share a score fire
    together or not at all, so the share is never above ``max_fpr``. Where even the highest score fires on too many
    negatives, the answer is the next number above it, at which nothing seen fires; it is always finite.

    Source: the Neyman-Pearson rule on the empirical ROC curve; Fawcett 2006, Pattern Recogn. Lett. 27:861-874.

    Args:
        scores: finite, larger is more suspicious.
        labels: True for a positive (a violation), one for each score; at least one of each kind.
        max_fpr: 0 to 1.

    Raises:
        ValueError: an argument is outside its range, or there are no positives or no negatives.
    """
    _check_rate(max_fpr)
    _check_cases(scores, labels)
    negatives = sum(not label for label in labels)
    best = nextafter(max(scores), inf)
    for threshold, _, fired in _curve(scores, labels):
        if fired / negatives > max_fpr:
            break
        best = threshold
    return best


def detection_rates(
    scores: Sequence[float], labels: Sequence[bool], threshold: float, confidence: float = 0.95
) -> DetectionRates:
    """Return the true- and false-positive rates at a frozen threshold, with Wilson intervals.

    Args:
        scores: finite, larger is more suspicious.
        labels: True for a positive, one for each score; at least one of each kind.
        threshold: from :func:`threshold_at_fpr` on other data, or given.
        confidence: nominal coverage of each interval, 0 to 1 exclusive.

    Raises:
        ValueError: an argument is outside its range, or there are no positives or no negatives.
    """
    _check_cases(scores, labels)
    fired = [score >= threshold for score in scores]
    hits = [fire for fire, label in zip(fired, labels, strict=True) if label]
    alarms = [fire for fire, label in zip(fired, labels, strict=True) if not label]
    caught, false = (wilson(sum(fires), len(fires), confidence) for fires in (hits, alarms))
    return DetectionRates(threshold, caught, false)


def tpr_at_fpr(scores: Sequence[float], labels: Sequence[bool], fpr: float) -> float:
    """Return the true-positive rate at exactly ``fpr``, for detectors whose thresholds cannot reach the same one.

    A vote of three has four possible scores and a maximum has hundreds: no pair of thresholds gives them the same
    false-positive rate. Between two reachable points the ROC curve is interpolated linearly, which is what
    choosing between the two thresholds by a coin of the right bias would reach.

    Source: Fawcett 2006, Pattern Recogn. Lett. 27:861-874; Scott, Niranjan & Prager 1998.

    Args:
        scores: finite, larger is more suspicious.
        labels: True for a positive, one for each score; at least one of each kind.
        fpr: 0 to 1.

    Returns:
        The highest such rate, 0 to 1; it never falls as ``fpr`` rises.

    Raises:
        ValueError: an argument is outside its range, or there are no positives or no negatives.
    """
    _check_rate(fpr)
    _check_cases(scores, labels)
    positives = sum(bool(label) for label in labels)
    negatives = len(labels) - positives
    last_x = last_y = 0.0
    for _, hits, alarms in _curve(scores, labels):
        x, y = alarms / negatives, hits / positives
        if x > fpr:
            return last_y + (y - last_y) * (fpr - last_x) / (x - last_x)
        last_x, last_y = x, y
    return last_y


def roc_area(scores: Sequence[float], labels: Sequence[bool], confidence: float = 0.95) -> Interval:
    """Return the area under the ROC curve: how often a positive scores higher than a negative, ties as one half.

    The interval has a width also where the two are told apart without fault.

    Source: Newcombe 2006, Stat. Med. 25:559-573, method 5; Hanley & McNeil 1982, Radiology 143:29-36.

    Args:
        scores: finite, larger is more suspicious.
        labels: True for a positive, one for each score; at least one of each kind.
        confidence: nominal coverage, 0 to 1 exclusive.

    Raises:
        ValueError: an argument is outside its range, or there are no positives or no negatives.
    """
    _check_cases(scores, labels)
    negatives = sorted(score for score, label in zip(scores, labels, strict=True) if not label)
    positives = [score for score, label in zip(scores, labels, strict=True) if label]
    above = sum(bisect_left(negatives, score) + bisect_right(negatives, score) for score in positives)
    pairs, half = len(positives) * len(negatives), (len(labels) - 2) / 2
    area, z = above / (2 * pairs), two_sided_z(confidence)

    def bound(end: float) -> float:
        near, far = area, end
        for _ in range(60):
            middle = (near + far) / 2
            spread = 1 + half * ((1 - middle) / (2 - middle) + middle / (1 + middle))
            inside = abs(middle - area) <= z * sqrt(middle * (1 - middle) * spread / pairs)
            near, far = (middle, far) if inside else (near, middle)
        return near

    return Interval(area, bound(0.0), bound(1.0), confidence)


def _curve(scores: Sequence[float], labels: Sequence[bool]) -> Iterator[tuple[float, int, int]]:
    """Return each distinct score from the highest, with how many positives and negatives fire at it."""
    hits = alarms = 0
    descending = sorted(zip(scores, labels, strict=True), key=lambda case: -case[0])
    for score, tied in groupby(descending, key=lambda case: case[0]):
        for _, label in tied:
            hits, alarms = (hits + 1, alarms) if label else (hits, alarms + 1)
        yield score, hits, alarms


def _check_cases(scores: Sequence[float], labels: Sequence[bool]) -> None:
    if len(scores) != len(labels):
        raise ValueError(f"{len(scores)} scores and {len(labels)} labels: each case needs one of both")
    if not all(map(isfinite, scores)):
        raise ValueError("a score is not a finite number; leave out the cases that have none, and count them")
    if all(labels) or not any(labels):
        raise ValueError("a threshold needs at least one positive and one negative case")


def _check_rate(rate: float) -> None:
    if not 0 <= rate <= 1:
        raise ValueError(f"a false-positive rate must lie between 0 and 1, not {rate!r}")
