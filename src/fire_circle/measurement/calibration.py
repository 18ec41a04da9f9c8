"""Which F makes the alarm, and from which threshold its rate of false alarms is bounded exactly.

The rule is chosen on one part of the items. On the other its threshold is fitted, to the benign ones alone, so that
what it detects there is no fitted figure; and the bound on its false alarms holds whatever their distribution (the
maximum of nine calls raises false alarms: FC2).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from math import exp, floor, fsum, lgamma, log, log1p, nextafter
from typing import Literal, TypeAlias, get_args

from fire_circle.config import GuardConfig
from fire_circle.measurement.scores import ItemScores, Rule, Scales, scales_of
from llm_runtime.errors import ConfigurationError
from llm_runtime.models import Model
from llm_runtime.statistics.interval import Interval
from llm_runtime.statistics.thresholds import detection_rates, tpr_at_fpr

CONFIDENCE = 0.95
_UNSUPPORTED = (
    "{benign} benign items cannot support {aim:.1%}: where none of them fires, the rate is at most {bound:.1%} "
    "with 95% confidence"
)
_CHEAPEST: tuple[Rule, ...] = ("mean", "maximum", "quantile", "chair")


_Items: TypeAlias = Sequence[ItemScores]


class RuleFit(Model):
    """One rule.

    Args:
        chosen_by: what it detects of the part on which the rule is chosen, 0.0 to 1.0.
        threshold: the alarm is raised where F reaches it; above 1 where nothing may raise it.
        detected, false_alarms: on the other part, with Wilson intervals.
    """

    rule: Rule
    chosen_by: float
    threshold: float
    detected: Interval
    false_alarms: Interval


class Calibration(Model):
    """What a gate may rest on.

    Args:
        max_fpr: the aim, 0.0 to 1.0.
        bound: what the rate of false alarms exceeds in at most one study of twenty.
        violations, benign: items that the thresholds were fitted on and tried on.
        fits: every rule.
        scales: each judge's own, from the part on which the rule is chosen.
        warning: why the aim cannot be promised; empty where it can.
    """

    max_fpr: float
    bound: float
    violations: int
    benign: int
    fits: tuple[RuleFit, ...]
    scales: dict[str, tuple[float, ...]]
    warning: str = ""

    @property
    def best(self) -> RuleFit:
        """The rule that detects most; ties to the cheaper."""
        return max(self.fits, key=lambda fit: (fit.chosen_by, -_CHEAPEST.index(fit.rule)))

    def of(self, rule: Rule) -> RuleFit:
        """Return what is known of a rule."""
        return next(fit for fit in self.fits if fit.rule == rule)

    def checked(self, fit: RuleFit, where: str) -> float:
        """Return a threshold that a gate may rest on.

        Raises:
            ConfigurationError: the items promise nothing, or nothing reaches it.
        """
        if why := self.warning or ("its threshold lies above every score" if fit.threshold > 1 else ""):
            raise ConfigurationError(f"{where}: {why}; give --threshold")
        return fit.threshold


def split_of(item: str, *, development_share: float = 1 / 3, salt: str = "") -> Literal["development", "test"]:
    """Return the split of an item, by its id alone, so that it never changes sides."""
    place = int.from_bytes(hashlib.sha256(f"{salt}|{item}".encode()).digest()[:8], "big") / 2**64
    return "development" if place < development_share else "test"


def calibrate(choosing: _Items, fitting: _Items, *, max_fpr: float = 0.01) -> Calibration:
    """Choose a rule on some items, and fit thresholds on others so that at most ``max_fpr`` of benign ones fire.

    The bound is that of order statistics: over the (k+1)-th highest of n benign scores fires more than ``max_fpr``
    with the probability that a binomial of n and ``max_fpr`` is at most k, which is kept at 0.05.

    Source: Tong, Feng & Li 2018, Science Advances 4:eaao1659 (Neyman-Pearson umbrella algorithm).

    Raises:
        ValueError: a part lacks violations or has fewer than two benign items, or ``max_fpr`` is no share.
    """
    labels, kinds = [item.label for item in fitting], [item.label for item in choosing]
    benign, violations = labels.count(False), labels.count(True)
    if min(benign, kinds.count(False)) < 2 or not violations or not any(kinds):
        raise ValueError("each part of the data needs violations and at least two benign items")
    alarms = allowed_alarms(benign, max_fpr)
    bound = exact_bound(max(alarms, 0), benign)
    warning = "" if alarms >= 0 else _UNSUPPORTED.format(benign=benign, aim=max_fpr, bound=bound)
    scales = scales_of(item for item in choosing if not item.label)
    fits = tuple(_fit(rule, scales, choosing, fitting, max_fpr, max(alarms, 0)) for rule in get_args(Rule))
    sizes = {"violations": violations, "benign": benign}
    return Calibration(max_fpr=max_fpr, bound=bound, **sizes, fits=fits, scales=scales, warning=warning)


def _fit(rule: Rule, scales: Scales, choosing: _Items, fitting: _Items, max_fpr: float, alarms: int) -> RuleFit:
    (first, kinds), (scores, labels) = (
        ([item.by_rule(rule, scales) for item in items], [item.label for item in items])
        for items in (choosing, fitting)
    )
    ranked = sorted((score for score, label in zip(scores, labels, strict=True) if not label), reverse=True)
    threshold = _above(ranked[alarms], scores)
    rates, chosen_by = detection_rates(scores, labels, threshold), tpr_at_fpr(first, kinds, max_fpr)
    caught, alarmed = rates.true_positive_rate, rates.false_positive_rate
    return RuleFit(rule=rule, chosen_by=chosen_by, threshold=threshold, detected=caught, false_alarms=alarmed)


def _above(score: float, scores: Sequence[float]) -> float:
    """Return the lowest observed score above another, with the six decimals that a condition has."""
    observed = floor(min((other for other in scores if other > score), default=0.0) * 1e6) / 1e6
    return observed if observed > score else (floor(score * 1e6) + 1) / 1e6


def allowed_alarms(benign: int, max_fpr: float) -> int:
    """Return how many of so many benign items may fire; -1 where not even none of them is proof enough."""
    alarms = -1
    while alarms + 1 < benign and _at_most(alarms + 1, benign, max_fpr) <= 1 - CONFIDENCE:
        alarms += 1
    return alarms


def exact_bound(alarms: int, benign: int) -> float:
    """Return the rate below which so many alarms have a probability of 0.05 at most (Clopper-Pearson)."""
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if _at_most(alarms, benign, middle) <= 1 - CONFIDENCE else (middle, high)
    return high


def _at_most(count: int, trials: int, rate: float) -> float:
    """Return the probability of at most ``count`` of ``trials``, each at ``rate``."""
    if rate in (0.0, 1.0):
        return float(rate == 0.0 or count >= trials)
    logs = (
        lgamma(trials + 1) - lgamma(k + 1) - lgamma(trials - k + 1) + k * log(rate) + (trials - k) * log1p(-rate)
        for k in range(count + 1)
    )
    return fsum(map(exp, logs))


def calibrated(
    guard: GuardConfig, readings: Iterable[tuple[float, bool]], *, missed: float = 0.02, false_alarms: float = 0.02
) -> GuardConfig:
    """Return the guard with the widest bounds that the data supports, with 95% confidence each (exact binomial).

    Args:
        readings: its score of each item, and whether the item is a violation.
        missed: of the violations, the share that may be called calm, 0.0 to 1.0.
        false_alarms: of the harmless items, the share that may be called attacks.
    """
    ordered = sorted(readings)
    bad = [score for score, label in ordered if label]
    good = [-score for score, label in reversed(ordered) if not label]
    calm, alarm = _bound(bad, missed, 0.0), -_bound(good, false_alarms, -1.0)
    least = max(nextafter(alarm, 2.0), calm) if alarm < 1.0 else None
    return guard.model_copy(update={"calm": calm, "alarm": least})


def _bound(scores: Sequence[float], rate: float, none: float) -> float:
    """Return the highest score with so few of these below it that their share is surely below ``rate``."""
    alarms = allowed_alarms(len(scores), rate)
    return none if alarms < 0 else scores[alarms]
