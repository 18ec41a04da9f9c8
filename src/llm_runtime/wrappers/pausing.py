"""Pauses of an endpoint whose server fails again and again, or whose limit is reached for long.

After faults one call tries for all of them; until a limit ends none is sent.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from copy import copy
from dataclasses import KW_ONLY, dataclass, field
from typing import TypeVar

from llm_runtime.errors import CallError, LlmRuntimeError, RateLimited, ServerFault
from llm_runtime.events import Emit, EndpointPaused
from llm_runtime.http.waits import LONGEST_WAIT

_Fault = TypeVar("_Fault", bound=CallError)
FAULTS = 5
PAUSE_SECONDS, LONGEST_LIMIT_SECONDS = 30.0, 3600.0


@dataclass(eq=False, repr=False)
class Outage:
    """What is known of the faults of one endpoint, for all its calls.

    Five faults of the server in a row, whoever meets them, hold every call back for 30 s. Then one of them goes,
    and the others wait for what comes of it: what it meets, they meet, at no cost.

    Args:
        provider: the endpoint's name.
        clock: monotonic seconds.
        sleep: waits.
        told: hear of each pause: of every run that uses the endpoint.
    """

    provider: str
    _: KW_ONLY
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    told: set[Emit] = field(default_factory=set[Emit])
    counts_tokens: bool = field(default=False, init=False)
    _faults: int = field(default=0, init=False)
    _reopens: float | None = field(default=None, init=False)
    _trial: asyncio.Future[ServerFault | None] | None = field(default=None, init=False)
    #: Until when no call goes, when the limit ends, and who met it. A wrong date must not end all calls, nor a limit
    #: that somebody has raised meanwhile.
    _limit: tuple[float, float, RateLimited] | None = field(default=None, init=False)

    def take(self, tokens: int = 0) -> bool:
        """Tell whether calls go; before its limit ends, and within an hour of it, one is refused.

        Raises:
            RateLimited: the one that another call met.
        """
        if self._limit is not None and (now := self.clock()) < self._limit[0]:
            again = _without_answer(self._limit[2])
            again.retry_after = self._limit[1] - now
            raise again
        return self._reopens is None

    async def wait(self, tokens: int = 0) -> bool:
        """Wait until the endpoint may be asked again; return whether this call is the one that tries.

        Raises:
            ServerFault: another call tried, and met it.
        """
        while self._reopens is not None:
            if (wait := self._reopens - self.clock()) > 0:
                await self.sleep(wait)
            elif self._trial is None:
                self._trial = asyncio.get_running_loop().create_future()
                return True
            elif (fault := await asyncio.shield(self._trial)) is not None:
                raise _without_answer(fault)
        return False

    def end(self, fault: BaseException | None, *, trying: bool = False) -> None:
        """Count faults of the server in a row, and note a limit that is reached for longer than anybody waits."""
        if isinstance(fault, ServerFault):
            self._met(fault, trying)
        elif fault is None or (isinstance(fault, CallError) and fault.status is not None):
            self._faults, self._reopens = 0, None
        if isinstance(fault, RateLimited) and (wait := fault.retry_after or 0.0) > LONGEST_WAIT:
            self._limit = (now := self.clock()) + min(wait, LONGEST_LIMIT_SECONDS), now + wait, fault
            self._pause(wait, fault)
        if trying:
            # After a trial that met no fault of the server another call tries, or all go.
            self._over(fault if isinstance(fault, ServerFault) else None)

    def _met(self, fault: ServerFault, trying: bool) -> None:
        self._faults += 1
        if trying or (self._reopens is None and self._faults >= FAULTS):
            self._pause(PAUSE_SECONDS, fault)
            self._reopens = self.clock() + PAUSE_SECONDS

    def _pause(self, seconds: float, fault: CallError) -> None:
        for emit in self.told:
            # What cannot be told to one run is no fault of another one's call.
            with suppress(LlmRuntimeError):
                emit(EndpointPaused(provider=self.provider, seconds=round(seconds), message=str(fault)))

    def _over(self, fault: ServerFault | None) -> None:
        trial, self._trial = self._trial, None
        if trial is not None and not trial.done():
            trial.set_result(fault)


def _without_answer(fault: _Fault) -> _Fault:
    """Return the same error for a call that was not sent."""
    fresh = copy(fault)
    fresh.label = fresh.partial = fresh.cost = None
    return fresh
