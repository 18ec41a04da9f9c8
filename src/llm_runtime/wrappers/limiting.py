"""Rate limits: requests and tokens a minute, calls in flight; slower after a 429, faster again after successes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from llm_runtime.errors import RateLimited
from llm_runtime.messages import Generate, Reply, Request
from llm_runtime.settings import Limits
from llm_runtime.silence import queued
from llm_runtime.tokens import estimate_input

SLOWEST = 1 / 64
RECOVERY = 1.1
#: Longest pause after one 429, in seconds, whatever its Retry-After says: a wrong date must not end all calls.
LONGEST_PAUSE = 120.0


class _Bucket:
    """A token bucket: a minute's worth at the most, refilled continuously."""

    __slots__ = ("capacity", "level", "stamp")

    def __init__(self, per_minute: int | None, now: float) -> None:
        self.capacity = float(per_minute or 0)
        self.level = self.capacity
        self.stamp = now

    def wait(self, amount: float, now: float, pace: float) -> float:
        """Return the seconds until ``amount`` is there; more than the bucket holds waits for a full one only."""
        if not self.capacity:
            return 0.0
        rate = self.capacity / 60 * pace
        self.level = min(self.capacity, self.level + (now - self.stamp) * rate)
        self.stamp = now
        return max(0.0, (min(amount, self.capacity) - self.level) / rate)


class Limiter:
    """Admits calls in the order they came, as fast as the limits and the provider's mood allow.

    After a 429 nothing is admitted until its Retry-After is over (1 s where it gives none, 120 s at most) and
    the pace halves, down to 1/64; each success raises it by a tenth, up to the full rate.

    Args:
        limits: what the provider grants.
        clock: monotonic seconds.
        sleep: waits; raises what ends the run.
        on_queue: told how many calls wait, whenever that changes.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        on_queue: Callable[[int], None] | None = None,
    ) -> None:
        self.limits = limits
        #: Calls that wait for a place.
        self.waiting = 0
        self._on_queue = on_queue
        self.pace = 1.0
        self.in_flight = 0
        self._clock = clock
        self._sleep = sleep
        self._closed_until = 0.0
        self._requests = _Bucket(limits.requests_per_minute, clock())
        self._tokens = _Bucket(limits.tokens_per_minute, clock())
        self._loop: asyncio.AbstractEventLoop | None = None
        self._turn = asyncio.Lock()
        self._freed = asyncio.Event()

    async def admit(self, tokens: int) -> None:
        """Wait for a place; whoever gets one must :meth:`leave`."""
        if not self.admitted(tokens):
            self._queued(1)
            try:
                await self._queue(tokens)
            finally:
                self._queued(-1)
            self._take(tokens)

    def admitted(self, tokens: int) -> bool:
        """Take a place if there is one now and nobody waits for one; whoever gets one must :meth:`leave`."""
        if self._loop is not (loop := asyncio.get_running_loop()):
            # asyncio's locks belong to the loop that first waited on them; a limiter outlives loops.
            self._loop, self._turn, self._freed = loop, asyncio.Lock(), asyncio.Event()
            self.in_flight = self.waiting = 0
        if self._turn.locked() or self._wait(tokens) != 0.0:
            return False
        self._take(tokens)
        return True

    def _queued(self, more: int) -> None:
        self.waiting += more
        if self._on_queue is not None:
            self._on_queue(self.waiting)

    def _take(self, tokens: int) -> None:
        self._requests.level -= 1
        self._tokens.level -= tokens
        self.in_flight += 1

    async def _queue(self, tokens: int) -> None:
        """Wait behind whoever came before; the lock serves in order of arrival."""
        async with self._turn:
            while (wait := self._wait(tokens)) != 0.0:
                if wait > 0:
                    await self._sleep(wait)
                else:
                    self._freed.clear()
                    await self._freed.wait()

    def leave(self) -> None:
        """Give the place back."""
        self.in_flight -= 1
        self._freed.set()

    def succeeded(self) -> None:
        """Recover a little: the provider answered."""
        self.pace = min(1.0, self.pace * RECOVERY)

    def refused(self, retry_after: float | None) -> None:
        """Close for as long as the provider asks after a 429, and go on at half the pace."""
        now = self._clock()
        if now >= self._closed_until:  # a burst of refusals is one event
            self.pace = max(SLOWEST, self.pace / 2)
        self._closed_until = max(self._closed_until, now + min(retry_after or 1.0, LONGEST_PAUSE))

    def _wait(self, tokens: int) -> float:
        """Return seconds to wait; 0 for none, negative where a place must be freed first."""
        cap = self.limits.in_flight
        if cap is not None and self.in_flight >= max(1, int(cap * self.pace)):
            return -1.0
        now = self._clock()
        return max(
            self._closed_until - now,
            self._requests.wait(1, now, self.pace),
            self._tokens.wait(tokens, now, self.pace),
            0.0,
        )


def limiting(generate: Generate, limiter: Limiter) -> Generate:
    """Pass calls through ``limiter``; calls that share one share its limits."""

    counts_tokens = limiter.limits.tokens_per_minute is not None

    async def call(request: Request) -> Reply:
        tokens = _expected_tokens(request) if counts_tokens else 0
        if not limiter.admitted(tokens):
            with queued():
                await limiter.admit(tokens)
        try:
            reply = await generate(request)
        except RateLimited as error:
            limiter.refused(error.retry_after)
            raise
        else:
            limiter.succeeded()
            return reply
        finally:
            limiter.leave()

    return call


def _expected_tokens(request: Request) -> int:
    return estimate_input(request) + (request.max_tokens or 0)
