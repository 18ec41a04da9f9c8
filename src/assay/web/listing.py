"""The route of the list of runs: searched, filtered, sorted, the jobs of a batch folded under it."""

from __future__ import annotations

import asyncio
from math import inf

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from assay.batch.ledger import Batch, Ledger
from assay.batch.progress import BatchProgress, look
from assay.batch.purses import Purses
from assay.launch.glimpses import glimpses
from assay.registry import known, run_types
from assay.web import data
from assay.web.app_state import site_of, wants_json
from assay.web.batches import with_ledger
from assay.web.forms import one_of
from assay.web.pages.runs import ORDERS, STATES, Choice, ListedRuns, runs_page
from assay.web.people import may_all
from assay.web.permissions import seen
from llm_runtime.errors import StoreError
from llm_runtime.store import RunStore, RunSummary
from llm_runtime.store.notes import all_tags, notes_of, tags_of_runs
from llm_runtime.store.searching import index_runs

_LISTED = 30
_FOLDED = 200
"""Batches, newest first, whose jobs are folded."""


async def list_runs(request: Request) -> Response:
    """List runs as searched, filtered and sorted; a page folds the jobs of each batch under it."""
    site, query = site_of(request), request.query_params
    names = ("search", "protocol", "state", "tag", "order", "before")
    choice = Choice(**{name: query.get(name, "")[:200].replace("\0", "") for name in names})
    folds = may_all() and not (choice.search or choice.state or choice.tag or choice.order or wants_json(request))
    batches = (await with_ledger(request, lambda ledger, _: ledger.batches()[:_FOLDED]) or []) if folds else []
    runs = await asyncio.to_thread(_chosen, site.store, choice, [f"{batch.tag}-" for batch in batches])
    page, more = runs[:_LISTED], len(runs) > _LISTED
    ids = [run.run_id for run in page]
    listed = ListedRuns(page, glimpses(site.store, page), tags_of_runs(site.store, ids), notes_of(site.store, ids))
    if wants_json(request):
        return JSONResponse(_data(listed, choice, more))
    newest = site.store.summary(choice.before).started_at if choice.before else inf
    oldest = page[-1].started_at if more else -inf
    among = [batch for batch in batches if oldest <= batch.created_at // 1000 < newest]
    folded = await with_ledger(request, lambda ledger, purses: _looks(ledger, purses, among)) if among else None
    kinds = (one.name if (one := known(run.protocol)) else run.protocol for run in page)
    protocols = list(dict.fromkeys([*run_types(), *kinds]))
    return HTMLResponse(runs_page(listed, folded or [], choice, protocols, all_tags(site.store, seen()), more))


def _looks(ledger: Ledger, purses: Purses, batches: list[Batch]) -> list[BatchProgress]:
    return [look(ledger, purses, batch.batch_id) for batch in batches]


def _chosen(store: RunStore, choice: Choice, apart: list[str]) -> list[RunSummary]:
    if choice.search:
        keep_words(store)
    return store.runs(
        protocol=run.names if (run := known(choice.protocol)) else choice.protocol or None,
        search=choice.search or None,
        state=one_of(choice.state, STATES, "a run's state is") if choice.state else None,
        tag=choice.tag or None,
        apart=apart,
        among=seen(),
        order=one_of(choice.order or "newest", ORDERS, "runs are ordered by"),
        limit=_LISTED + 1,
        before=choice.before or None,
    )


def keep_words(store: RunStore, most: int = 100) -> int:
    """Take the words that runs are searched by; return how many runs are left, none where nothing is written."""
    try:
        return index_runs(store, most)
    except StoreError:
        return 0


def _data(listed: ListedRuns, choice: Choice, more: bool) -> dict[str, object]:
    runs = [
        {
            **data.summary_data(run),
            "outcome": listed.seen[run.run_id].preview,
            "models": ", ".join(listed.seen[run.run_id].by),
            "standing": listed.seen[run.run_id].data(),
            "tags": listed.tags[run.run_id],
            "rating": listed.rating(run.run_id),
        }
        for run in listed.runs
    ]
    return {"runs": runs, "next": f"/runs.json?{choice.query(listed.runs[-1].run_id)}" if more else None}
