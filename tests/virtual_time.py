"""Time that passes as soon as nothing else is to be done: for what takes minutes."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any


class _NoWaiting(selectors.DefaultSelector):
    """Lets the time that a loop would wait for pass at once."""

    passed = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.passed += timeout or 0.0
        return super().select(0)


class VirtualClock(asyncio.SelectorEventLoop):
    """An event loop in which hours take no time."""

    def __init__(self) -> None:
        self._virtual = _NoWaiting()
        super().__init__(self._virtual)

    def time(self) -> float:
        return self._virtual.passed


def run(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a test's story to its end."""
    with asyncio.Runner(loop_factory=VirtualClock) as runner:
        runner.run(story())


class _Sooner(selectors.DefaultSelector):
    """Lets each second that a loop would wait take a tenth."""

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        return super().select(timeout and timeout / PACE)


class HastenedClock(asyncio.SelectorEventLoop):
    """An event loop whose clock goes ``PACE`` times as fast: for waits between what sockets and processes do."""

    def __init__(self) -> None:
        super().__init__(_Sooner())

    def time(self) -> float:
        return super().time() * PACE


#: A patience of ten seconds is still a second: nobody waits in vain for what is under way on a busy machine.
PACE = 10
