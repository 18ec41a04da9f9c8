"""The line of passwords that wait to be tried: wrong ones slow whoever sends them, and lock nobody out."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from typing import TypeVar

from llm_runtime.errors import ConfigurationError

T = TypeVar("T")

#: Hashes that are made at one time, and passwords that wait for their turn: of one address, and in all.
_AT_ONCE, _MOST_OF_ONE, _MOST = 2, 16, 256
#: Seconds for which a wrong one counts; how many are free, for a name from an address and of an address.
_COUNTS_S, _FREE_OF_NAME, _FREE_OF_ADDRESS = 60.0, 5, 30
_LONGEST_S, _OF_ADDRESS_S = 5.0, 1.0


class PasswordQueue:
    """Where passwords wait.

    Args:
        clock: seconds.
        sleep: waits so many.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._tries: deque[tuple[float, str, str]] = deque()
        self._waiting = Counter[str]()
        self._turn = asyncio.Semaphore(_AT_ONCE)

    async def tried(self, address: str, name: str, look: Callable[[], T | None]) -> T | None:
        """Return what ``look`` does, which is called in a thread once it is its turn; ``None`` counts as wrong.

        Raises:
            ConfigurationError: too many of this address, or of all, wait at this moment.
        """
        if self._waiting[address] >= _MOST_OF_ONE or self._waiting.total() >= _MOST:
            raise ConfigurationError("too many sign in at this moment; try again")
        self._waiting[address] += 1
        pause = self._pause(address, name)
        # Counted before it is looked at: who sends many at once waits as long.
        attempt = (self._clock(), address, name)
        self._tries.append(attempt)
        try:
            if pause:
                await self._sleep(pause)
            async with self._turn:
                found = await asyncio.to_thread(look)
        finally:
            self._waiting[address] -= 1
            if not self._waiting[address]:
                del self._waiting[address]
        if found is not None and attempt in self._tries:
            self._tries.remove(attempt)
        return found

    def _pause(self, address: str, name: str) -> float:
        """Return for how long an attempt waits after those of before."""
        while self._tries and self._clock() - self._tries[0][0] > _COUNTS_S:
            self._tries.popleft()
        named = sum((where, who) == (address, name) for _, where, who in self._tries)
        here = sum(where == address for _, where, _ in self._tries)
        own = min(_LONGEST_S, max(0.0, named - _FREE_OF_NAME + 1.0))
        return max(own, _OF_ADDRESS_S if here >= _FREE_OF_ADDRESS else 0.0)
