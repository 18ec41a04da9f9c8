"""The time limit of a whole run; those of one call are the provider's, see :mod:`llm_runtime.silence`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from math import inf
from typing import TypeVar

from llm_runtime.errors import DeadlineExceeded
from llm_runtime.messages import Generate, Reply, Request

Given = TypeVar("Given")
Made = TypeVar("Made")


class Deadline:
    """The moment a run must end. The clock starts when it is first looked at, not when the limit is set.

    Args:
        seconds: time for the whole run, above 0; infinite where there is no limit.
        clock: monotonic seconds.
    """

    def __init__(self, seconds: float = inf, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._clock = clock
        self._end: float | None = None

    def left(self) -> float:
        """Return seconds until the end, never below 0."""
        if self._end is None:
            self._end = self._clock() + self.seconds
        return max(0.0, self._end - self._clock())

    async def sleep(self, seconds: float, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        """Sleep, but not past the end: what waits between calls waits here.

        Raises:
            DeadlineExceeded: the run's time is up.
        """
        left = self.left()
        await sleep(min(seconds, left))
        if seconds >= left:
            raise self.exceeded()

    async def within(self, work: Callable[[Given], Awaitable[Made]], given: Given) -> Made:
        """Do what may not go on past the end; nor begin there.

        Raises:
            DeadlineExceeded: the run's time is up.
        """
        if (left := self.left()) <= 0:
            raise self.exceeded()
        if left == inf:
            return await work(given)
        limit = asyncio.timeout(left)
        try:
            async with limit:
                return await work(given)
        except TimeoutError:
            if not limit.expired():
                raise
            raise self.exceeded() from None

    def exceeded(self) -> DeadlineExceeded:
        """Return what to raise when the time is up."""
        return DeadlineExceeded(f"the run's {self.seconds:g} s are up")


def timed(generate: Generate, deadline: Deadline) -> Generate:
    """Let no call go on past ``deadline``.

    Raises, from the returned function:
        DeadlineExceeded: the run's time is up; a call in flight is cancelled, a new one is not sent.
    """

    async def call(request: Request) -> Reply:
        return await deadline.within(generate, request)

    return call
