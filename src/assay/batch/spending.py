"""What the runs of one key or person may spend together: a purse as a row, so that many at once stay within it."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from typing import Literal, TypeAlias

from assay.batch.batches import open_batches
from assay.batch.metering import Meter, SharedRows
from assay.batch.performing import Gateways
from assay.batch.write_queue import PURSES
from assay.launch import PerRun
from assay.launch.naming import asked_of
from assay.registry import Prepared
from assay.terms import Terms
from llm_runtime.errors import BudgetExceeded, ConfigurationError
from llm_runtime.settings import Settings
from llm_runtime.shared import Shared
from llm_runtime.structs import Struct
from llm_runtime.wrappers.accounts import Account, Caps

Period: TypeAlias = Literal["day", "month", "ever"]
_BUDGET = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)(?:/(day|month))?")
_PERIODS: dict[Period, str] = {"day": "%Y-%m-%d", "month": "%Y-%m", "ever": "ever"}


class Allowance(Struct):
    """What somebody may spend in a period.

    Args:
        owner: who, as ``key:ID`` or ``person:ID``.
        caps: how much; without any there is no bound.
        per: the period, in UTC.
    """

    owner: str
    caps: Caps
    per: Period

    @property
    def label(self) -> str:
        """Who that is, in words."""
        return self.owner.partition("~")[0].replace(":", " ", 1)

    def purse(self, now: datetime) -> str:
        """Return the name of the purse that holds at a moment."""
        return f"{self.owner}:{now.astimezone(UTC).strftime(_PERIODS[self.per])}"


def allowance(owner: str, budget: float | None, per: Period, calls: int | None = None) -> Allowance:
    """Return the allowance of so many dollars and calls."""
    return Allowance(owner, Caps(cost=None if budget is None else round(budget * 1_000_000), calls=calls), per)


def read_budget(text: str) -> tuple[float, Period]:
    """Read ``5``, ``5/day`` or ``20/month``: dollars, and in which period.

    Raises:
        ConfigurationError: it is written otherwise.
    """
    match = _BUDGET.fullmatch(text)
    if match is None:
        raise ConfigurationError(f"--budget {text[:40]}: write dollars, as 5, or with a period, as 5/day or 20/month")
    period: Period = "day" if match[2] == "day" else "month" if match[2] == "month" else "ever"
    return float(match[1]), period


class Spending:
    """The purses of keys and people, beside the runs of a store.

    Args:
        store_url: of the runs.
        settings: reads the configuration of whoever asks; called for each run.
        now: the time, which says what period it is.
    """

    def __init__(
        self, store_url: str, settings: Callable[[], Settings], now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._store_url = store_url
        self._settings = settings
        self._now = now
        self._stack = AsyncExitStack()
        self._rows: SharedRows | None = None
        self._gateways: dict[tuple[str, Caps], tuple[Settings, Gateways]] = {}

    async def models(self, of: Allowance, terms: Terms, run: Prepared, shared: Shared) -> PerRun | None:
        """Return the way to models of one run; ``None`` where its owner has no bound.

        Raises:
            BudgetExceeded: nothing is left of it.
            NoModelError: there is no model to ask.
            UnknownPrice: nobody knows what one costs, so no budget can hold.
            StoreError: the rows cannot be reached.
        """
        if of.caps == Caps():
            return None
        if run.hooks.own_models:
            raise BudgetExceeded(f"{run.run.title}: it reaches its models by itself, and no budget can bound that")
        gateway = (await self._gateways_of(of, shared)).under(terms, run)
        for asked in asked_of(run.run, run.options):
            await gateway.least_cost(asked)
        return PerRun(gateway.under, gateway.who, capped=True)

    async def purse(self, of: Allowance) -> Account | None:
        """Return what somebody has spent in this period; ``None`` where there is no purse yet."""
        name = of.purse(self._now())
        rows = self._open()
        return (await rows.queue.do(lambda: rows.purses.all(name), PURSES, name)).get(name)

    async def aclose(self) -> None:
        """Let everything go."""
        await self._stack.aclose()

    async def _gateways_of(self, of: Allowance, shared: Shared) -> Gateways:
        name, settings = of.purse(self._now()), self._settings()
        rows = self._open()
        purse = await rows.open(name, of.caps)
        remedy = f"ask whoever runs this server for a larger budget of the {of.label}" + (
            "" if of.per == "ever" else f", or wait for the next {of.per} (UTC)"
        )
        if any(left <= 0 for left in purse.left.values()):
            raise BudgetExceeded(f"the budget is spent: {purse.words(purse.tightest)}; {remedy}")
        known = self._gateways.get((name, of.caps))
        # A key that was stored meanwhile counts.
        if known is None or known[0] != settings:
            gateways = Gateways(settings, Meter(rows, name, of.caps, remedy), self._stack, shared, followed=True)
            known = self._gateways[name, of.caps] = settings, gateways
        return known[1]

    def _open(self) -> SharedRows:
        if self._rows is None:
            database = open_batches(self._store_url)
            self._stack.callback(database.close)
            self._rows = SharedRows(database, f"api-{secrets.token_hex(4)}")
            self._stack.push_async_callback(self._rows.queue.aclose)
        return self._rows
