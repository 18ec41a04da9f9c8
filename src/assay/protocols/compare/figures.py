"""The figures of a comparison: each method's score and spend, and each pair's difference with its interval."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import asdict
from itertools import combinations

from pydantic import BaseModel, ConfigDict, Field

from llm_runtime.statistics.bootstrap import paired_bootstrap
from llm_runtime.statistics.deciding import LEVEL, decided, pairs_p
from llm_runtime.statistics.interval import Interval
from llm_runtime.statistics.proportions import PairedCounts, mcnemar, newcombe_paired, wilson
from llm_runtime.statistics.significance import holm


def _unset(value: object) -> bool:
    return value is None


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Row(_Strict):
    """One task by one method. ``right`` is null where nothing tells; ``cost`` is micro-dollars, null if unknown."""

    task: str
    question: str
    expected: str | None
    method: str
    text: str
    answer: str
    right: bool | None
    samples: int
    agreed: int
    calls: int
    input_tokens: int
    output_tokens: int
    cost: int | None
    error: str = ""

    @property
    def tokens(self) -> int:
        """In and out together."""
        return self.input_tokens + self.output_tokens

    @property
    def checkable(self) -> bool:
        """Whether the task says what is right."""
        return self.expected is not None


class _Bounds(_Strict):
    """An estimate between its bounds, at 95% confidence."""

    estimate: float
    low: float
    high: float

    @classmethod
    def of(cls, interval: Interval) -> _Bounds:
        """From the statistics' own form."""
        return cls(estimate=interval.estimate, low=interval.low, high=interval.high)

    @property
    def shows(self) -> bool:
        """Whether it excludes no difference."""
        return not self.low <= 0 <= self.high


class MethodFigures(_Strict):
    """One method over all tasks that were done.

    Args:
        score: share of right answers among checkable tasks, with its Wilson interval.
        samples: independent answers behind one, on average.
        cost: micro-dollars; null where a price is not known.
    """

    method: str
    tasks: int
    checkable: int
    right: int
    errors: int
    score: _Bounds | None
    samples: float
    calls: int
    tokens: int
    cost: int | None


class Comparison(_Strict):
    """Two methods on the same tasks, ``a`` minus ``b``.

    Args:
        only_a: checkable tasks that only ``a`` got right.
        only_b: the same for ``b``.
        difference: of the scores, with Newcombe's interval for paired proportions; null without a checkable task.
        p: McNemar's exact test, two-sided.
        p_holm: the same, corrected for the number of pairs (Holm); null in reports of before.
        p_anytime: of an e-process, corrected likewise, where the comparison may stop early; null elsewhere.
        spend: mean spend of ``a`` a task divided by that of ``b``, with a paired bootstrap interval.
        spend_in: ``"USD"`` where all prices are known, else ``"tokens"``; empty where nothing was spent.
    """

    a: str
    b: str
    both: int
    only_a: int
    only_b: int
    neither: int
    difference: _Bounds | None
    p: float | None
    p_holm: float | None = None
    p_anytime: float | None = Field(default=None, exclude_if=_unset)
    spend: _Bounds | None
    spend_in: str

    @property
    def shown(self) -> bool:
        """Whether a difference is shown: the interval excludes none, and the corrected exact test agrees at 5%.

        Where the comparison may stop early, whether the test says so that holds for any stopping.
        """
        if self.p_anytime is not None:
            return self.p_anytime <= LEVEL
        p = self.p if self.p_holm is None else self.p_holm
        return self.difference is not None and self.difference.shows and p is not None and p <= LEVEL

    @property
    def equal_spend(self) -> bool:
        """Whether the spends are within a fifth of each other: near enough to compare the scores."""
        return self.spend is not None and 0.8 <= self.spend.estimate <= 1.25


class Stopped(_Strict):
    """A comparison that was decided before its last task.

    Args:
        after: tasks that were done.
        planned: tasks that there were.
        saved: what those left out would have cost at the mean of the others, micro-dollars or tokens.
        saved_in: ``"USD"`` or ``"tokens"``.
    """

    after: int
    planned: int
    saved: int
    saved_in: str


class Figures(_Strict):
    """All of it."""

    methods: tuple[MethodFigures, ...]
    comparisons: tuple[Comparison, ...]
    rows: tuple[Row, ...]
    stopped: Stopped | None = Field(default=None, exclude_if=_unset)


def figures(rows: Sequence[Row], methods: Sequence[str], seed: int, planned: int | None = None) -> Figures:
    """Fold rows into figures; a task counts once every method is done with it, so that pairs stay pairs.

    Args:
        rows: in the order of the tasks.
        methods: in the order of the report.
        seed: for the bootstrap.
        planned: tasks that there are, where it may stop before the last one.
    """
    by_place = {(row.task, row.method): row for row in rows}
    tasks = [
        task for task in dict.fromkeys(row.task for row in rows) if all((task, m) in by_place for m in methods)
    ]
    by_method = {method: [by_place[task, method] for task in tasks] for method in methods}
    comparisons = (
        [_comparison(a, b, by_method[a], by_method[b], seed) for a, b in combinations(methods, 2)] if tasks else []
    )
    scored = [pair for pair in comparisons if pair.p is not None]
    corrected = dict(zip(map(id, scored), holm([pair.p or 0.0 for pair in scored]), strict=True))
    comparisons = [pair.model_copy(update={"p_holm": corrected.get(id(pair))}) for pair in comparisons]
    by_task = [[by_place[task, method] for method in methods] for task in tasks]
    if planned is not None:
        anytime = pairs_p(right_by_method(by_task), methods)
        comparisons = [pair.model_copy(update={"p_anytime": anytime[pair.a, pair.b]}) for pair in comparisons]
    return Figures(
        methods=tuple(_method(method, own) for method, own in by_method.items()),
        comparisons=tuple(comparisons),
        rows=tuple(row for own in by_task for row in own),
        stopped=_stopped(by_task, methods, planned or 0),
    )


def right_by_method(tasks: Sequence[Sequence[Row]]) -> list[dict[str, bool]]:
    """Return by method whether it was right, task by task, where something tells."""
    return [{row.method: bool(row.right) for row in own} for own in tasks if own[0].right is not None]


def _stopped(tasks: Sequence[Sequence[Row]], methods: Sequence[str], planned: int) -> Stopped | None:
    left = planned - len(tasks)
    if not tasks or left <= 0 or not decided(right_by_method(tasks), methods):
        return None
    rows = [row for own in tasks for row in own]
    cost = _total(rows)
    spent, unit = (cost, "USD") if cost else (sum(row.tokens for row in rows), "tokens")
    return Stopped(after=len(tasks), planned=planned, saved=round(spent * left / len(tasks)), saved_in=unit)


def _method(method: str, rows: Sequence[Row]) -> MethodFigures:
    checked = [row for row in rows if row.right is not None]
    right = sum(row.right is True for row in checked)
    return MethodFigures(
        method=method,
        tasks=len(rows),
        checkable=len(checked),
        right=right,
        errors=sum(bool(row.error) for row in rows),
        score=_Bounds.of(wilson(right, len(checked))) if checked else None,
        samples=sum(row.samples for row in rows) / len(rows) if rows else 0.0,
        calls=sum(row.calls for row in rows),
        tokens=sum(row.tokens for row in rows),
        cost=_total(rows),
    )


def _total(rows: Sequence[Row]) -> int | None:
    costs = [row.cost for row in rows]
    return None if any(cost is None for cost in costs) else sum(cost or 0 for cost in costs)


def _comparison(a: str, b: str, of_a: Sequence[Row], of_b: Sequence[Row], seed: int) -> Comparison:
    pairs = [(bool(x.right), bool(y.right)) for x, y in zip(of_a, of_b, strict=True) if x.right is not None]
    counts = PairedCounts.of(pairs)
    priced = bool(_total([*of_a, *of_b]))
    spends = [
        (float(x.cost or 0), float(y.cost or 0)) if priced else (float(x.tokens), float(y.tokens))
        for x, y in zip(of_a, of_b, strict=True)
    ]
    return Comparison(
        a=a,
        b=b,
        **asdict(counts),
        difference=_Bounds.of(newcombe_paired(counts)) if pairs else None,
        p=mcnemar(counts.only_a, counts.only_b) if pairs else None,
        spend=_ratio(spends, seed),
        spend_in="USD" if priced else "tokens" if any(x + y for x, y in spends) else "",
    )


def _ratio(spends: Sequence[tuple[float, float]], seed: int) -> _Bounds | None:
    # A method that failed before it asked anybody spent nothing there, and a sample of such tasks has no ratio.
    if any(y <= 0 for _, y in spends):
        return None

    def statistic(sample: Sequence[tuple[float, float]]) -> float:
        return sum(x for x, _ in sample) / sum(y for _, y in sample)

    if len(spends) < 2:
        value = statistic(spends)
        return _Bounds(estimate=value, low=value, high=value)
    return _Bounds.of(paired_bootstrap(spends, statistic, rng=random.Random(seed), resamples=1000))
