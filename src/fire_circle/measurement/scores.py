"""The scores of one item by every way of judging it, with what each way took."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean, median_low
from typing import Literal, TypeAlias

from pydantic import Field

from fire_circle.results import FireCircleResult, Spend
from llm_runtime.models import Model

Rule: TypeAlias = Literal["maximum", "mean", "chair"]
"""How one F is made of a circle: the highest of all, the mean of round 1, the last from the empty chair."""


def score_by(rule: Rule, result: FireCircleResult) -> float:
    """Return a circle's F by a rule, 0.0 to 1.0; where nobody sat in the chair the highest stands for it."""
    if rule == "mean":
        return mean(e.falsehood for e in result.dialogue_history[0].evaluations)
    spoken = [e.falsehood for held in result.dialogue_history for e in held.evaluations if e.empty_chair]
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

    @property
    def baseline_max(self) -> float:
        """The highest F of round 1."""
        return max(self.baseline)

    @property
    def baseline_mean(self) -> float:
        """The mean F of round 1."""
        return sum(self.baseline) / len(self.baseline)

    def by_rule(self, rule: Rule) -> float:
        """Return F as a rule makes it, where only these scores are left of the circle."""
        scores = {"mean": self.baseline_mean, "maximum": self.consensus}
        return scores.get(rule, self.consensus if self.chair is None else self.chair)

    @property
    def baseline_majority(self) -> float:
        """The score at which more than half of round 1 would raise the alarm."""
        return majority(self.baseline)


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
    )
