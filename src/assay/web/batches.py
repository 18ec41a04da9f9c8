"""The routes that show batches: all of them, and one with its report."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import Response

from assay.batch.batches import batches_beside
from assay.batch.ledger import Ledger
from assay.batch.progress import BatchProgress, look
from assay.batch.purses import Purses
from assay.batch.report import batch_story
from assay.report.story import Story
from assay.web import data
from assay.web.app_state import respond, site_of
from assay.web.pages.runs import BADGES
from assay.web.templating import render
from llm_runtime.errors import RunNotFound

T = TypeVar("T")


async def list_batches(request: Request) -> Response:
    """List batches, newest first: jobs done, running and failed, and what they took."""

    def read(ledger: Ledger, purses: Purses) -> list[BatchProgress]:
        return [look(ledger, purses, batch.batch_id) for batch in ledger.batches()]

    batches = await with_ledger(request, read) or []
    live = any(progress.state == "running" for progress in batches)
    return respond(
        request,
        lambda: {"batches": [each.to_dict() for each in batches]},
        lambda: render("batches.html", batches=batches, live=live, badges=BADGES),
    )


async def show_batch(request: Request) -> Response:
    """Show a batch's report."""
    batch_id: str = request.path_params["batch_id"]

    def read(ledger: Ledger, purses: Purses) -> tuple[BatchProgress, Story]:
        progress = look(ledger, purses, batch_id)
        return progress, batch_story(progress, ledger.results(batch_id))

    report = await with_ledger(request, read)
    if report is None:
        raise RunNotFound(f"there is no batch {batch_id[:80]!r}")
    progress, story = report
    return respond(
        request,
        lambda: {**progress.to_dict(), "story": data.story_data(story)},
        lambda: render("batch.html", progress=progress, story=story, badges=BADGES),
    )


async def with_ledger(request: Request, read: Callable[[Ledger, Purses], T]) -> T | None:
    """Call ``read`` in a thread of its own: a long table must delay nobody."""

    def reading() -> T | None:
        database = batches_beside(site_of(request).store)
        if database is None:
            return None
        try:
            return read(Ledger(database), Purses(database))
        finally:
            database.close()

    return await asyncio.to_thread(reading)
