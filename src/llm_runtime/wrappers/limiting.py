"""Rate limits: requests and tokens a minute, calls in flight; slower after a 429, faster again after successes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import KW_ONLY, dataclass
from typing import Protocol

from llm_runtime.errors import RateLimited
from llm_runtime.messages import Generate, Reply, Request
from llm_runtime.settings import Limits
from llm_runtime.silence import queued
from llm_runtime.tokens import estimate_input
from llm_runtime.wrappers.timed import Deadline

SLOWEST = 1 / 64
RECOVERY = 1.1
#: Longest pause after one 429, in seconds, whatever its Retry-After says: a wrong date must not end all calls.
LONGEST_PAUSE = 120.0


class Rates(Protocol):
    """What calls of this process wait for: an endpoint's limits, or the end of its pause.

    ``take`` lets a call through if it may go now, or refuses it for good by what it raises. ``wait`` waits until it
    may go, and tells whether it tries for all others, who wait for what it meets. ``end`` learns from how a call
    ended that was let through.

    Attributes:
        counts_tokens: whether it is to know how many a call may take.
    """

    counts_tokens: bool

    def take(self, tokens: int) -> bool: ...

    async def wait(self, tokens: int) -> bool: ...

    def end(self, fault: BaseException | None, *, trying: bool = False) -> None: ...


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


@dataclass(eq=False, repr=False)
class Limiter:
    """Admits calls in the order they came, as fast as the limits and the provider's mood allow.

    After a 429 nothing is admitted until its Retry-After is over (1 s where it gives none, 120 s at most) and
    the pace halves, down to 1/64; each success raises it by a tenth, up to the full rate.

    Args:
        limits: what the provider grants.
        clock: monotonic seconds.
        sleep: waits.
    """

    limits: Limits
    _: KW_ONLY
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    def __post_init__(self) -> None:
        self.counts_tokens = self.limits.tokens_per_minute is not None
        self.pace = 1.0
        self.in_flight = 0
        self._closed_until = 0.0
        self._requests = _Bucket(self.limits.requests_per_minute, self.clock())
        self._tokens = _Bucket(self.limits.tokens_per_minute, self.clock())
        self._loop: asyncio.AbstractEventLoop | None = None
        self._turn = asyncio.Lock()
        self._freed = asyncio.Event()

    def take(self, tokens: int) -> bool:
        """Take a place if there is one now and nobody waits for one."""
        if self._loop is not (loop := asyncio.get_running_loop()):
            # asyncio's locks belong to the loop that first waited on them; a limiter outlives loops.
            self._loop, self._turn, self._freed = loop, asyncio.Lock(), asyncio.Event()
            self.in_flight = 0
        if self._turn.locked() or self._wait(tokens) != 0.0:
            return False
        self._take(tokens)
        return True

    async def wait(self, tokens: int) -> bool:
        """Wait for a place behind whoever came before, and take it; nobody tries for others here."""
        async with self._turn:  # it serves in order of arrival
            while (wait := self._wait(tokens)) != 0.0:
                if wait > 0:
                    await self.sleep(wait)
                else:
                    self._freed.clear()
                    await self._freed.wait()
        self._take(tokens)
        return False

    def end(self, fault: BaseException | None, *, trying: bool = False) -> None:
        """Give the place back, and learn from what the provider said."""
        self.in_flight -= 1
        self._freed.set()
        if fault is None:
            self.pace = min(1.0, self.pace * RECOVERY)
        elif isinstance(fault, RateLimited):
            self.refused(fault.retry_after)

    def _take(self, tokens: int) -> None:
        self._requests.level -= 1
        self._tokens.level -= tokens
        self.in_flight += 1

    def refused(self, retry_after: float | None) -> None:
        """Close for as long as the provider asks after a 429, and go on at half the pace."""
        now = self.clock()
        if now >= self._closed_until:  # a burst of refusals is one event
            self.pace = max(SLOWEST, self.pace / 2)
        self._closed_until = max(self._closed_until, now + min(retry_after or 1.0, LONGEST_PAUSE))

    def _wait(self, tokens: int) -> float:
        """Return seconds to wait; 0 for none, negative where a place must be freed first."""
        cap = self.limits.in_flight
        if cap is not None and self.in_flight >= max(1, int(cap * self.pace)):
            return -1.0
        now = self.clock()
        turn, room = self._requests.wait(1, now, self.pace), self._tokens.wait(tokens, now, self.pace)
        return max(self._closed_until - now, turn, room, 0.0)


def limiting(
    generate: Generate, rates: Rates, deadline: Deadline | None = None, on_queue: Callable[[int], None] | None = None
) -> Generate:
    """Pass calls through ``rates``; calls that share one share its limits and its pauses, whatever run they are of.

    Args:
        generate: gets what may go.
        rates: says when.
        deadline: what waits, waits no longer.
        on_queue: told 1 when a call begins to wait, and -1 when it ends.

    Raises, from the returned function:
        DeadlineExceeded: the run's time is up.
    """
    deadline, on_queue = deadline or Deadline(), on_queue or (lambda _: None)

    async def call(request: Request) -> Reply:
        tokens = estimate_input(request) + (request.max_tokens or 0) if rates.counts_tokens else 0
        trying, fault = False, None
        if not rates.take(tokens):
            on_queue(1)
            try:
                with queued():
                    trying = await deadline.within(rates.wait, tokens)
            finally:
                on_queue(-1)
        try:
            return await generate(request)
        except BaseException as error:
            fault = error
            raise
        finally:
            rates.end(fault, trying=trying)

    return call
