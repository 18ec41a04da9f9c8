"""What is compared, by which methods, and how a comparison is run."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import combinations, takewhile
from typing import Annotated, Any, cast

from pydantic import BeforeValidator, Field, field_validator, model_validator

from assay.fields import Ui
from assay.hooks import Data, Hooks
from assay.protocol import RunContext
from assay.protocols.compare import BEHAVIOUR
from assay.protocols.compare.events import MethodAnswered
from assay.protocols.compare.figures import Row, Rules, figures, settled
from assay.protocols.compare.grading import graded, rated
from assay.protocols.compare.methods import METHODS, USUAL, Answered, Bench
from assay.protocols.compare.spending import PLAIN, USUALLY, Outlay
from assay.protocols.compare.tasks import Question
from assay.report.standing import RunVerdict
from assay.report.units import count_noun
from assay.seat_tools.offered import Tools
from llm_runtime.errors import (
    BudgetExceeded,
    CallError,
    ConfigurationError,
    DeadlineExceeded,
    LlmRuntimeError,
    ReplayMismatch,
    StoreError,
    StructuredOutputError,
)
from llm_runtime.messages import Generate
from llm_runtime.models import Model
from llm_runtime.names import ModelName
from llm_runtime.tasks import first_error, gather
from llm_runtime.wrappers.metered import Meter

#: What ends the whole comparison; every other failure is the failing method's own, and counts against it.
_ENDING = (BudgetExceeded, ConfigurationError, DeadlineExceeded, ReplayMismatch, StoreError)


_NUMBER = r"(0|[1-9]\d{0,3})(\.\d{1,4})?"


def _numbered(tasks: Any) -> Any:
    """Make tasks of texts, by their places."""
    texts = enumerate(cast("list[Any]", tasks), 1) if isinstance(tasks, list) else ()
    numbered = [{"id": str(at), "question": one} if isinstance(one, str) else one for at, one in texts]
    return numbered or cast("Any", tasks)


class Task(Model):
    """Questions that every method answers."""

    tasks: Annotated[
        list[Question],
        BeforeValidator(_numbered, json_schema_input_type=list[str | Question]),
        Ui(kind="file", doors=("form",), reads="assay.protocols.compare.datasets:read_tasks", advanced=False),
    ] = Field(min_length=1)
    """One task a line, as JSON: {"question": "...", "expected": "..."}; what is expected may be left out."""
    source: Annotated[str, Ui(hidden=True)] = ""
    """Where they were read from."""


class Options(Model):
    """Which methods, and how many samples."""

    methods: Annotated[tuple[str, ...], Ui(metavar="A,B", show_default=True)] = USUAL
    """Of single, self-consistency, self-correction, best-of-n, dearer, council, council-without-red-team,
    mixed-panel and routed, at least one."""
    samples: Annotated[int, Ui(show_default=True)] = Field(default=5, ge=1, le=64)
    """Of self-consistency, where no council's spend sets them."""
    at_once: Annotated[int, Ui(show_default=True)] = Field(default=4, ge=1, le=64)
    """Tasks at one time."""
    repeat: Annotated[int, Ui(show_default=True, metavar="N")] = Field(default=1, ge=1, le=20)
    """Ask each task so often, each time anew; intervals then count tasks, not answers."""
    early: Annotated[bool, Ui(label="Stop once it is decided")] = False
    """Stop as soon as every pair of methods is decided, by tests that hold whenever one stops."""
    exchange: Annotated[str, Ui(metavar="1:N", show_default=True)] = Field(
        default=USUALLY, pattern=rf"^(1:{_NUMBER}(:{_NUMBER})?|seconds)$"
    )
    """What counts as spend where prices are not known: a token of output as N of input and one from a cache as half
    of one (1:C:N as C of one), or the seconds that calls took."""
    most_failed: Annotated[float, Ui(show_default=True, metavar="SHARE")] = Field(default=0.1, ge=0, le=1)
    """Share of the tasks: a method that gave no answer on more is not compared."""
    models: Annotated[tuple[ModelName, ...], Ui(metavar="A,B,C", label="Panel")] = ()
    """Models that the seats of the mixed panel take in turn: ids, or PROVIDER:MODEL."""
    raters: Annotated[int, Ui(show_default=True, metavar="N")] = Field(default=0, ge=0, le=5)
    """Readers of open questions: each compares every two answers twice, in either order, and is not told who wrote
    which. The seat rater2 is the second of them."""
    tools: Tools = ()
    """Tools that every method may use to look things up."""

    @model_validator(mode="after")
    def _panel(self) -> Options:
        if "mixed-panel" in self.methods and len(self.models) < 2:
            raise ValueError("a mixed panel needs two models or more: --models A,B")
        if self.early and self.repeat > 1:
            raise ValueError("whether it is decided can be told of tasks that are asked once: no repeat with early")
        return self

    def times(self, tasks: Sequence[Question]) -> Sequence[Question]:
        """Return each time that a task is asked: all in order, then all again, by ids of their own."""
        if self.repeat == 1:
            return tasks
        return [one.model_copy(update={"id": f"{one.id}#{n + 1}"}) for n in range(self.repeat) for one in tasks]

    def rules(self, seed: int, tasks: int) -> Rules:
        """Return how the rows of so many tasks become figures."""
        return Rules(seed, tasks if self.early else None, self.exchange, self.most_failed, self.repeat > 1)

    @field_validator("methods")
    @classmethod
    def _known(cls, methods: tuple[str, ...]) -> tuple[str, ...]:
        if not methods or set(methods) - METHODS.keys():
            raise ValueError(f"choose of {', '.join(METHODS)}")
        return tuple(dict.fromkeys(methods))


class ComparisonHooks(Hooks[Task, Options]):
    """What a comparison of methods does."""

    told = "assay.protocols.compare.story:CompareFold"
    changed = {"exchange": ("compare", 4, PLAIN), "most_failed": ("compare", 4, 1.0)}
    always_asked = ("openrouter/auto",)  # the model of the methods without a panel
    several = True

    async def run(self, task: Task, options: Options, context: RunContext) -> Data:
        """Put every task to every method; the result is :class:`assay.protocols.compare.figures.Figures` as data.

        Raises:
            LlmRuntimeError: the budget, the time, the configuration or the store ends it.
        """
        if "dearer" in options.methods and "dearer" not in context.terms.seats:
            raise ConfigurationError("the method dearer needs its model: --seat dearer=MODEL")
        methods, done = list(options.methods), dict[str, list[Row]]()
        told = (context.emit, options.models, None, options.exchange, options.raters)
        bench = Bench(context.seed, options.samples, *told)
        rules, turn = options.rules(context.seed, len(task.tasks)), asyncio.Semaphore(options.at_once)

        async def each(question: Question) -> list[Row]:
            async with turn:
                # The order is theirs: those that are done count up to the first that is not.
                first = takewhile(lambda question: question.id in done, task.tasks)
                if options.early and settled([done[question.id] for question in first], methods, rules):
                    return []
                own = replace(bench, seed=bench.seed_of(question, "time")) if options.repeat > 1 else bench
                done[question.id] = await _compared(question, methods, context.generate, own)
                return done[question.id]

        rows = [row for answers in await gather(map(each, options.times(task.tasks))) for row in answers]
        return figures(rows, methods, rules).model_dump(mode="json")

    def title_of(self, task: Task) -> str:
        """Return one line for lists."""
        return f"Methods compared on {task.source or 'questions'}"

    def units(self, task: Task) -> int:
        """Return how many tasks there are."""
        return len(task.tasks)

    def read_anew(self, options: Options) -> tuple[str, ...]:
        """Return what scorers read out of answers that before number 9 were read in fewer forms."""
        return ("methods", "comparisons", "rows") if BEHAVIOUR.before(9) else ()

    def panel(self, options: Options) -> tuple[str, ...]:
        """Return the models that the user put into seats."""
        return options.models

    def outcome(self, result: Mapping[str, Any]) -> RunVerdict:
        """Return which method was right how often."""
        checked = Counter[str]()
        for row in result["rows"]:
            checked.update({row["method"]: int(row["right"])} if row["right"] is not None else {})
        failed = sum(bool(row["error"]) for row in result["rows"])
        tasks = count_noun(len({row["task"] for row in result["rows"]}), "task")
        rights = ", ".join(f"{method} {right} right" for method, right in checked.items())
        return RunVerdict(tasks, rights, f"{count_noun(failed, 'answer')} failed" if failed else "")


async def _compared(task: Question, methods: list[str], generate: Generate, bench: Bench) -> list[Row]:
    """One task by every method; the council goes first, for its spend is what the others may have."""
    rows: dict[str, Row] = {}
    for method in sorted(methods, key=lambda name: name != "council"):
        meter = Meter(generate)
        try:
            answered, error = await METHODS[method](task, meter, bench), ""
        except (LlmRuntimeError, ExceptionGroup) as fault:
            cause = first_error(fault)
            if isinstance(cause, _ENDING) or not isinstance(cause, LlmRuntimeError):
                raise cause from None
            answered, error = Answered("", ""), f"{type(cause).__name__}: {cause}"[:500]
        if method == "council" and (meter.calls if not BEHAVIOUR.before(4) else not error):
            bench = replace(bench, against=meter)
        # A method that gave no answer gave no right one.
        found = (None, "") if error else await graded(task, answered.answer, generate, bench.seed)
        rows[method] = _row(task, method, answered, meter, error, *found)
        bench.emit(MethodAnswered(row=rows[method].model_dump(mode="json")))
    await _rated(task, rows, methods, generate, bench)
    return [rows[method] for method in methods]


async def _rated(task: Question, rows: dict[str, Row], methods: list[str], generate: Generate, bench: Bench) -> None:
    """Add what raters say of each two answers to an open question to the row of the first."""
    for a, b in combinations(methods if bench.raters and not task.checkable else (), 2):
        texts, update = (rows[a].text, rows[b].text), dict[str, object]()
        try:
            said = await rated(task, texts, f"{a}-{b}", bench.raters, generate, bench.seed)
            update["votes"] = {**rows[a].votes, b: tuple(said)}
        except (CallError, StructuredOutputError) as fault:
            update["judge"] = f"{type(fault).__name__}: {fault}"[:300]
        rows[a] = rows[a].model_copy(update=update)
        bench.emit(MethodAnswered(row=rows[a].model_dump(mode="json")))


def _row(
    task: Question, method: str, answered: Answered, meter: Meter, error: str, right: bool | None, judge: str
) -> Row:
    said = {**asdict(answered), "answer": answered.answer if task.checkable else ""}
    said["judge"] = said["judge"] or judge
    return Row(
        task=task.id,
        question=task.question,
        expected=task.regex if task.expected is None else ", ".join(task.wanted),
        method=method,
        right=False if error and task.checkable else right,
        error=error,
        **said,
        **Outlay.of(meter).model_dump(),
    )
