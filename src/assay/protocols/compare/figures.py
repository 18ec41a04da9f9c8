"""The figures of a comparison: each method's score and spend, and each pair's difference with its interval."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from itertools import combinations
from operator import not_
from typing import Any

from pydantic import Field

from assay.protocols.compare.spending import PLAIN, SECONDS, Outlay, name_of, paid, together, unit_of
from llm_runtime.grouping import grouped
from llm_runtime.models import Model
from llm_runtime.statistics.bootstrap import paired_bootstrap
from llm_runtime.statistics.clustered import clustered
from llm_runtime.statistics.deciding import LEVEL, decided, pairs_p
from llm_runtime.statistics.interval import Interval
from llm_runtime.statistics.proportions import PairedCounts, mcnemar, newcombe_paired, wilson
from llm_runtime.statistics.significance import holm
from llm_runtime.structs import Struct


def _unset(value: object) -> bool:
    return value is None


class Row(Outlay):
    """One task by one method, and what it took. ``right`` is null where nothing tells.

    Args:
        samples, agreed, abstained, distinct, judge: as :class:`assay.protocols.compare.methods.Answered` has them.
        error: why it gave no answer.
        votes: of an open question, by the method that this one's answer was compared with, what each rater said: 1
            where this one is better, -1, or 0.
    """

    task: str
    question: str
    expected: str | None
    method: str
    text: str
    answer: str
    right: bool | None
    samples: int
    agreed: int
    abstained: int = 0
    distinct: int = 0
    judge: str = ""
    error: str = ""
    votes: dict[str, tuple[int, ...]] = Field(default={}, exclude_if=not_)

    @property
    def checkable(self) -> bool:
        """Whether the task says what is right."""
        return self.expected is not None


class MethodFigures(Model):
    """One method over all tasks that were done.

    Args:
        score: share of right answers among checkable tasks, with its Wilson interval.
        abstained: answers that refused or said none, samples included.
        samples: independent answers behind one, on average.
        judges: how often its judge failed, by how.
        drawn: tasks with several samples; on ``alike`` of them all are the same to the letter.
        cost: micro-dollars; null where a price is not known.
    """

    method: str
    tasks: int
    checkable: int
    right: int
    errors: int
    abstained: int
    score: Interval | None
    samples: float
    judges: dict[str, int] = {}
    drawn: int = 0
    alike: int = 0
    calls: int
    tokens: int
    cost: int | None


class Comparison(Model):
    """Two methods on the same tasks, ``a`` minus ``b``.

    Args:
        only_a: checkable tasks that only ``a`` got right.
        only_b: the same for ``b``.
        difference: of the scores, with Newcombe's interval for paired proportions; null without a checkable task.
        p: McNemar's exact test, two-sided.
        p_holm: the same, corrected for the number of pairs (Holm); null in reports of before.
        p_anytime: of an e-process, corrected likewise, where the comparison may stop early; null elsewhere.
        spend: mean spend of ``a`` a task divided by that of ``b``, with a paired bootstrap interval.
        spend_in: ``"USD"`` where all prices are known, else the exchange; empty where nothing was spent.
        otherwise: the same ratio by other ways to count, where nobody was asked for nothing.
        unmeasured: why the two are not compared; empty where they are.
        rated: open questions on which raters compared the answers; the better one counts as right, the other not.
        agreed: on how many of them all raters said the same.
    """

    a: str
    b: str
    both: int
    only_a: int
    only_b: int
    neither: int
    difference: Interval | None
    p: float | None
    p_holm: float | None = None
    p_anytime: float | None = Field(default=None, exclude_if=_unset)
    spend: Interval | None
    spend_in: str
    otherwise: dict[str, float] = {}
    unmeasured: str = ""
    rated: int = Field(default=0, exclude_if=not_)
    agreed: int = Field(default=0, exclude_if=not_)

    @property
    def shown(self) -> bool:
        """Whether a difference is shown: the interval excludes none, and the corrected exact test agrees at 5%.

        Where the comparison may stop early, whether the test says so that holds for any stopping.
        """
        if self.difference is None:
            return False
        if self.p_anytime is not None:
            return self.p_anytime <= LEVEL
        p = self.p if self.p_holm is None else self.p_holm
        return 0 not in self.difference and p is not None and p <= LEVEL

    @property
    def equal_spend(self) -> bool:
        """Whether the spends are within a tenth of each other: near enough to compare the scores."""
        return self.spend is not None and is_equal(self.spend.estimate)


class Stopped(Model):
    """A comparison that was decided before its last task.

    Args:
        after: tasks that were done.
        planned: tasks that there were.
        saved: what those left out would have cost at the mean of the others, as ``saved_in`` counts.
        saved_in: as :attr:`Comparison.spend_in`.
    """

    after: int
    planned: int
    saved: int
    saved_in: str


class Figures(Model):
    """All of it."""

    methods: tuple[MethodFigures, ...]
    comparisons: tuple[Comparison, ...]
    rows: tuple[Row, ...]
    stopped: Stopped | None = Field(default=None, exclude_if=_unset)


def is_equal(ratio: float) -> bool:
    """Tell whether a ratio of spends is called equal."""
    return 0.9 <= ratio <= 1.1


class Rules(Struct):
    """How rows become figures.

    Args:
        seed: for the bootstrap.
        repeated: whether each task is asked several times; ids then end in ``#`` and which time it is.
        planned: tasks that there are, where it may stop before the last one.
        exchange: what counts as spend where prices are not known: see :func:`~.spending.paid`.
        most_failed: share of tasks; a method that failed on more is not compared.
    """

    seed: int
    planned: int | None = None
    exchange: str = PLAIN
    most_failed: float = 1.0
    repeated: bool = False

    def clustered(self, rows: Sequence[Row], values: Sequence[float], least: float) -> tuple[Interval, float]:
        """Return the mean of values of rows, several of a task, and the p-value of 0."""
        clusters = grouped((row.task.rpartition("#")[0], value) for row, value in zip(rows, values, strict=True))
        return clustered([*clusters.values()], least)

    def failed(self, method: str, rows: Sequence[Row]) -> str:
        """Tell why a method is not compared; empty where it is."""
        faults = Counter(row.error.partition(":")[0] for row in rows if row.error)
        if not rows or faults.total() <= self.most_failed * len(rows):
            return ""
        listed = ", ".join(f"{kind} {count}" for kind, count in faults.most_common(3))
        return f"{method} gave no answer on {faults.total()} of {len(rows)} tasks ({listed})"


def figures(rows: Sequence[Row], methods: Sequence[str], rules: Rules | int) -> Figures:
    """Fold rows into figures; a task counts once every method is done with it, so that pairs stay pairs.

    Args:
        rows: in the order of the tasks.
        methods: in the order of the report.
        rules: how they are counted; a number is the seed, all else as usual.
    """
    rules = Rules(rules) if isinstance(rules, int) else rules
    by_place = {(row.task, row.method): row for row in rows}
    tasks = dict.fromkeys(row.task for row in rows)
    by_task = [[by_place[task, m] for m in methods] for task in tasks if all((task, m) in by_place for m in methods)]
    by_method = dict(zip(methods, zip(*by_task, strict=True), strict=True)) if by_task else {}
    pairs = [_comparison(a, b, by_method[a], by_method[b], rules) for a, b in combinations(by_method, 2)]
    scored = [pair for pair in pairs if pair.p is not None]
    corrected = dict(zip(map(id, scored), holm([pair.p or 0.0 for pair in scored]), strict=True))
    anytime = pairs_p(right_by_method(by_task), methods) if by_task and rules.planned is not None else {}
    return Figures(
        methods=tuple(_method(method, by_method.get(method, ()), rules) for method in methods),
        comparisons=tuple(
            pair.model_copy(update={"p_holm": corrected.get(id(pair)), "p_anytime": anytime.get((pair.a, pair.b))})
            for pair in pairs
        ),
        rows=tuple(row for own in by_task for row in own),
        stopped=_stopped(by_task, methods, rules),
    )


def right_by_method(tasks: Sequence[Sequence[Row]]) -> list[dict[str, bool]]:
    """Return by method whether it was right, task by task, where something tells."""
    return [{row.method: bool(row.right) for row in own} for own in tasks if own[0].right is not None]


def settled(tasks: Sequence[Sequence[Row]], methods: Sequence[str], rules: Rules) -> bool:
    """Tell whether every pair is decided; none is while one of its methods mostly fails."""
    failing = any(rules.failed(*one) for one in zip(methods, zip(*tasks, strict=True), strict=bool(tasks)))
    return not failing and decided(right_by_method(tasks), methods)


def _stopped(tasks: Sequence[Sequence[Row]], methods: Sequence[str], rules: Rules) -> Stopped | None:
    left = (rules.planned or 0) - len(tasks)
    if not tasks or left <= 0 or not settled(tasks, methods, rules):
        return None
    taken = together([row for own in tasks for row in own])
    unit = unit_of([taken], rules.exchange)
    saved = round(paid(taken, unit) * left / len(tasks))
    return Stopped(after=len(tasks), planned=len(tasks) + left, saved=saved, saved_in=name_of(unit))


def _method(method: str, rows: Sequence[Row], rules: Rules) -> MethodFigures:
    checked = [row for row in rows if row.right is not None]
    right, taken = sum(row.right is True for row in checked), together(rows)
    return MethodFigures(
        method=method,
        tasks=len(rows),
        checkable=len(checked),
        right=right,
        errors=sum(bool(row.error) for row in rows),
        abstained=sum(row.abstained for row in rows),
        score=_score(checked, rules) if checked else None,
        samples=sum(row.samples for row in rows) / len(rows) if rows else 0.0,
        **_remarks(rows),
        calls=taken.calls,
        tokens=taken.tokens,
        cost=taken.cost,
    )


def _score(checked: Sequence[Row], rules: Rules) -> Interval:
    right = [row.right is True for row in checked]
    return rules.clustered(checked, right, 0)[0] if rules.repeated else wilson(sum(right), len(right))


def _remarks(rows: Sequence[Row]) -> dict[str, Any]:
    judges = Counter(row.judge.partition(":")[0] for row in rows if row.judge)
    drawn = [row.distinct for row in rows if row.samples > 1]
    return {"judges": dict(judges), "drawn": len(drawn), "alike": drawn.count(1)}


def _comparison(a: str, b: str, of_a: Sequence[Row], of_b: Sequence[Row], rules: Rules) -> Comparison:
    votes = [row.votes[b] for row in of_a if b in row.votes]
    checked = [row for row in of_a if row.right is not None or b in row.votes]
    pairs = [_scores(x, y) for x, y in zip(of_a, of_b, strict=True) if x.right is not None or b in x.votes]
    counts = PairedCounts.of(pairs)
    unmeasured = rules.failed(a, of_a) or rules.failed(b, of_b)
    difference = p = None
    if pairs and not unmeasured:
        difference, p = newcombe_paired(counts), mcnemar(counts.only_a, counts.only_b)
        if rules.repeated:
            difference, p = rules.clustered(checked, [x - y for x, y in pairs], -1)
    unit = unit_of([together([*of_a, *of_b])], rules.exchange)
    sums = {other: [paid(together(rows), other) for rows in (of_a, of_b)] for other in (PLAIN, SECONDS)}
    return Comparison(
        a=a,
        b=b,
        **asdict(counts),
        difference=difference,
        p=p,
        spend=_ratio([(paid(x, unit), paid(y, unit)) for x, y in zip(of_a, of_b, strict=True)], rules.seed),
        spend_in=name_of(unit) if any(paid(row, unit) for row in (*of_a, *of_b)) else "",
        otherwise={name_of(other): x / y for other, (x, y) in sums.items() if other != unit and x and y},
        unmeasured=unmeasured,
        rated=len(votes),
        agreed=sum(len({*said}) == 1 for said in votes),
    )


def _scores(x: Row, y: Row) -> tuple[bool, bool]:
    said = sum(x.votes.get(y.method, ()))
    return (bool(x.right), bool(y.right)) if x.right is not None else (said > 0, said < 0)


def _ratio(spends: Sequence[tuple[float, float]], seed: int) -> Interval | None:
    if sum(y for _, y in spends) <= 0:
        return None

    def statistic(sample: Sequence[tuple[float, float]]) -> float:
        # A method that failed before it asked anybody spent nothing there; of such tasks alone there is no ratio.
        return sum(x for x, _ in sample) / (sum(y for _, y in sample) or math.inf)

    if len(spends) < 2:
        value = statistic(spends)
        return Interval(value, value, value, 0.95)
    return paired_bootstrap(spends, statistic, rng=random.Random(seed), resamples=1000)
