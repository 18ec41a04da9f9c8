"""Pauses of an endpoint whose server fails again and again, or whose limit is reached for long.

After faults one call tries for all of them; until a limit ends none is sent.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from copy import copy
from typing import TypeVar

from llm_runtime.errors import CallError, RateLimited, ServerFault
from llm_runtime.events import Emit, EndpointPaused, silent
from llm_runtime.http.waits import LONGEST_WAIT
from llm_runtime.messages import Generate, Reply, Request
from llm_runtime.silence import queued

_Fault = TypeVar("_Fault", bound=CallError)
FAULTS = 5
PAUSE_SECONDS = 30.0


class Outage:
    """What is known of the faults of one endpoint, for all its calls.

    Five faults of the server in a row, whoever meets them, hold every call back for 30 s. Then one of them goes,
    and the others wait for what comes of it: what it meets, they meet, at no cost.

    Args:
        provider: the endpoint's name.
        emit: told of each pause.
        clock: monotonic seconds.
        sleep: waits; raises what ends the run.
    """

    def __init__(
        self,
        provider: str,
        *,
        emit: Emit = silent,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._provider = provider
        self._emit = emit
        self._clock = clock
        self._sleep = sleep
        self._faults = 0
        self._reopens: float | None = None
        self._trial: asyncio.Future[ServerFault | None] | None = None
        self._limit: tuple[float, RateLimited] | None = None

    @property
    def paused(self) -> bool:
        """Whether calls are held back."""
        return self._reopens is not None

    async def admit(self) -> bool:
        """Wait until the endpoint may be asked again; return whether this call is the one that tries.

        Raises:
            ServerFault: another call tried, and met it.
        """
        while self._reopens is not None:
            if (wait := self._reopens - self._clock()) > 0:
                await self._sleep(wait)
            elif self._trial is None:
                self._trial = asyncio.get_running_loop().create_future()
                return True
            elif (fault := await asyncio.shield(self._trial)) is not None:
                raise _without_answer(fault)
        return False

    def need_no_limit(self) -> None:
        """Refuse a call before its limit ends.

        Raises:
            RateLimited: the one that another call met.
        """
        if self._limit is not None and (left := self._limit[0] - self._clock()) > 0:
            again = _without_answer(self._limit[1])
            again.retry_after = left
            raise again

    def limited(self, limit: RateLimited) -> None:
        """Note a limit that is reached for longer than anybody waits."""
        wait = limit.retry_after or 0.0
        if wait > LONGEST_WAIT:
            self._limit = self._clock() + wait, limit
            self._emit(EndpointPaused(provider=self._provider, seconds=round(wait), message=str(limit)))

    def met(self, fault: ServerFault, *, trying: bool) -> None:
        """Count a fault of the server."""
        self._faults += 1
        if trying or (self._reopens is None and self._faults >= FAULTS):
            self._reopens = self._clock() + PAUSE_SECONDS
            self._emit(EndpointPaused(provider=self._provider, seconds=round(PAUSE_SECONDS), message=str(fault)))
        if trying:
            self._over(fault)

    def answered(self) -> None:
        """Note that the server does its work."""
        self._faults = 0
        self._reopens = None

    def ended(self) -> None:
        """Let another call try, or all go, after a trial that met no fault of the server."""
        self._over(None)

    def _over(self, fault: ServerFault | None) -> None:
        trial, self._trial = self._trial, None
        if trial is not None and not trial.done():
            trial.set_result(fault)


def pausing(generate: Generate, outage: Outage) -> Generate:
    """Hold calls back while the endpoint is paused; calls that share one ``outage`` share its pauses."""

    async def call(request: Request) -> Reply:
        trying = False
        outage.need_no_limit()
        if outage.paused:
            with queued():
                trying = await outage.admit()
        try:
            reply = await generate(request)
        except ServerFault as fault:
            outage.met(fault, trying=trying)
            raise
        except CallError as error:
            if isinstance(error, RateLimited):
                outage.limited(error)
            if error.status is not None:
                outage.answered()
            raise
        else:
            outage.answered()
            return reply
        finally:
            if trying:
                outage.ended()

    return call


def _without_answer(fault: _Fault) -> _Fault:
    """Return the same error for a call that was not sent."""
    fresh = copy(fault)
    fresh.label = fresh.partial = fresh.cost = None
    return fresh
