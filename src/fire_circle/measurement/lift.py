"""The lift report: what the dialogue detects beyond its own first round, at the same rate of false alarms."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from fire_circle.measurement.scores import ItemScores, majority
from fire_circle.results import Spend
from llm_runtime.models import Model
from llm_runtime.statistics.bootstrap import percentile_interval
from llm_runtime.statistics.interval import Interval
from llm_runtime.statistics.proportions import PairedCounts, mcnemar
from llm_runtime.statistics.thresholds import detection_rates, roc_area, threshold_at_fpr, tpr_at_fpr

LEAST_OF_A_KIND = 5
SIGNIFICANT = 0.05

Verdict = Literal["lift", "no lift", "harm"]


class MethodRates(Model):
    """One way of judging.

    Args:
        name: ``consensus``, ``round-1 max``, ``round-1 mean``, ``round-1 majority``, ``control max``, ...
        threshold: fires on at most the wanted share of benign items.
        detected, false_alarms: true- and false-positive rate at the threshold, with Wilson intervals.
        detected_matched: true-positive rate at exactly the wanted false-positive rate, by interpolation.
        spend: what judging all items this way took.
        area: under the ROC curve, with Newcombe's interval; ``None`` in older figures.
        per_caught: micro-dollars for each detected violation; ``None`` where there is none or a price is unknown.
    """

    name: str
    threshold: float
    detected: Interval
    false_alarms: Interval
    detected_matched: float
    spend: Spend
    area: Interval | None = None
    per_caught: float | None = None


class Comparison(Model):
    """The consensus against one other way.

    Args:
        against: the other way's name.
        difference: of the true-positive rates at the matched false-positive rate; paired bootstrap interval.
        only_consensus, only_other: violations that only one of them detects at its threshold.
        p: McNemar's exact test over those.
        extra_cost: micro-dollars that the circle took more, over all items; negative where it took less.
        cost_per_extra_detection: micro-dollars; ``None`` where nothing more was detected or a price is unknown.
        verdict: ``lift`` or ``harm`` where interval and test agree on it, else ``no lift``.
    """

    against: str
    difference: Interval
    only_consensus: int
    only_other: int
    p: float
    extra_cost: int
    cost_per_extra_detection: float | None
    verdict: Verdict


class LiftReport(Model):
    """Whether the dialogue helped.

    Args:
        violations, benign: judged items of each kind.
        left_out: items without a score: failed ones.
        max_fpr: the matched false-positive rate, 0.0 to 1.0.
        verdict: ``lift`` only where the circle beats every other way; ``harm`` where one beats it.
        summary: the same in a sentence.
    """

    violations: int
    benign: int
    left_out: int
    max_fpr: float
    methods: tuple[MethodRates, ...]
    comparisons: tuple[Comparison, ...]
    verdict: Verdict
    summary: str


WAYS: dict[str, Callable[[Sequence[float]], float]] = {
    "max": max,
    "mean": lambda scores: sum(scores) / len(scores),
    "majority": majority,
}
"""How one F is made of several that nobody talked about."""
_Score = Callable[[ItemScores], float]
_METHODS: dict[str, _Score] = {
    "consensus": lambda item: item.consensus,
    **{f"round-1 {name}": lambda item, way=way: way(item.baseline) for name, way in WAYS.items()},
}
_CONTROLS: dict[str, _Score] = {
    f"control {name}": lambda item, way=way: way(item.control) for name, way in WAYS.items()
}


def lift_report(
    items: Sequence[ItemScores], *, rng: random.Random, max_fpr: float = 0.05, left_out: int = 0, resamples: int = 2000
) -> LiftReport:
    """Compare the consensus with round 1 and, where every item has one, with the call-matched control.

    Thresholds are fitted on the items themselves, each way's own, so that all raise as few false alarms; a
    threshold for use is a matter of :mod:`~fire_circle.measurement.calibration`. In the bootstrap, violations and
    benign items are resampled apart and the rates matched anew each time.

    Args:
        items: at least 5 violations and 5 benign ones.
        rng: draws the resamples.
        max_fpr: 0.0 to 1.0.
        left_out: how many items have no score; it is reported.

    Raises:
        ValueError: too few items of a kind, or an argument out of range.
    """
    positives = [item for item in items if item.label]
    negatives = [item for item in items if not item.label]
    if min(len(positives), len(negatives)) < LEAST_OF_A_KIND:
        raise ValueError(
            f"a lift report needs at least {LEAST_OF_A_KIND} violations and {LEAST_OF_A_KIND} benign items, "
            f"got {len(positives)} and {len(negatives)}"
        )
    methods = {**_METHODS, **(_CONTROLS if all(item.control for item in items) else {})}
    rates = {name: _rates(name, score, items, max_fpr) for name, score in methods.items()}
    columns = {
        name: ([score(item) for item in positives], [score(item) for item in negatives])
        for name, score in methods.items()
    }
    shown = differences(columns, max_fpr, rng, resamples)
    comparisons = tuple(_compare(name, columns, rates, difference) for name, difference in shown.items())
    verdict = _verdict([comparison.verdict for comparison in comparisons])
    sizes = {"violations": len(positives), "benign": len(negatives), "left_out": left_out}
    methods, said = tuple(rates.values()), _summary(verdict, rates, comparisons, max_fpr)
    return LiftReport(**sizes, max_fpr=max_fpr, methods=methods, comparisons=comparisons, verdict=verdict, summary=said)


def _spend(name: str, items: Sequence[ItemScores]) -> Spend:
    kinds = {"consensus": "circle_spend", "control": "control_spend", "round-1": "baseline_spend"}
    return sum((getattr(item, kinds[name.split()[0]]) for item in items), Spend())


def _rates(name: str, score: _Score, items: Sequence[ItemScores], max_fpr: float) -> MethodRates:
    scores, labels = [score(item) for item in items], [item.label for item in items]
    threshold = threshold_at_fpr(scores, labels, max_fpr)
    rates = detection_rates(scores, labels, threshold)
    spend, caught = _spend(name, items), round(rates.true_positive_rate.estimate * sum(labels))
    return MethodRates(
        name=name,
        threshold=threshold,
        detected=rates.true_positive_rate,
        false_alarms=rates.false_positive_rate,
        detected_matched=tpr_at_fpr(scores, labels, max_fpr),
        spend=spend,
        area=roc_area(scores, labels),
        per_caught=spend.cost / caught if caught and not spend.unpriced_calls else None,
    )


Columns = Mapping[str, tuple[Sequence[float], Sequence[float]]]
"""By way of judging: the scores of the violations, and those of the benign items."""


def differences(columns: Columns, max_fpr: float, rng: random.Random, resamples: int) -> dict[str, Interval]:
    """Return what the consensus detects more than each other way, all from the same resamples."""
    steps = {name: _steps(*scores) for name, scores in columns.items()}
    sizes = [len(scores) for scores in columns["consensus"]]

    def more(positives: Sequence[int], negatives: Sequence[int]) -> dict[str, float]:
        found = {name: _detected(each, positives, negatives, max_fpr) for name, each in steps.items()}
        return {name: found["consensus"] - value for name, value in found.items() if name != "consensus"}

    whole = more(*([1] * size for size in sizes))
    replicates = [more(*(_resampled(size, rng) for size in sizes)) for _ in range(resamples)]
    return {name: percentile_interval(at, [each[name] for each in replicates]) for name, at in whole.items()}


def _resampled(count: int, rng: random.Random) -> list[int]:
    """Return how often each of so many items is drawn."""
    times = [0] * count
    for _ in range(count):
        times[int(rng.random() * count)] += 1
    return times


def _steps(positives: Sequence[float], negatives: Sequence[float]) -> list[tuple[list[int], list[int]]]:
    """Return which items fire at each distinct score and not above it, from the highest down."""
    steps: dict[float, tuple[list[int], list[int]]] = {}
    for kind, scores in enumerate((positives, negatives)):
        for place, score in enumerate(scores):
            steps.setdefault(score, ([], []))[kind].append(place)
    return [step for _, step in sorted(steps.items(), reverse=True)]


def _detected(
    steps: Sequence[tuple[list[int], list[int]]], positives: Sequence[int], negatives: Sequence[int], max_fpr: float
) -> float:
    """Return what :func:`tpr_at_fpr` does of items that count so many times each, without sorting them again."""
    hits = alarms = 0
    last_x = last_y = 0.0
    every, harmless = sum(positives), sum(negatives)
    for fired, raised in steps:
        for place in fired:
            hits += positives[place]
        for place in raised:
            alarms += negatives[place]
        x, y = alarms / harmless, hits / every
        if x > max_fpr:
            return last_y + (y - last_y) * (max_fpr - last_x) / (x - last_x)
        last_x, last_y = x, y
    return last_y


def _compare(name: str, columns: Columns, rates: dict[str, MethodRates], difference: Interval) -> Comparison:
    ours, theirs = rates["consensus"], rates[name]
    pairs = zip(columns["consensus"][0], columns[name][0], strict=True)
    counts = PairedCounts.of((a >= ours.threshold, b >= theirs.threshold) for a, b in pairs)
    p = mcnemar(counts.only_a, counts.only_b)
    extra, cost = counts.only_a - counts.only_b, ours.spend.cost - theirs.spend.cost
    priced = ours.spend.unpriced_calls == theirs.spend.unpriced_calls == 0
    each = cost / extra if extra > 0 and priced else None
    only = {"only_consensus": counts.only_a, "only_other": counts.only_b}
    shown = compared(p, difference.low, difference.high)
    return Comparison(
        against=name, difference=difference, **only, p=p, extra_cost=cost, cost_per_extra_detection=each, verdict=shown
    )


def compared(p: float, low: float, high: float) -> Verdict:
    """Return what one comparison shows, by the p of its test and the ends of its interval."""
    if p >= SIGNIFICANT or low <= 0 <= high:
        return "no lift"
    return "lift" if low > 0 else "harm"


def _verdict(verdicts: Sequence[Verdict]) -> Verdict:
    if "harm" in verdicts:
        return "harm"
    return "lift" if all(verdict == "lift" for verdict in verdicts) else "no lift"


def _summary(verdict: Verdict, rates: dict[str, MethodRates], comparisons: Sequence[Comparison], max_fpr: float) -> str:
    strongest = max(comparisons, key=lambda c: rates[c.against].detected_matched)
    d = strongest.difference
    figures = (
        f"at a false-positive rate of {max_fpr:.0%} the consensus detects "
        f"{rates['consensus'].detected_matched:.1%}, "
        f"{strongest.against} {rates[strongest.against].detected_matched:.1%} "
        f"(difference {d.estimate:+.1%}, {d.confidence:.0%} interval {d.low:+.1%} to {d.high:+.1%}, "
        f"McNemar p={strongest.p:.3f})"
    )
    headline = {
        "lift": "Lift: the dialogue detects more than every way without it",
        "harm": "Harm: a way without dialogue detects more",
        "no lift": "No lift: nothing here shows that the dialogue detects more than a vote without it",
    }[verdict]
    return f"{headline}; {figures}."
