"""Runs a comparison from a run's opening: ``task`` holds the tasks, ``settings["engine"]`` methods and samples.

Being a run like any other, it is recorded, replayed, resumed without paying twice, and forked.
"""

from __future__ import annotations

import asyncio
from typing import Any

from assay.protocols.compare.events import MethodAnswered
from assay.protocols.compare.figures import Row, figures
from assay.protocols.compare.methods import Answered, Bench, Meter, council, self_consistency, single
from assay.protocols.compare.tasks import Task
from llm_runtime.errors import (
    BudgetExceeded,
    ConfigurationError,
    DeadlineExceeded,
    LlmRuntimeError,
    ReplayMismatch,
    StoreError,
)
from llm_runtime.events import Emit, RunStarted
from llm_runtime.messages import Generate

#: What ends the whole comparison; every other failure is the failing method's own, and counts against it.
_ENDING = (BudgetExceeded, ConfigurationError, DeadlineExceeded, ReplayMismatch, StoreError)


async def run(started: RunStarted, generate: Generate, emit: Emit) -> dict[str, Any]:
    """Put every task to every method; the result is :class:`assay.protocols.compare.figures.Figures` as data.

    Raises:
        LlmRuntimeError: the budget, the time, the configuration or the store ends it.
    """
    engine = started.settings.get("engine", {})
    tasks = [Task.model_validate(task) for task in started.task["tasks"]]
    methods: list[str] = engine["methods"]
    bench = Bench(started.seed, engine.get("samples", 5), emit)
    turn = asyncio.Semaphore(engine.get("at_once", 4))

    async def each(task: Task) -> list[Row]:
        async with turn:
            return await _compared(task, methods, generate, bench)

    async with asyncio.TaskGroup() as group:
        running = [group.create_task(each(task)) for task in tasks]
    rows = [row for done in running for row in done.result()]
    return figures(rows, methods, started.seed).model_dump(mode="json")


async def _compared(task: Task, methods: list[str], generate: Generate, bench: Bench) -> list[Row]:
    """One task by every method; the council goes first, for its spend sets the number of samples."""
    rows: dict[str, Row] = {}
    spent: Meter | None = None
    for method in sorted(methods, key=lambda name: name != "council"):
        meter = Meter(generate)
        try:
            answered, error = await _by(method, task, meter, bench, spent), ""
        except _ENDING:
            raise
        except (LlmRuntimeError, ExceptionGroup) as fault:
            ended = _ending(fault)
            if ended is not None:
                raise ended from None
            answered, error = Answered("", ""), _said(fault)
        if method == "council" and not error:
            spent = meter
        rows[method] = _row(task, method, answered, meter, error)
        bench.emit(MethodAnswered(row=rows[method].model_dump(mode="json")))
    return [rows[method] for method in methods]


async def _by(method: str, task: Task, meter: Meter, bench: Bench, spent: Meter | None) -> Answered:
    if method == "council":
        return await council(task, meter, bench)
    if method == "self-consistency":
        return await self_consistency(task, meter, bench, spent)
    return await single(task, meter, bench)


def _row(task: Task, method: str, answered: Answered, meter: Meter, error: str) -> Row:
    return Row(
        task=task.id,
        question=task.question,
        expected=task.regex if task.expected is None else str(task.expected),
        method=method,
        text=answered.text,
        answer=answered.answer if task.checkable else "",
        # A method that gave no answer gave no right one.
        right=(False if task.checkable else None) if error else task.right(answered.answer),
        samples=answered.samples,
        agreed=answered.agreed,
        calls=meter.calls,
        input_tokens=meter.input_tokens,
        output_tokens=meter.output_tokens,
        cost=meter.cost,
        error=error,
    )


def _ending(fault: BaseException) -> LlmRuntimeError | None:
    """What ends the comparison, where a group of failures holds such a one; any stranger is raised as it is."""
    if isinstance(fault, BaseExceptionGroup):
        inner: list[BaseException] = list(fault.exceptions)  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
        found = [ended for one in inner if (ended := _ending(one))]
        return found[0] if found else None
    if isinstance(fault, _ENDING):
        return fault
    if not isinstance(fault, LlmRuntimeError):
        raise fault
    return None


def _said(fault: BaseException) -> str:
    if isinstance(fault, BaseExceptionGroup):
        inner: tuple[BaseException, ...] = fault.exceptions  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
        return _said(inner[0])
    return f"{type(fault).__name__}: {fault}"[:500]
