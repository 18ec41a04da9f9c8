"""The routes of the queue: what waits for workers, and the store's metrics for Prometheus."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import Response

from assay.batch.database import Database
from assay.queue.entry import Entry, entry_of
from assay.queue.metrics import prometheus
from assay.queue.tables import as_data, cancel, listed, open_queue, put
from assay.registry import Prepared, prepared
from assay.terms import Terms
from assay.web.app_state import redirect, respond, site_of
from assay.web.permissions import demand
from assay.web.templating import render
from llm_runtime.clock import now_ms
from llm_runtime.errors import ConfigurationError
from llm_runtime.store import RunStore, new_run_id

T = TypeVar("T")


def queue_url(store: RunStore) -> str:
    """Return the address of the database that holds a store's queue; empty where it can have none."""
    return str(getattr(store, "url", ""))


async def list_queue(request: Request) -> Response:
    """List what waits for workers, what runs and what failed: what is taken next comes first."""
    entries = await _with_queue(request, listed) if queue_url(site_of(request).store) else []
    live = any(entry.state in ("waiting", "running") for entry in entries)
    page = partial(render, "queue.html", entries=entries, live=live)
    return respond(request, lambda: {"entries": [as_data(each) for each in entries]}, page)


async def cancel_entry(request: Request) -> Response:
    """Cancel an entry; a run under way is stopped and can be resumed."""
    number = request.path_params["number"]
    if not number.isdecimal():
        raise ConfigurationError("an entry has a number")
    done = await _with_queue(request, lambda database: cancel(database, int(number)))
    return redirect(request, "/queue", {"entry": int(number), "done": done})


async def metrics(request: Request) -> Response:
    """Return the store's sums, its queue and its purses in Prometheus' text format; send the token as Bearer."""
    text = await asyncio.to_thread(prometheus, site_of(request).store)
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")


async def put_run(request: Request, run: Prepared, terms: Terms, seed: int | None) -> Response:
    """Put a run into the queue, and show that.

    Raises:
        ConfigurationError: the run cannot be; or the store has no queue.
    """

    demand(site_of(request).store, "admin")  # workers have keys of their own

    def enter(database: Database) -> tuple[int, Entry]:
        entry = entry_of(prepared(run), terms, new_run_id(now_ms(), random.SystemRandom()), seed)
        return put(database, entry), entry

    number, entry = await _with_queue(request, enter)
    return redirect(request, "/queue", {"entry": number, "run_id": entry.run_id}, 202)


async def _with_queue(request: Request, do: Callable[[Database], T]) -> T:
    """Call ``do`` in a thread of its own: a database that is slow must delay nobody."""

    def doing() -> T:
        with open_queue(queue_url(site_of(request).store)) as database:
            return do(database)

    return await asyncio.to_thread(doing)
