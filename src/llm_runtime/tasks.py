"""Concurrent work whose first failure ends the rest, and is raised as itself."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar, cast

from llm_runtime.errors import BudgetExceeded, LlmRuntimeError
from llm_runtime.structs import Struct

T = TypeVar("T")


class AnswerAwaited(asyncio.CancelledError):
    """A call was cancelled that a vendor's batch answers all the same: whoever asks it again takes that answer."""


async def gather(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Run coroutines side by side; return their results in the order given.

    A failure ends the others, but for a budget that is used up: their calls under way are paid for, so they go on
    until the budget refuses them as well.

    Raises:
        Exception: the failure of the first coroutine in that order that failed, whichever failed first in time;
            by then every other coroutine has ended.
    """
    tasks: list[asyncio.Task[T | _Refused]] = []
    try:
        async with asyncio.TaskGroup() as group:
            tasks += [group.create_task(_unless_refused(one)) for one in work]
    except BaseExceptionGroup as caught:
        faults = [fault for task in tasks if not task.cancelled() and (fault := task.exception())]
        raise first_error(BaseExceptionGroup("", [*faults, *caught.exceptions])) from None
    results: list[T] = []
    for task in tasks:
        result = task.result()
        if isinstance(result, _Refused):
            raise result.error
        results.append(result)
    return results


class _Refused(Struct):
    error: BudgetExceeded


async def _unless_refused(work: Coroutine[Any, Any, T]) -> T | _Refused:
    try:
        return await work
    except BudgetExceeded as error:
        return _Refused(error)


def first_error(fault: BaseException) -> BaseException:
    """Return the one error inside an exception group: the first of ours, where there is one; else the first."""
    if not isinstance(fault, BaseExceptionGroup):
        return fault
    causes = [first_error(one) for one in cast("BaseExceptionGroup[BaseException]", fault).exceptions]
    return next((cause for cause in causes if isinstance(cause, LlmRuntimeError)), causes[0])
