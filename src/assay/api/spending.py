"""What a key's runs may spend together: a purse as a row, so that many at once overspend nothing."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime

from assay.api.keys import ApiKey
from assay.batch.buckets import Buckets
from assay.batch.database import open_database
from assay.batch.metering import Meter
from assay.batch.performing import Gateways
from assay.batch.purses import Purse, Purses
from assay.batch.schema import migrate
from assay.batch.write_queue import PURSES, WriteQueue
from assay.launch import PerRun
from assay.terms import Terms
from llm_runtime.settings import Settings
from llm_runtime.wrappers.accounts import Caps

_DEFAULT = "openrouter/auto"
_REMEDY = "ask whoever runs this server for a larger budget of the key, or wait for its next period"


class Spending:
    """The purses of keys, beside the runs of a store.

    Args:
        store_url: of the runs.
        settings: reads the user's configuration, once for each purse.
        now: the time, which says what period it is.
    """

    def __init__(
        self,
        store_url: str,
        settings: Callable[[], Settings],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store_url = store_url
        self._settings = settings
        self._now = now
        self._stack = AsyncExitStack()
        self._rows: tuple[WriteQueue, Purses, Buckets] | None = None
        self._gateways: dict[tuple[str, float | None], Gateways] = {}

    async def models(self, key: ApiKey, terms: Terms, options: object) -> PerRun | None:
        """Return the way to models of one run of a key; ``None`` where the key has no bound.

        Raises:
            NoModelError: there is no model to ask.
            UnknownPrice: nobody knows what one costs, so no budget can hold.
            StoreError: the rows cannot be reached.
        """
        if key.budget is None:
            return None
        name = key.purse(self._now())
        if (name, key.budget) not in self._gateways:
            self._gateways[name, key.budget] = await self._opened(name, key.budget)
        gateway = self._gateways[name, key.budget].under(terms, options)
        for asked in getattr(options, "asked_models", None) or (_DEFAULT,):
            await gateway.least_cost(asked)
        return PerRun(gateway.under)

    async def purse(self, key: ApiKey) -> Purse | None:
        """Return what a key has spent in this period; ``None`` where it has no purse yet."""
        name = key.purse(self._now())
        queue, purses, _ = self._open()
        return await queue.do(lambda: purses.read(name) if purses.exists(name) else None, PURSES, name)

    async def aclose(self) -> None:
        """Let everything go."""
        await self._stack.aclose()

    async def _opened(self, name: str, budget: float) -> Gateways:
        queue, purses, buckets = self._open()
        caps = Caps(cost=round(budget * 1_000_000))
        await queue.do(lambda: purses.open(name, caps), PURSES, name)
        return Gateways(self._settings(), Meter(queue, name, caps, purses, buckets, _REMEDY), self._stack)

    def _open(self) -> tuple[WriteQueue, Purses, Buckets]:
        if self._rows is None:
            database = open_database(self._store_url)
            migrate(database)
            self._stack.callback(database.close)
            queue = WriteQueue(database)
            self._stack.push_async_callback(queue.aclose)
            self._rows = queue, Purses(database), Buckets(database, f"api-{secrets.token_hex(4)}")
        return self._rows
