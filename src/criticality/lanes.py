"""Work that was begun early, beside the unit that the machine has taken up."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, TypeAlias

_Key: TypeAlias = tuple[Hashable, ...]


class Lanes:
    """Work that was begun early: every attempt of every unit of a wave is computed at most once.

    The machine takes units one after the other; while it does, the other units of the same wave are
    worked on beside it. What a lane computes depends on the unit and on earlier waves only, so results do not
    depend on who finished first.
    """

    def __init__(self, limit: int) -> None:
        self._slots = asyncio.Semaphore(limit)
        self._tasks: dict[_Key, asyncio.Task[Any]] = {}

    async def once(self, key: _Key, make: Callable[[], Awaitable[Any]]) -> Any:
        """Return the result for ``key``, computed now, by a lane already, or by one that is at it."""
        task = self._tasks.get(key)
        if task is None:
            task = self._tasks[key] = asyncio.ensure_future(make())
        return await asyncio.shield(task)

    def begin(self, key: _Key, make: Callable[[], Awaitable[Any]]) -> None:
        """Start a lane in the background; what goes wrong in it is told to whoever asks for its results."""
        if ("lane", key) in self._tasks:
            return

        async def lane() -> None:
            async with self._slots:
                try:
                    await make()
                except Exception:
                    return

        self._tasks["lane", key] = asyncio.ensure_future(lane())

    async def forget_verdicts(self) -> None:
        """Give up what was judged: it rested on a body or a test that is no more. Answers of models are kept."""
        await self._end([key for key in self._tasks if key[0] in ("verify", "lane")])

    async def aclose(self) -> None:
        """End what is still going on."""
        await self._end(list(self._tasks))

    async def _end(self, keys: list[_Key]) -> None:
        tasks = [self._tasks.pop(key) for key in keys]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
