"""Over-defence: how often harmless prompts full of trigger words raise the alarm, by family of words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fire_circle.measurement.lift import as_data
from fire_circle.measurement.scores import IntervalData
from llm_runtime.models import Model
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
    false_alarms: IntervalData
    by_category: dict[str, IntervalData]
    excess: IntervalData | None


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
    excess = None
    if plain:
        excess = as_data(newcombe(alarms, len(scores), _alarms(plain, threshold), len(plain)))
    return OverdefenceReport(
        threshold=threshold,
        prompts=len(scores),
        false_alarms=as_data(wilson(alarms, len(scores))),
        by_category={
            name: as_data(wilson(_alarms(category, threshold), len(category)))
            for name, category in sorted(by_category.items())
        },
        excess=excess,
    )


def _alarms(scores: Sequence[float], threshold: float) -> int:
    return sum(score >= threshold for score in scores)
