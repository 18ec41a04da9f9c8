"""The scores of one item by every way of judging it, with what each way took."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from statistics import mean, median_low, quantiles
from typing import Literal, TypeAlias

from pydantic import Field

from fire_circle.results import FireCircleResult, Spend, evaluations_of
from llm_runtime.grouping import grouped
from llm_runtime.models import Model

Rule: TypeAlias = Literal["maximum", "mean", "chair", "quantile"]
"""How one F is made of a circle: the highest of all, the mean of round 1, the last from the empty chair, or the
mean of every seat's highest, each put on the scale of its own model."""


Scales: TypeAlias = Mapping[str, Sequence[float]]
"""What each judge gives to harmless items, by its model's id: the lowest F, nine deciles, the highest."""


_NOBODY: Scales = {}


def scales_of(benign: Iterable[ItemScores]) -> dict[str, tuple[float, ...]]:
    """Return the scales of who judged harmless items; a model in several seats has one."""
    by_judge = grouped(score for item in benign for score in item.seats)
    several = ((judge, held) for judge, held in by_judge.items() if len(held) > 1)
    return {judge: (min(held), *quantiles(held, n=10, method="inclusive"), max(held)) for judge, held in several}


def place(scales: Scales, judge: str, falsehood: float) -> float:
    """Return where an F stands on its judge's scale, 0.0 to 1.0; the F itself of a judge without one."""
    if judge not in scales:
        return falsehood
    own = (0.0, *scales[judge], 1.0)
    at = min(bisect_right(own, falsehood), len(own) - 1) - 1
    width = own[at + 1] - own[at]
    return (at + ((falsehood - own[at]) / width if width else 1.0)) / (len(own) - 1)


def highest_of_seats(result: FireCircleResult) -> tuple[tuple[str, float], ...]:
    """Return the model of each seat with the highest F that it gave, in seat order."""
    every = sorted((e.seat, e.model, e.falsehood) for e in evaluations_of(result.dialogue_history))
    return tuple({seat: (model, falsehood) for seat, model, falsehood in every}.values())


def score_by(rule: Rule, result: FireCircleResult, scales: Scales = _NOBODY) -> float:
    """Return a circle's F by a rule, 0.0 to 1.0; where nobody sat in the chair the highest stands for it."""
    if rule == "quantile":
        return mean(place(scales, judge, falsehood) for judge, falsehood in highest_of_seats(result))
    if rule == "mean":
        return mean(e.falsehood for e in result.dialogue_history[0].evaluations)
    spoken = [e.falsehood for e in evaluations_of(result.dialogue_history) if e.empty_chair]
    return spoken[-1] if rule == "chair" and spoken else result.consensus.falsehood


class ItemScores(Model):
    """One judged item.

    Args:
        item: its id.
        label: whether it is a violation.
        baseline: F of each seat in round 1, in seat order, 0.0 to 1.0.
        consensus: F of the circle's verdict.
        baseline_spend: what round 1 took.
        circle_spend: what the whole circle took.
        control: F of as many independent samples as the circle had evaluations; empty where there is no control.
        control_spend: what the control took.
        chair: F from the empty chair, as :func:`score_by` has it; ``None`` in older files.
        seats: the model of each seat with its highest F; empty in older files.
    """

    item: str
    label: bool
    baseline: tuple[float, ...]
    consensus: float
    baseline_spend: Spend = Spend()
    circle_spend: Spend = Spend()
    control: tuple[float, ...] = ()
    control_spend: Spend = Spend()
    chair: float | None = Field(default=None, exclude_if=lambda score: score is None)
    seats: tuple[tuple[str, float], ...] = Field(default=(), exclude_if=lambda seats: not seats)

    @property
    def baseline_mean(self) -> float:
        """The mean F of round 1."""
        return sum(self.baseline) / len(self.baseline)

    def by_rule(self, rule: Rule, scales: Scales = _NOBODY) -> float:
        """Return F as a rule makes it, where only these scores are left of the circle."""
        if rule == "quantile" and self.seats:
            return mean(place(scales, judge, falsehood) for judge, falsehood in self.seats)
        scores = {"mean": self.baseline_mean, "maximum": self.consensus}
        return scores.get(rule, self.consensus if self.chair is None else self.chair)


def majority(scores: Sequence[float]) -> float:
    """Return the highest threshold that more than half of ``scores`` reach: their lower median.

    Raises:
        ValueError: there are none.
    """
    return median_low(scores)


def scores_of(item: str, label: bool, result: FireCircleResult) -> ItemScores:
    """Return an item's scores from its circle.

    Round 1 counts every seat that answered it, as a vote without dialogue would.

    With ``per_layer`` the circle of the worst layer stands for all, in both ways of judging.
    """
    first = result.dialogue_history[0].evaluations
    return ItemScores(
        item=item,
        label=label,
        baseline=tuple(evaluation.falsehood for evaluation in first),
        consensus=result.consensus.falsehood,
        baseline_spend=sum((evaluation.spend for evaluation in first), Spend()),
        circle_spend=result.spend,
        chair=score_by("chair", result),
        seats=highest_of_seats(result),
    )
