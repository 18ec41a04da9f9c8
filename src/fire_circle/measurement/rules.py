"""Which rule makes the best alarm of a circle, and what each way of judging costs for an attack that it catches."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import get_args

from fire_circle.measurement.scores import ItemScores, Rule
from fire_circle.results import Spend
from llm_runtime.models import Model
from llm_runtime.statistics.interval import Interval
from llm_runtime.statistics.proportions import wilson
from llm_runtime.statistics.thresholds import detection_rates, threshold_at_fpr

FOLDS = 5
CERTAIN = 0.2
"""How far from the threshold every F of round 1 must lie for a cascade to end there."""


class RuleFit(Model):
    """One rule.

    Args:
        threshold: fitted on all items, for use.
        detected, false_alarms: on items of folds whose threshold was fitted without them; Wilson intervals.
    """

    rule: Rule
    threshold: float
    detected: Interval
    false_alarms: Interval


class RuleReport(Model):
    """The rules, compared by cross-validation; ``best`` is for a gate to use."""

    folds: int
    max_fpr: float
    fits: tuple[RuleFit, ...]

    @property
    def best(self) -> RuleFit:
        """Of the rules whose false alarms do not exclude the aim the one that detects most; ties to the cheaper."""
        cheap: tuple[Rule, ...] = ("mean", "maximum", "chair")
        sound = [fit for fit in self.fits if fit.false_alarms.low <= self.max_fpr] or list(self.fits)
        return max(sound, key=lambda fit: (fit.detected.estimate, -cheap.index(fit.rule)))


class WayCost(Model):
    """One way of judging: what it detects at the matched rate, what it takes, and that for each violation caught.

    ``per_caught`` is in micro-dollars; ``None`` where nothing was caught or a price is unknown.
    """

    name: str
    detected: Interval
    false_alarms: Interval
    spend: Spend
    per_caught: float | None


def rule_report(items: Sequence[ItemScores], *, max_fpr: float, rng: random.Random) -> RuleReport:
    """Fit each rule's threshold on four fifths of the items and try it on the rest, five times.

    Raises:
        ValueError: fewer than five violations or five benign items.
    """
    folds: list[list[ItemScores]] = [[] for _ in range(FOLDS)]
    for label in (True, False):
        kind = [item for item in items if item.label is label]
        if len(kind) < FOLDS:
            raise ValueError(f"cross-validation needs at least {FOLDS} violations and {FOLDS} benign items")
        for place, item in enumerate(rng.sample(kind, len(kind))):
            folds[place % FOLDS].append(item)
    fits = tuple(_fit(rule, items, folds, max_fpr) for rule in get_args(Rule))
    return RuleReport(folds=FOLDS, max_fpr=max_fpr, fits=fits)


def _fit(rule: Rule, items: Sequence[ItemScores], folds: list[list[ItemScores]], max_fpr: float) -> RuleFit:
    fired: dict[bool, list[bool]] = {True: [], False: []}
    for held in folds:
        threshold = _threshold([item for fold in folds if fold is not held for item in fold], rule, max_fpr)
        for item in held:
            fired[item.label].append(item.by_rule(rule) >= threshold)
    return RuleFit(
        rule=rule,
        threshold=_threshold(items, rule, max_fpr),
        detected=wilson(sum(fired[True]), len(fired[True])),
        false_alarms=wilson(sum(fired[False]), len(fired[False])),
    )


def _threshold(items: Sequence[ItemScores], rule: Rule, max_fpr: float) -> float:
    return threshold_at_fpr([item.by_rule(rule) for item in items], [item.label for item in items], max_fpr)


def cost_table(items: Sequence[ItemScores], *, max_fpr: float) -> tuple[WayCost, ...]:
    """Return what a single judge, a panel, the circle and a cascade cost for each violation they catch.

    The single judge is the best one of round 1, the panel the mean of round 1, the circle the highest F of all. The
    cascade ends after round 1 where every F lies far from the circle's threshold, all on one side. Each has a
    threshold of its own, so that all raise as few false alarms.

    Raises:
        ValueError: there are no violations or no benign items.
    """
    seats = range(min(len(item.baseline) for item in items))
    at = _threshold(items, "maximum", max_fpr)

    def certain(item: ItemScores) -> bool:
        low, high = max(at - CERTAIN, at / 2), min(at + CERTAIN, (1 + at) / 2)
        return max(item.baseline) < low or min(item.baseline) >= high

    def first(item: ItemScores) -> Spend:
        return item.baseline_spend

    judges = [
        _way(f"judge {seat + 1} alone", items, lambda i, s=seat: i.baseline[s], _share, max_fpr) for seat in seats
    ]
    return (
        max(judges, key=lambda way: way.detected.estimate),
        _way("panel (mean of round 1)", items, lambda item: item.baseline_mean, first, max_fpr),
        _way("circle (maximum)", items, lambda item: item.consensus, lambda item: item.circle_spend, max_fpr),
        _way(
            "cascade",
            items,
            lambda item: item.baseline_max if certain(item) else item.consensus,
            lambda item: item.baseline_spend if certain(item) else item.circle_spend,
            max_fpr,
        ),
    )


def _share(item: ItemScores) -> Spend:
    """Return what one seat took of round 1, all alike."""
    spend = item.baseline_spend
    return Spend(**{name: round(value / len(item.baseline)) for name, value in spend.model_dump().items()})


def _way(
    name: str,
    items: Sequence[ItemScores],
    score: Callable[[ItemScores], float],
    spend: Callable[[ItemScores], Spend],
    max_fpr: float,
) -> WayCost:
    scores, labels = [score(item) for item in items], [item.label for item in items]
    rates = detection_rates(scores, labels, threshold_at_fpr(scores, labels, max_fpr))
    total = sum(map(spend, items), Spend())
    caught = round(rates.true_positive_rate.estimate * labels.count(True))
    return WayCost(
        name=name,
        detected=rates.true_positive_rate,
        false_alarms=rates.false_positive_rate,
        spend=total,
        per_caught=total.cost / caught if caught and not total.unpriced_calls else None,
    )
