"""The report on a comparison: who was right more often at what spend, first; then pair by pair and task by task."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, cast

from assay.protocols.compare.events import MethodAnswered
from assay.protocols.compare.figures import Comparison, Figures, Row, Rules, figures, is_equal
from assay.protocols.compare.methods import METHODS
from assay.registry import opened
from assay.report.clean import one_line
from assay.report.generic import GenericFold
from assay.report.outline import Own, Scope, Writing, read_outline
from assay.report.progress import Progress
from assay.report.story import Fact, Figure, Story
from assay.report.svg.bars import Bar, bar_chart
from assay.report.units import count_noun, money, points, saved, short_count
from llm_runtime.errors import ConfigurationError
from llm_runtime.events import Event, RunStarted
from llm_runtime.grouping import grouped

if TYPE_CHECKING:
    from assay.protocols.compare.task import Options, Task

_FEW_PAIRS = 20
_MOST_TASKS = 200
_UNEQUAL = "no verdict, not at equal spend"


class CompareFold(GenericFold):
    """The fold over a comparison's run, finished or under way."""

    protocol = "Compare"

    def _start(self) -> None:
        self._tasks: list[str] = []
        self._methods: list[str] = []
        self._rules = Rules(0)
        self._rows: dict[tuple[str, str], Row] = {}

    def _take(self, event: Event, at: int) -> None:
        if isinstance(event, RunStarted):
            self._begin(event)
        elif isinstance(event, MethodAnswered):
            row = Row.model_validate(event.row)
            self._rows[row.task, row.method] = row

    def progress(self) -> Progress:
        """Return calls and sums, and how many answers there are."""
        done = f"{len(self._rows)} of {len(self._tasks) * len(self._methods)} answers"
        return replace(super().progress(), phase=done)

    def figures(self) -> Figures:
        """Return the figures of the tasks that every method is done with."""
        rows = [row for task in self._tasks for method in self._methods if (row := self._rows.get((task, method)))]
        return figures(rows, self._methods, self._rules)

    def story(self) -> Story:
        """Return the report."""
        plain = super().story()
        result, tasks = self.figures(), len(self._tasks)
        said = grouped((row.task, row.error or row.answer or row.text) for row in self._rows.values())
        made = {**_made(result, tasks), "answers": self._rows.values(), "run_id": self.run_id}

        def alike(row: Row) -> str:
            return "differ" if len(set(said[row.task])) > 1 else "same"

        own: Own = {"spend": lambda _: [_spend(result)]}
        told = _outline().story(Writing({**result.__dict__, **made}, {**_FORMS, "alike": alike}, own))
        facts = Fact("Tasks", f"{len({row.task for row in result.rows})} of {tasks}"), *plain.facts
        return replace(told, title=plain.title, facts=facts, sections=(*told.sections, *plain.sections))

    def _begin(self, started: RunStarted) -> None:
        # What does not fit leaves a report of calls and sums alone.
        with suppress(ConfigurationError):
            run = opened(started)
            options = cast("Options", run.options)
            self._tasks = [question.id for question in options.times(cast("Task", run.task).tasks)]
            self._methods = list(options.methods)
            self._rules = options.rules(started.seed, len(self._tasks))


def _answered(fold: CompareFold, event: MethodAnswered) -> str:
    row = Row.model_validate(event.row)
    how = {True: "right", False: "wrong", None: "answered"}[row.right]
    return f"{one_line(row.task, 40)}: {row.method} {'failed' if row.error else how}"


CompareFold.lines = {MethodAnswered: _answered}


def _made(result: Figures, tasks: int) -> Scope:
    """Return what the report tells of the figures and they do not hold themselves."""
    by_task = grouped((row.task, row) for row in result.rows)
    scored = [pair for pair in result.comparisons if pair.difference]
    spent = [(pair, pair.spend) for pair in result.comparisons if pair.spend]
    checkable = [method.checkable for method in result.methods if method.score]
    return {
        "in_short": in_short(result),
        "few": checkable and checkable[0] < _FEW_PAIRS,
        "left": result.stopped and result.stopped.planned - result.stopped.after,
        "left_out": len(result.rows) < tasks * len(result.methods),
        "scored": scored,
        "anytime": any(pair.p_anytime is not None for pair in scored),
        "ratios": "\n".join(
            f"{p.a} took {spend.estimate:.2f}× what {p.b} took in {p.spend_in}, "
            f"95% interval {spend.low:.2f} to {spend.high:.2f}"
            for p, spend in spent
        ),
        "counted": [row for pair in scored for row in _counted(pair)],
        "judged": [method for method in result.methods if method.judges],
        "alike": [method for method in result.methods if method.alike],
        "tasks": list(by_task.values())[:_MOST_TASKS],
        "more": max(len(by_task) - _MOST_TASKS, 0),
    }


def _spend(result: Figures) -> Figure:
    costs = [method.cost for method in result.methods]
    amounts = [(method.tokens, f"{short_count(method.tokens)} tokens") for method in result.methods]
    if any(costs) and None not in costs:
        amounts = [(cost, money(cost)) for cost in costs if cost is not None]
    told = [(method.method, *amount) for method, amount in zip(result.methods, amounts, strict=True)]
    bars = [Bar(name, amount, written, _accent(name)) for name, amount, written in told]
    words = f"{'; '.join(f'{name}: {written}' for name, _, written in told)}."
    return Figure(bar_chart(bars, "Spend", words), "What each method took for all tasks together.", words)


def in_short(result: Figures) -> str:
    """Write what the comparison shows, in a paragraph that claims no more than the intervals do."""
    if not any(method.score for method in result.methods) and not any(pair.rated for pair in result.comparisons):
        return "No task says what a right answer is, so nothing was scored: spend and answers stand side by side."
    return "\n\n".join(map(_verdict, result.comparisons))


def _verdict(pair: Comparison) -> str:
    if pair.unmeasured:
        return f"**Not measured**: {pair.a} and {pair.b}, for {pair.unmeasured}."
    if pair.difference is None:
        return f"{pair.a} and {pair.b}: nothing was scored."
    gap = pair.difference
    on = f"on these {count_noun(pair.both + pair.only_a + pair.only_b + pair.neither, 'task')}"
    bounds = f"{points(gap.estimate)}, 95% interval {points(gap.low)} to {points(gap.high)}"
    if not pair.equal_spend:
        spent = "what they took is not known"
        if pair.spend:
            spent = f"{pair.a} took {pair.spend.estimate:.2f}× what {pair.b} took in {pair.spend_in}"
        return (
            f"**No verdict** between {pair.a} and {pair.b}, **not at equal spend**: {spent}, "
            f"with {pair.both + pair.only_a} and {pair.both + pair.only_b} {_good(pair)} {on} ({bounds})."
        )
    spent = f"{pair.spend.estimate:.2f}× in {pair.spend_in}" if pair.spend else ""
    told = f"**{_found(pair)}** {on} ({bounds}), at about equal spend ({spent})."
    return f"{told} Raters agreed on {pair.agreed} of {pair.rated}." if pair.rated else told


def _good(pair: Comparison) -> str:
    return "found better" if pair.rated else "right"


def _found(pair: Comparison) -> str:
    if not pair.shown or pair.difference is None:
        return f"No difference shown between {pair.a} and {pair.b}"
    better, worse = (pair.a, pair.b) if pair.difference.estimate > 0 else (pair.b, pair.a)
    return f"{better} was {_good(pair)} more often than {worse}"


def _counted(pair: Comparison) -> list[tuple[str, str, str, str]]:
    """Return a pair's verdict by each way to count what was spent."""
    own, name = {pair.spend_in: pair.spend.estimate} if pair.spend else {}, f"{pair.a} − {pair.b}"
    ratios = {**own, **pair.otherwise}.items()
    return [(name, unit, f"{by:.2f}×", _found(pair) if is_equal(by) else _UNEQUAL) for unit, by in ratios]


def _remark(row: Row) -> str:
    parts = [_sign(row)] if row.right is not None else []
    if row.abstained:
        parts.append(f"{row.abstained} abstained")
    if row.judge:
        parts.append(f"judge failed: {row.judge}")
    if row.agreed:
        parts.append(f"{row.agreed} of {row.samples} samples agree")
    elif row.samples > 1:
        parts.append(count_noun(row.samples, "sample"))
    preferred = ((other, len(said), sum(one > 0 for one in said)) for other, said in row.votes.items())
    parts += [f"{better} of {count_noun(of, 'rater')} prefer it to {other}" for other, of, better in preferred]
    parts.append(count_noun(row.calls, "call"))
    parts.append(f"{short_count(row.tokens)} tokens" if row.cost is None else money(row.cost))
    return ", ".join(parts)


def _cause(row: Row) -> str:
    return row.error.partition(":")[0] or ("wrong" if row.right is False else "")


def _sign(row: Row) -> str:
    return "no answer" if row.error else {True: "✓", False: "×", None: "–"}[row.right]


def _accent(method: str) -> str:
    return f"c{[*METHODS].index(method) % 6}" if method in METHODS else "quiet"


_FORMS: Mapping[str, Callable[[Any], str]] = {
    "accent": _accent,
    "cause": _cause,
    "faults": lambda faults: ", ".join(f"{fault} {count}" for fault, count in faults.items()),
    "remark": _remark,
    "right": lambda method: f"{method.right} of {method.checkable}" if method.checkable else "–",
    "saved": lambda stopped: saved(stopped.saved, stopped.saved_in),
    "signs": lambda rows: " ".join(f"{row.method} {_sign(row)}" for row in rows),
    "standing": lambda row: "failed" if _cause(row) else "passed" if row.right else "done",
    "sum": lambda faults: str(sum(faults.values())),
    "told": lambda row: row.error or row.text,
    "times": lambda ratio: f"{ratio:.2f}×",
}
_outline = cache(partial(read_outline, __package__ or "", "story.toml"))
