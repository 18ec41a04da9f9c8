"""The clocks of a call: how long a model may be silent before its first words, and between them.

A call that waits for its turn is not silent: :func:`queued` stops every clock around it. So an engine may put a
clock of its own around a whole call, ``async with Silence(45)``, without knowing who answers: it runs from the
moment when the runtime lets the call go, and ends with the first words. Where nobody says any of this, as with
a scripted model, it is a time limit for the whole call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf
from types import TracebackType
from typing import Self

from llm_runtime.structs import Struct

#: A clock is set anew at most this often within its time, so that thousands of words cost nothing.
_TICKS = 16


class Patience(Struct):
    """How long to wait for a model, in seconds, each above 0.

    Args:
        first: until the first words, reasoning included. Hidden reasoning is silent, and so is a long prompt.
        idle: between words.
        total: for the whole answer.
        heeded: silence between words is to be noticed, so that answers are asked for as streams though nobody
            watches; one that is asked for whole comes within ``first``.
    """

    first: float = 600.0
    idle: float = 120.0
    total: float = inf
    heeded: bool = False


HOSTED_PATIENCE = Patience()
#: Of a model on this machine: it reads a long prompt for minutes, and another call may hold its processor.
LOCAL_PATIENCE = Patience(first=1800.0, idle=600.0, heeded=True)

_around: ContextVar[Silence | None] = ContextVar("llm_runtime_silence", default=None)


class Silence:
    """Ends what it encloses with ``TimeoutError`` when nothing is heard for too long.

    Args:
        first: seconds until :meth:`heard` for the first time, above 0.
        idle: seconds from one time to the next; up to a sixteenth more.
        total: seconds for all of it.
    """

    __slots__ = ("_end", "_first", "_idle", "_loop", "_next", "_open", "_outer", "_timeout", "spoken")

    def __init__(self, first: float, idle: float = inf, total: float = inf) -> None:
        self._first = first
        self._idle = idle
        self._end = total
        self._next = 0.0
        self._open = False
        #: Whether anything was heard.
        self.spoken = False

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        now = self._loop.time()
        self._end += now
        self._timeout = asyncio.timeout_at(_moment(min(now + self._first, self._end)))
        await self._timeout.__aenter__()
        self._outer = _around.get()
        _around.set(self)
        self._open = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open = False
        _around.set(self._outer)
        await self._timeout.__aexit__(kind, error, trace)

    @property
    def expired(self) -> bool:
        """Whether it was this clock that ended it."""
        return self._timeout.expired()

    @property
    def over(self) -> bool:
        """Whether the time for all of it is up."""
        return self._loop.time() >= self._end

    def heard(self) -> None:
        """Start the clock between words anew; those around it hear the same."""
        if self._outer is not None:
            self._outer.heard()
        now = self._loop.time()
        if now >= self._next:
            self.spoken = True
            self._next = now + self._idle / _TICKS
            self._set(now + self._idle + self._idle / _TICKS)

    def hold(self) -> None:
        """Stop the clock, and those around it: the call waits for its turn."""
        if self._outer is not None:
            self._outer.hold()
        self._set(inf)

    def release(self) -> None:
        """Start the clock from the beginning, and those around it: the call is on its way."""
        if self._outer is not None:
            self._outer.release()
        self._next = 0.0
        self._set(self._loop.time() + self._first)

    def _set(self, moment: float) -> None:
        if self._open and not self._timeout.expired():
            self._timeout.reschedule(_moment(min(moment, self._end)))


@contextmanager
def queued() -> Generator[None]:
    """Stop the clocks around this call while it waits for its turn."""
    around = _around.get()
    if around is None:
        yield
        return
    around.hold()
    try:
        yield
    finally:
        around.release()


def heeded() -> bool:
    """Tell whether a clock runs around this call that wants to hear words."""
    return _around.get() is not None


def _moment(moment: float) -> float | None:
    return None if moment == inf else moment
