"""Carrying an entry out: its run is started, or gone on with where a worker before had begun it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

from assay.batch.database import Database
from assay.batch.local import run_local
from assay.batch.metering import Meter, SharedRows
from assay.batch.performing import Gateways
from assay.batch.write_queue import PURSES
from assay.launch import Followers, Launcher, Outcome, PerRun, Running
from assay.queue.entry import BATCH, Entry
from assay.terms import in_force
from llm_runtime.errors import RunNotFound, RunPaused
from llm_runtime.messages import Reply, Request
from llm_runtime.settings import Settings
from llm_runtime.store import RunStore

#: Of a purse that runs share, in the table where batches have theirs.
PURSE = "purse:"


@dataclass(eq=False, repr=False)
class Carrier:
    """Carries entries out in one store, many at once; their calls share rates and purses with all other workers.

    Args:
        store_url: where runs are kept.
        store: the same, open.
        database: of rates and purses.
        owner: the worker's name, by which it holds places in flight.
        settings: reads the user's configuration, once for each entry.
        stack: closes what was opened.
    """

    store_url: str
    store: RunStore
    database: Database
    owner: str
    settings: Callable[[], Settings]
    stack: AsyncExitStack

    def __post_init__(self) -> None:
        self._launcher = Launcher(self.store, self.settings)
        self._gateways: dict[str, Gateways] = {}
        self._rows = SharedRows(self.database, self.owner)
        self.stack.push_async_callback(self._rows.queue.aclose)

    async def carry(self, entry: Entry) -> Outcome | None:
        """Carry an entry out; return how its run ended, or ``None`` where nothing was left to do.

        Raises:
            LlmRuntimeError: it could not begin, or the store failed.
        """
        if entry.kind == BATCH:
            await run_local(self.store_url, entry.run_id)
            return None
        running = await self._begun(entry)
        return None if running is None else await running.outcome()

    async def _begun(self, entry: Entry) -> Running | None:
        run, terms = entry.run()
        model = None
        try:
            state = await asyncio.to_thread(lambda: self.store.summary(entry.run_id).state)
        except RunNotFound:
            state = ""
        if state == "finished":
            return None
        if state:
            terms = in_force(event for _, event in self.store.events(entry.run_id))
        if not run.hooks.own_models:
            gateway = (await self._of_purse(entry.purse)).under(terms, run)
            model = PerRun(lambda budget, _: gateway.under(budget, _FOLLOWERS), gateway.who)
        if state:
            return await self._launcher.resume(entry.run_id, model=model)
        return await self._launcher.start(
            run, terms, seed=entry.seed, title=entry.title, run_id=entry.run_id, model=model
        )

    async def _of_purse(self, purse: str) -> Gateways:
        if purse not in self._gateways:
            name = f"{PURSE}{purse}"
            rows = SharedRows(self.database, self.owner, purse, queue=self._rows.queue)
            # One that nobody made has no caps.
            meter = Meter(rows, name, (await rows.open(name)).caps)
            self._gateways[purse] = Gateways(self.settings(), meter, self.stack, self._launcher.shared)
        return self._gateways[purse]

    async def beat(self) -> None:
        """Keep this worker's places in flight, and free those of workers that fell silent."""
        await self._rows.queue.do(self._rows.buckets.renew, PURSES)

    async def leave(self) -> None:
        """Free this worker's places in flight."""
        await self._rows.queue.do(self._rows.buckets.leave, PURSES)


async def nobody(request: Request) -> Reply:
    """Answer for ``terminal:`` where no person is: the run waits for one."""
    raise RunPaused(f"{request.label} asks a person, and a worker has no keyboard")


_FOLLOWERS = Followers(person=nobody)


def ending(outcome: Outcome | None) -> dict[str, Any]:
    """Return how a run ended, for a line of the log."""
    if outcome is None:
        return {"state": "done"}
    error = {} if outcome.error is None else {"error": f"{type(outcome.error).__name__}: {outcome.error}"}
    return {"state": outcome.state, **error}
