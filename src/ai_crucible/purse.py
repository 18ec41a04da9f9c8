"""What all attempts of a trial may spend together: held before a model call, settled after, kept across kills."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from pathlib import Path
from typing import TypeVar

from llm_runtime.errors import BudgetExceeded, ConfigurationError, UnknownPrice
from llm_runtime.events import BudgetMoved, Event
from llm_runtime.files import write_atomic
from llm_runtime.wrappers.accounts import Account, Budget, Caps, Settlement, Spend

T = TypeVar("T")

#: Tokens that one answer may take under a cap, where neither the user nor the model's maker has set a bound.
ANSWER_TOKENS = 16_384

_MICRO = 1_000_000


class Purse:
    """One pot for all attempts of a trial, however many run at once and in however many sittings.

    A call that does not fit waits while others are in flight, since most take far less than was held for them. When
    nothing is in flight and it still does not fit, the purse is closed: no attempt begins any more.

    Args:
        cap: US dollars, above 0.
        place: where the account is kept, so that a killed trial goes on with what is left; a hold that nobody
            settled is unknown.
        spent: US dollars that the trial is known to have cost already, at the least.

    Raises:
        ConfigurationError: the account cannot be read.
    """

    def __init__(self, cap: float, place: Path | None = None, spent: float = 0.0) -> None:
        self._place = place
        before = _account(place)
        before.spent = before.spent.or_more(Spend(round(spent * _MICRO)))
        self.budget = Budget(Caps(cost=round(cap * _MICRO)), before, emit=self._moved)
        self._change = asyncio.Event()
        self.closed = False
        #: entered while a call waits for its turn, so that no clock of a solver counts it
        self.waiting: Callable[[], AbstractContextManager[None]] = nullcontext

    @property
    def cap(self) -> float:
        """US dollars."""
        return (self.budget.caps.cost or 0) / _MICRO

    @property
    def spent(self) -> float:
        """US dollars, those of earlier sittings included."""
        return self.budget.spent.cost / _MICRO

    def need_open(self) -> None:
        """Refuse an attempt before it begins, where the money is used up.

        Raises:
            BudgetExceeded: the purse is closed.
        """
        budget = self.budget
        if self.closed or budget.spent.cost + budget.unknown.cost >= (budget.caps.cost or 0):
            self.closed = True
            unknown = f", up to ${budget.unknown.cost / _MICRO:.4f} unknown" if budget.unknown.cost else ""
            raise BudgetExceeded(
                f"the trial's ${self.cap:g} do not suffice for another call; ${self.spent:.4f} spent{unknown}"
            )

    async def patiently(self, call: Callable[[], Awaitable[T]]) -> T:
        """Make a call that reserves for itself; while it does not fit, wait for those in flight.

        Raises:
            BudgetExceeded: nothing is in flight and it does not fit, or nobody knows its price.
        """
        while True:
            change = self._change
            try:
                return await call()
            except UnknownPrice:
                raise
            except BudgetExceeded:
                if not self.budget.held.cost and not change.is_set():
                    self.closed = True
                    raise
            with self.waiting():
                await change.wait()

    async def hold(self, cost: int, where: str, call: Callable[[], Awaitable[tuple[T, int | None]]]) -> T:
        """Make a call for which this purse reserves.

        Args:
            cost: micro-dollars that it may take at the most.
            where: what it is, for the error.
            call: gives its result and what it took, ``None`` where that is unknown, as it is where the call fails
                otherwise than by a refusal of the provider's.

        Raises:
            BudgetExceeded: as :meth:`patiently`.
        """
        hold = Spend(cost, calls=1)

        async def held() -> T:
            self.budget.reserve(hold, where)
            settlement = Settlement(Spend(), hold)
            try:
                result, took = await call()
                if took is not None:
                    settlement = Settlement(Spend(took, calls=1))
                return result
            except Exception as fault:
                # The vendors' packages put the status of a refusal on what they raise.
                status = getattr(fault, "status_code", None)
                if isinstance(status, int) and status >= 400 and status not in (408, 504, 524):
                    settlement = Settlement(Spend(calls=1))
                raise
            finally:
                self.budget.settle(hold, settlement)

        return await self.patiently(held)

    def _moved(self, event: Event) -> None:
        change, self._change = self._change, asyncio.Event()
        change.set()
        if self._place is not None and isinstance(event, BudgetMoved):
            self._place.parent.mkdir(parents=True, exist_ok=True)
            account = {"spent": event.spent_cost, "held": event.held_cost}
            if event.unknown_cost:
                account["unknown"] = event.unknown_cost
            write_atomic(self._place, json.dumps(account) + "\n", private=True)


def _account(place: Path | None) -> Account:
    """Return what the last sitting spent, and what it held or did not know the end of."""
    try:
        data = json.loads(place.read_bytes()) if place else {"spent": 0, "held": 0}
        return Account(Caps(), *(Spend(int({"unknown": 0, **data}[kind])) for kind in ("spent", "held", "unknown")))
    except FileNotFoundError:
        return Account()
    except (OSError, ValueError, KeyError, TypeError):
        raise ConfigurationError(
            f"{place} is to say what the trial has spent and cannot be read; restore it, or begin a new trial"
        ) from None


PURSE: ContextVar[Purse | None] = ContextVar("purse", default=None)
"""The purse of the trial that is running, where its cost is capped."""
