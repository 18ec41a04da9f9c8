"""The report on a comparison: who was right more often at what spend, first; then pair by pair and task by task."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from assay.protocols.compare.events import MethodAnswered
from assay.protocols.compare.figures import Bounds, Comparison, Figures, MethodFigures, Row, Stopped, figures
from assay.registry import opened
from assay.report.clean import one_line
from assay.report.generic import GenericFold
from assay.report.matrix import Cell, Matrix, MatrixRow
from assay.report.progress import Progress
from assay.report.story import (
    Block,
    Details,
    Fact,
    Figure,
    Note,
    Plain,
    Prose,
    Quote,
    Section,
    Story,
    Table,
    Voice,
    columns,
)
from assay.report.svg.bars import Bar, bar_chart
from assay.report.svg.intervals import Dot, interval_figure
from assay.report.units import count, count_noun, money, short_count
from llm_runtime.errors import ConfigurationError
from llm_runtime.events import Event, RunStarted

if TYPE_CHECKING:
    from assay.protocols.compare.task import Options, Task

_FEW_PAIRS = 20
_MOST_TASKS = 200
_ACCENTS = {
    "single": "c0",
    "council": "c1",
    "self-consistency": "c2",
    "best-of-n": "c3",
    "council-without-red-team": "c4",
    "mixed-panel": "c5",
}


class CompareFold(GenericFold):
    """The fold over a comparison's run, finished or under way."""

    protocol = "Compare"

    def __init__(self, keep: int | None = None) -> None:
        super().__init__(keep)
        self._tasks: list[str] = []
        self._methods: list[str] = []
        self._early = False
        self._rows: dict[tuple[str, str], Row] = {}

    def apply(self, event: Event, at: int) -> None:
        """Take in the next event."""
        super().apply(event, at)
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
        seed = self.run.started.seed if self.run.started else 0
        rows = [row for task in self._tasks for method in self._methods if (row := self._rows.get((task, method)))]
        return figures(rows, self._methods, seed, len(self._tasks) if self._early else None)

    def story(self) -> Story:
        """Return the report."""
        plain = super().story()
        result, tasks = self.figures(), len(self._tasks)
        sections = [*_scores(result, tasks), *_pairs(result), *_spend(result), *_tasks(result), _how()]
        done = len({row.task for row in result.rows})
        return Story(
            plain.title,
            "Compare",
            facts=(Fact("Tasks", f"{done} of {tasks}"), *plain.facts),
            sections=(*sections, *plain.sections),
            matrix=self._matrix(),
        )

    def _matrix(self) -> Matrix:
        run_id = self.run.started.run_id if self.run.started else ""

        def cell(row: Row | None) -> Cell | None:
            if row is None:
                return None
            text = row.error or row.answer or row.text
            return Cell(
                run_id,
                f"{row.task}/{row.method}",
                one_line(text, 300),
                "failed" if row.error else "done",
                row.right,
                row.cost,
            )

        rows: list[MatrixRow] = []
        for task in self._tasks:
            of_task = [self._rows.get((task, method)) for method in self._methods]
            asked = next((row.question for row in of_task if row), task)
            rows.append(MatrixRow(one_line(asked, 300), tuple(map(cell, of_task))))
        return Matrix(tuple(self._methods), tuple(rows))

    def _begin(self, started: RunStarted) -> None:
        # What does not fit leaves a report of calls and sums alone.
        with suppress(ConfigurationError):
            run = opened(started)
            self._tasks = [question.id for question in cast("Task", run.task).tasks]
            options = cast("Options", run.options)
            self._methods, self._early = list(options.methods), options.early


def _answered(fold: CompareFold, event: MethodAnswered) -> str:
    row = Row.model_validate(event.row)
    how = {True: "right", False: "wrong", None: "answered"}[row.right]
    return f"{one_line(row.task, 40)}: {row.method} {'failed' if row.error else how}"


CompareFold.lines = {MethodAnswered: _answered}


def _scores(result: Figures, tasks: int) -> list[Section]:
    if not result.rows:
        return [Section("What was found", (Note("No task is done by every method yet.", "warning"),))]
    blocks: list[Block] = [Prose(in_short(result), lead=True)]
    dots = [
        Dot(m.method, m.score.estimate, m.score.low, m.score.high, _accent(m.method))
        for m in result.methods
        if m.score
    ]
    if dots:
        caption = "Share of checkable tasks answered right, with its 95% Wilson interval."
        blocks.append(interval_figure(dots, "Right answers", caption, write=_percent, high=1.0))
    blocks.append(_methods(result.methods))
    checkable = result.methods[0].checkable
    if dots and checkable < _FEW_PAIRS:
        blocks.append(Note(f"{count_noun(checkable, 'task')} can show only large differences.", "warning"))
    if result.stopped:
        blocks.append(Note(_saved(result.stopped)))
    elif len(result.rows) < tasks * len(result.methods):
        blocks.append(Note("Not every task is done by every method; the others are left out.", "warning"))
    return [Section("What was found", tuple(blocks))]


def _saved(stopped: Stopped) -> str:
    left = stopped.planned - stopped.after
    saved = money(stopped.saved) if stopped.saved_in == "USD" else f"{short_count(stopped.saved)} tokens"
    return (
        f"Every pair was decided after {stopped.after} of {count_noun(stopped.planned, 'task')}, so the other "
        f"{left} were not asked: about {saved} saved, at the mean spend of those that were. The test holds "
        "whenever one stops; differences of a comparison that stopped early look larger than they are."
    )


def in_short(result: Figures) -> str:
    """Write what the comparison shows, in a paragraph that claims no more than the intervals do."""
    lines: list[str] = [_verdict(pair) for pair in result.comparisons]
    if not any(method.score for method in result.methods):
        return "No task says what a right answer is, so nothing was scored: spend and answers stand side by side."
    return "\n\n".join(lines)


def _verdict(pair: Comparison) -> str:
    if pair.difference is None:
        return f"{pair.a} and {pair.b}: nothing was scored."
    gap = pair.difference
    tasks = pair.both + pair.only_a + pair.only_b + pair.neither
    bounds = f"{_points(gap.estimate)}, 95% interval {_points(gap.low)} to {_points(gap.high)}"
    if pair.shown:
        better, worse = (pair.a, pair.b) if gap.estimate > 0 else (pair.b, pair.a)
        words = f"**{better} was right more often than {worse}** on these {tasks} tasks ({bounds})"
    else:
        words = f"**No difference shown** between {pair.a} and {pair.b} on these {tasks} tasks ({bounds})"
    return f"{words}{_at_what(pair)}."


def _at_what(pair: Comparison) -> str:
    if pair.spend is None:
        return ""
    if pair.equal_spend:
        return f", at about equal spend ({pair.spend.estimate:.2f}×)"
    return f", **not at equal spend**: {pair.a} took {pair.spend.estimate:.2f}× what {pair.b} took"


def _methods(methods: tuple[MethodFigures, ...]) -> Table:
    heads = ("Right", "Score", "95% interval", "No answer", "Samples", "Calls", "Tokens", "Cost")
    rows = tuple(
        (
            m.method,
            f"{m.right} of {m.checkable}" if m.checkable else "–",
            _percent(m.score.estimate) if m.score else "–",
            f"{_percent(m.score.low)} to {_percent(m.score.high)}" if m.score else "–",
            str(m.errors),
            f"{m.samples:.1f}",
            count(m.calls),
            short_count(m.tokens),
            "–" if m.cost is None else money(m.cost),
        )
        for m in methods
    )
    return Table(columns("Method", numbers=heads), rows)


def _pairs(result: Figures) -> list[Section]:
    scored = [pair for pair in result.comparisons if pair.difference]
    if not scored:
        return []
    dots = [
        Dot(f"{p.a} − {p.b}", p.difference.estimate, p.difference.low, p.difference.high, _accent(p.a))
        for p in scored
        if p.difference
    ]
    caption = (
        "Difference of scores on the same tasks, with Newcombe's 95% interval for paired proportions. An interval "
        "that holds 0 shows no difference; it does not show that there is none."
    )
    heads = (
        "Both right",
        "Only first",
        "Only second",
        "Neither",
        "Difference",
        "95% interval",
        "McNemar p",
        "p, Holm",
        *(("p, any time",) if any(pair.p_anytime is not None for pair in scored) else ()),
        "Spend",
    )
    rows = tuple(_pair(pair, pair.difference) for pair in scored if pair.difference)
    table = Table(columns("Pair", numbers=heads), rows)
    return [
        Section("Pair by pair", (interval_figure(dots, "Differences of scores", caption, write=_points), table))
    ]


def _pair(pair: Comparison, gap: Bounds) -> tuple[str, ...]:
    spend = pair.spend
    return (
        f"{pair.a} − {pair.b}",
        str(pair.both),
        str(pair.only_a),
        str(pair.only_b),
        str(pair.neither),
        _points(gap.estimate),
        f"{_points(gap.low)} to {_points(gap.high)}",
        "–" if pair.p is None else f"{pair.p:.3f}",
        "–" if pair.p_holm is None else f"{pair.p_holm:.3f}",
        *(() if pair.p_anytime is None else (f"{pair.p_anytime:.3f}",)),
        f"{spend.estimate:.2f}×" if spend else "–",
    )


def _spend(result: Figures) -> list[Section]:
    if not result.rows:
        return []
    priced = all(m.cost is not None for m in result.methods) and any(m.cost for m in result.methods)
    amounts = [
        Bar(m.method, m.cost or 0, money(m.cost or 0), _accent(m.method))
        if priced
        else Bar(m.method, m.tokens, f"{short_count(m.tokens)} tokens", _accent(m.method))
        for m in result.methods
    ]
    words = "; ".join(f"{bar.name}: {bar.written}" for bar in amounts)
    svg = bar_chart(amounts, "Spend", f"{words}.")
    blocks: list[Block] = [Figure(svg, "What each method took for all tasks together.", f"{words}.")]
    ratios = [
        f"{p.a} took {p.spend.estimate:.2f}× what {p.b} took in {p.spend_in}, "
        f"95% interval {p.spend.low:.2f} to {p.spend.high:.2f}"
        for p in result.comparisons
        if p.spend
    ]
    if ratios:
        blocks.append(Plain("\n".join(ratios)))
    unequal = [f"{p.a} and {p.b}" for p in result.comparisons if p.spend and not p.equal_spend]
    if unequal:
        blocks.append(
            Note(
                f"Not at equal spend: {'; '.join(unequal)}. A better score there may be what more calls buy.",
                "warning",
            )
        )
    return [Section("Spend", tuple(blocks))]


def _tasks(result: Figures) -> list[Section]:
    tasks = list(dict.fromkeys(row.task for row in result.rows))
    blocks: list[Block] = []
    for task in tasks[:_MOST_TASKS]:
        rows = [row for row in result.rows if row.task == task]
        inner: list[Block] = [Quote(rows[0].question, "asked")]
        if rows[0].expected is not None:
            inner.append(Plain(f"Right is: {rows[0].expected}"))
        inner += [Voice(row.method, _answer(row), _accent(row.method), _remark(row)) for row in rows]
        marks = " ".join(f"{row.method} {_sign(row)}" for row in rows)
        blocks.append(Details(f"{one_line(task, 60)}: {one_line(rows[0].question, 70)}  ({marks})", tuple(inner)))
    if len(tasks) > _MOST_TASKS:
        blocks.append(Note(f"{count(len(tasks) - _MOST_TASKS)} more tasks are in the JSON report."))
    return [Section("Task by task", tuple(blocks))] if blocks else []


def _answer(row: Row) -> tuple[Block, ...]:
    if row.error:
        return (Note(f"No answer: {row.error}", "bad"),)
    return (Prose(row.text),)


def _remark(row: Row) -> str:
    parts = [_sign(row)] if row.right is not None else []
    if row.agreed:
        parts.append(f"{row.agreed} of {row.samples} samples agree")
    elif row.samples > 1:
        parts.append(count_noun(row.samples, "sample"))
    parts.append(count_noun(row.calls, "call"))
    parts.append(f"{short_count(row.tokens)} tokens" if row.cost is None else money(row.cost))
    return ", ".join(parts)


def _sign(row: Row) -> str:
    return "no answer" if row.error else {True: "✓", False: "×", None: "–"}[row.right]


def _how() -> Section:
    text = (
        "Every method is asked the same words. A checkable task asks for a last line that reads ANSWER:, and "
        "only that line is checked. Self-consistency draws independent samples; of a checkable task it takes "
        "the majority, of an open one it writes one synthesis. Best-of-n has a judge choose one of them. Where "
        "a council takes part, it answers first, and samples are drawn until they have spent what it spent on "
        "that task; those that fail are left out, as a council goes on without a seat, and blanks are no votes. "
        "A single call spends less by its nature: it is the baseline. A council without a red team revises by "
        "its seats' positions alone; a mixed panel has different models in its seats. A method that gave no "
        "answer counts as wrong. Scores carry Wilson intervals, differences Newcombe's interval for paired "
        "proportions (1998), p is McNemar's exact test, corrected by Holm for the number of pairs (1979), "
        "ratios of spend carry a paired bootstrap interval. A difference is called shown where the interval "
        "excludes 0 and the corrected p is at most 0.05; where it may stop early, the p at any time: that of two "
        "e-processes over the tasks that only one of a pair got right (betting, Waudby-Smith & Ramdas 2024), "
        "corrected by Holm. All of it is about these tasks and this model."
    )
    return Section("How it was compared", (Plain(text),))


def _accent(method: str) -> str:
    return _ACCENTS.get(method, "quiet")


def _percent(value: float) -> str:
    return f"{value:.0%}"


def _points(value: float) -> str:
    points = round(value * 100)
    return "0 pp" if points == 0 else f"{'+' if points > 0 else '−'}{abs(points)} pp"
