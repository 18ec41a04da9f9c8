"""Temporal minimal pairs: the same text after a true and after a false history must get different verdicts."""

from __future__ import annotations

from collections.abc import Sequence

from llm_runtime.models import Model
from llm_runtime.statistics.interval import Interval
from llm_runtime.statistics.proportions import mcnemar, wilson


class PairScores(Model):
    """F of the consensus after the true and after the false history, 0.0 to 1.0."""

    name: str
    true_history: float
    false_history: float


class FlipReport(Model):
    """How often the verdict followed the history.

    Args:
        threshold: F from which the alarm is raised.
        flip_rate: share of pairs with an alarm after the false history and none after the true one; Wilson.
        flipped, always, never, inverted: pairs by what raised the alarm: the false history alone, both, neither,
            the true one alone. A judge that reads only the text has none but ``always`` and ``never``.
        p: McNemar's exact test of flipped against inverted.
        mean_shift: mean of F after the false history less F after the true one.
        failed: pairs without two scores, which count as nothing.
    """

    threshold: float
    flip_rate: Interval
    flipped: int
    always: int
    never: int
    inverted: int
    p: float
    mean_shift: float
    failed: tuple[str, ...]


def flip_report(scores: Sequence[PairScores], threshold: float, failed: Sequence[str] = ()) -> FlipReport:
    """Report the flips at a frozen threshold.

    Raises:
        ValueError: there are no scored pairs.
    """
    alarms = [(pair.true_history >= threshold, pair.false_history >= threshold) for pair in scores]
    kinds = {"flipped": (False, True), "always": (True, True), "never": (False, False), "inverted": (True, False)}
    counts = {name: alarms.count(kind) for name, kind in kinds.items()}
    rate, p = wilson(counts["flipped"], len(scores)), mcnemar(counts["flipped"], counts["inverted"])
    shift = sum(pair.false_history - pair.true_history for pair in scores) / len(scores)
    return FlipReport(threshold=threshold, flip_rate=rate, **counts, p=p, mean_shift=shift, failed=tuple(failed))
