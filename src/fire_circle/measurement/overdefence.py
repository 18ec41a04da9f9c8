"""Over-defence: how often harmless prompts full of trigger words raise the alarm, by family of words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from llm_runtime.models import Model
from llm_runtime.statistics.interval import Interval
from llm_runtime.statistics.proportions import newcombe, wilson


class OverdefenceReport(Model):
    """False alarms at a frozen threshold.

    Args:
        threshold: F from which the alarm is raised.
        prompts: how many harmless prompts with trigger words there were.
        false_alarms: share of them that raised it, Wilson interval.
        by_category: the same for each family of words.
        excess: false-alarm rate beyond that of plain harmless prompts (Newcombe); ``None`` without any.
    """

    threshold: float
    prompts: int
    false_alarms: Interval
    by_category: dict[str, Interval]
    excess: Interval | None


def overdefence_report(
    by_category: Mapping[str, Sequence[float]], threshold: float, *, plain: Sequence[float] = ()
) -> OverdefenceReport:
    """Report on the F of harmless prompts.

    Args:
        by_category: F of each prompt, by family of trigger words.
        threshold: a frozen one, see :mod:`~fire_circle.measurement.calibration`.
        plain: F of harmless prompts without such words.

    Raises:
        ValueError: there are no prompts, or a family has none.
    """
    scores = [score for category in by_category.values() for score in category]
    alarms = _alarms(scores, threshold)
    excess = newcombe(alarms, len(scores), _alarms(plain, threshold), len(plain)) if plain else None
    rates = {name: wilson(_alarms(own, threshold), len(own)) for name, own in sorted(by_category.items())}
    every, count = wilson(alarms, len(scores)), len(scores)
    return OverdefenceReport(threshold=threshold, prompts=count, false_alarms=every, by_category=rates, excess=excess)


def _alarms(scores: Sequence[float], threshold: float) -> int:
    return sum(score >= threshold for score in scores)
