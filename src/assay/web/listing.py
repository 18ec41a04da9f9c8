"""The routes of lists: runs, searched, filtered, sorted, a batch's jobs folded under it; batches with reports."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from functools import partial
from io import BytesIO
from math import inf
from statistics import mean
from typing import TypeVar
from urllib.parse import urlencode
from zipfile import ZIP_DEFLATED, ZipFile

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from assay.batch.batches import batches_beside
from assay.batch.ledger import Batch, Ledger
from assay.batch.progress import BatchProgress, look
from assay.batch.purses import Purses
from assay.batch.report import batch_story
from assay.launch.glimpses import glimpses
from assay.registry import known, run_types
from assay.report.standing import RunStanding
from assay.report.story import Story
from assay.web import data
from assay.web.app_state import download, redirect, request_fields, respond, site_of, wants_json
from assay.web.forms import one_of
from assay.web.people import may_all
from assay.web.permissions import demand, seen
from assay.web.templating import protocol_name, render
from llm_runtime.errors import ConfigurationError, RunNotFound, StoreBusy, StoreError
from llm_runtime.store import RunState, RunStore, RunSummary
from llm_runtime.store.notes import Note, all_tags, notes_of, tags_of_runs
from llm_runtime.store.run_reader import Order
from llm_runtime.store.searching import index_runs
from llm_runtime.store.upkeep import remove, set_tags
from llm_runtime.structs import Struct

STATES: tuple[RunState, ...] = ("running", "interrupted", "finished", "stopped", "failed")
ORDERS: tuple[Order, ...] = ("newest", "dearest", "longest", "calls")
_ORDER_WORDS = (("dearest", "Dearest first"), ("longest", "Longest first"), ("calls", "Most calls first"))


class Choice(Struct):
    """How the reader searches, filters and sorts the list; empty where not at all."""

    search: str = ""
    protocol: str = ""
    state: str = ""
    tag: str = ""
    order: str = ""
    before: str = ""

    @classmethod
    def of(cls, asked: Mapping[str, str]) -> Choice:
        """Return what an address or a form says; what else it holds is left out."""
        return cls(**{name: str(asked.get(name, ""))[:200].replace("\0", "") for name in cls.__slots__})

    def query(self, before: str) -> str:
        """Return the query of the next page, chosen in the same way."""
        return urlencode({name: value for name, value in {**asdict(self), "before": before}.items() if value})


class ListedRuns(Struct):
    """Runs to show, what is known of each by its id, whether there are more, how many in all up to `COUNTED`."""

    runs: Sequence[RunSummary]
    seen: Mapping[str, RunStanding]
    tags: Mapping[str, list[str]]
    notes: Mapping[str, list[Note]]
    more: bool
    many: int

    def rating(self, run_id: str) -> float | None:
        """Return the mean of people's ratings."""
        ratings = [note.rating for note in self.notes[run_id] if note.rating]
        return round(mean(ratings), 1) if ratings else None


def runs_page(
    listed: ListedRuns, folded: Sequence[BatchProgress], choice: Choice, protocols: list[str], tags: list[str]
) -> str:
    """Return the page.

    Args:
        listed: the runs to show, in order.
        folded: batches whose jobs would stand among them.
        choice: how they were chosen.
        protocols: those to choose from.
        tags: likewise.
    """
    rows: list[tuple[RunSummary | None, BatchProgress | None]] = [(run, None) for run in listed.runs]
    for progress in folded:
        began = progress.batch.created_at // 1000
        place = next((at for at, (run, _) in enumerate(rows) if run and run.started_at < began), len(rows))
        rows.insert(place, (None, progress))
    return render(
        "runs.html",
        rows=rows,
        listed=listed,
        choice=choice,
        filtered=choice != Choice(),
        counted=COUNTED,
        protocols=[(name, protocol_name(name)) for name in protocols],
        states=[(state, state) for state in STATES],
        orders=_ORDER_WORDS,
        tags=[(tag, tag.partition("~")[0]) for tag in tags],
        older=choice.query(listed.runs[-1].run_id) if listed.more else "",
        live=any(run.state == "running" for run in listed.runs),
    )


T = TypeVar("T")


def _looks(ledger: Ledger, purses: Purses, batches: list[Batch]) -> list[BatchProgress]:
    return [look(ledger, purses, batch.batch_id) for batch in batches]


async def list_batches(request: Request) -> Response:
    """List batches, newest first: jobs done, running and failed, and what they took."""

    batches = await with_ledger(request, lambda ledger, purses: _looks(ledger, purses, ledger.batches())) or []
    live = any(progress.state == "running" for progress in batches)
    page = partial(render, "batches.html", batches=batches, live=live)
    return respond(request, lambda: {"batches": [each.to_dict() for each in batches]}, page)


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
    page = partial(render, "batch.html", progress=progress, story=story)
    return respond(request, lambda: {**progress.to_dict(), "story": data.story_data(story)}, page)


async def with_ledger(request: Request, read: Callable[[Ledger, Purses], T]) -> T | None:
    """Call ``read`` in a thread of its own: a long table must delay nobody."""

    def reading() -> T | None:
        database = batches_beside(site_of(request).store)
        if database is None:
            return None
        with closing(database):
            return read(Ledger(database), Purses(database))

    return await asyncio.to_thread(reading)


_LISTED = 40
COUNTED = 10_000
"""Runs up to which those that are found are counted, and up to which something is done to all of them."""
_ZIPPED = 1_000
_ACTS = ("tag", "delete", "export")
_FOLDED = 200
"""Batches, newest first, whose jobs are folded."""


async def list_runs(request: Request) -> Response:
    """List runs as searched, filtered and sorted; a page folds the jobs of each batch under it."""
    site, choice = site_of(request), Choice.of(request.query_params)
    batches = await _folding(request, choice)
    apart = [f"{batch.tag}-" for batch in batches]
    runs = await asyncio.to_thread(_chosen, site.store, choice, apart, _LISTED + 1)
    page, more = runs[:_LISTED], len(runs) > _LISTED
    ids = [run.run_id for run in page]
    tags, notes = tags_of_runs(site.store, ids), notes_of(site.store, ids)
    many = len(runs)
    if not wants_json(request) and (choice.before or (more and "x-fragment" not in request.headers)):
        many = len(await asyncio.to_thread(_chosen, site.store, replace(choice, before=""), apart, COUNTED))
    listed = ListedRuns(page, glimpses(site.store, page), tags, notes, more, many)
    if wants_json(request):
        return JSONResponse(_data(listed, choice))
    newest = site.store.summary(choice.before).started_at if choice.before else inf
    oldest = page[-1].started_at if more else -inf
    among = [batch for batch in batches if oldest <= batch.created_at // 1000 < newest]
    folded = await with_ledger(request, lambda ledger, purses: _looks(ledger, purses, among)) if among else None
    kinds = (one.name if (one := known(run.protocol)) else run.protocol for run in page)
    protocols = list(dict.fromkeys([*run_types(), *kinds]))
    return HTMLResponse(runs_page(listed, folded or [], choice, protocols, all_tags(site.store, seen())))


async def act_on_runs(request: Request) -> Response:
    """Tag, delete or export the runs that are ticked, or with ``all`` set every one that the list shows."""
    store, fields = site_of(request).store, await request_fields(request)
    choice, does = Choice.of(fields), one_of(str(fields.get("do") or ""), _ACTS, "do is")
    runs, most = await _ticked(request, fields, choice), _ZIPPED if does == "export" else COUNTED
    if not 0 < len(runs) <= most:
        raise ConfigurationError(f"{len(runs):,} runs are chosen; choose 1 to {most:,}")
    for run in runs:
        demand(store, "see" if does == "export" else "act", run.run_id)
    if does == "export":
        return download(await asyncio.to_thread(_zipped, store, runs), "application/zip", "runs.zip")
    if does == "delete" and (held := (await asyncio.to_thread(remove, store, runs))[1]):
        raise StoreBusy(f"{len(held)} of {len(runs)} runs are under way and stay; stop them first")
    for run in runs if does == "tag" else ():
        set_tags(store, run.run_id, *(str(fields.get(name) or "").split() for name in ("add", "remove")))
    return redirect(request, f"/runs?{choice.query('')}", {"done": len(runs)})


async def _ticked(request: Request, fields: Mapping[str, object], choice: Choice) -> list[RunSummary]:
    store = site_of(request).store
    if not fields.get("all"):
        return [store.summary(run_id) for run_id in str(fields.get("run") or "").split()]
    apart = [f"{batch.tag}-" for batch in await _folding(request, choice)]
    return await asyncio.to_thread(_chosen, store, choice, apart, COUNTED)


def _zipped(store: RunStore, runs: Sequence[RunSummary]) -> bytes:
    """Return the logs, a file each."""
    held = BytesIO()
    with ZipFile(held, "w", ZIP_DEFLATED) as folder:
        for run in runs:
            folder.writestr(f"{run.run_id}.jsonl", data.log_of(store, run.run_id))
    return held.getvalue()


async def _folding(request: Request, choice: Choice) -> list[Batch]:
    """Return the batches whose jobs are no runs of their own in the list."""
    folds = may_all() and not (choice.search or choice.state or choice.tag or choice.order or wants_json(request))
    return (await with_ledger(request, lambda ledger, _: ledger.batches()[:_FOLDED]) or []) if folds else []


def _chosen(store: RunStore, choice: Choice, apart: list[str], most: int) -> list[RunSummary]:
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
        limit=most,
        before=choice.before or None,
    )


def keep_words(store: RunStore, most: int = 100) -> int:
    """Take the words that runs are searched by; return how many runs are left, none where nothing is written."""
    try:
        return index_runs(store, most)
    except StoreError:
        return 0


def _data(listed: ListedRuns, choice: Choice) -> dict[str, object]:
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
    return {"runs": runs, "next": f"/runs.json?{choice.query(listed.runs[-1].run_id)}" if listed.more else None}
