"""The routes of the bench: the cases of a run or batch one by one, with what people say of each; labels out and in."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from collections import defaultdict
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import date, timedelta
from functools import lru_cache
from typing import Any, cast

from markupsafe import Markup
from pydantic import BaseModel, Json
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from assay.batch.export import WRITERS
from assay.batch.ledger import Batch, Ledger, Result
from assay.batch.purses import Purses
from assay.batch.report.story import labels
from assay.registry import verdict_of
from assay.report.cases import BenchCase, CaseBench, CellValue, headings
from assay.report.clean import clean
from assay.web.app_state import AppState, download, redirect, request_fields, respond, run_id_of, site_of
from assay.web.listing import with_ledger
from assay.web.live_runs import LiveRun
from assay.web.noting import my_name
from assay.web.permissions import seen, sees
from assay.web.templating import render
from llm_runtime.clock import now_ms
from llm_runtime.errors import LlmRuntimeError, RunNotFound
from llm_runtime.models import fits
from llm_runtime.rewording import reworded
from llm_runtime.store import RunStore
from llm_runtime.store.notes import Note, notes_of, write_note
from llm_runtime.structs import Struct
from llm_runtime.tables import divider

_TEXT, _LEAST = 8_000_000, 300
"""Characters of texts that a browser is sent to search in, of all cases together; of each at least."""
_STATES = {"done": "done", "dead": "failed"}
_MEDIA = {".csv": "text/csv", ".jsonl": "application/jsonl", ".toml": "application/toml"}
_WAIVED = timedelta(days=30)


class LookedAt(Struct):
    """What somebody looks through: where it is, its title, its cases with notes, and the run, where it is one."""

    address: str
    title: str
    cases: CaseBench
    watch: LiveRun | None = None


async def show_cases(request: Request) -> Response:
    """Show the cases of a run or batch, and the one that the address names beside them."""
    bench, who = await _bench(request), my_name(request.query_params.get("who", "")[:64])
    key = request.query_params.get("case", "")
    keyed = bench.cases.keyed
    beside = case_fragment(site_of(request), bench, keyed[key], who) if key in keyed else None
    if request.headers.get("x-fragment"):
        return HTMLResponse(beside or render("error.html", title="Not found", message="There is no such case."))
    page = {"bench": bench, "me": who, "beside": beside}
    return respond(request, lambda: _data(bench.cases, bench.watch), lambda: render("cases.html", **page))


async def export_cases(request: Request) -> Response:
    """Export the cases with people's labels and notes, ``csv`` or ``jsonl``; as ``toml`` what a suite's waivers are."""
    bench, ending = await _bench(request), f".{request.path_params['kind']}"
    if ending not in _MEDIA:
        raise RunNotFound(f"there is no such table; there are: {', '.join(_MEDIA)}")
    if ending == ".toml":
        until = date.fromtimestamp(now_ms() / 1000) + _WAIVED
        return download(bench.cases.waivers(until), _MEDIA[ending], "waivers.toml")
    out = io.BytesIO()
    WRITERS[ending](bench.cases.lines(), out)
    return download(out.getvalue(), _MEDIA[ending], f"{bench.address.rpartition('/')[2]}-cases{ending}")


class _Line(BaseModel):
    run: str
    place: str
    labels: dict[str, str] | Json[dict[str, str]]
    notes: dict[str, str] | Json[dict[str, str]]


async def take_labels(request: Request) -> Response:
    """Read labels and notes back from such a table; a person's own alone where the server has several people."""
    bench, fields = await _bench(request), await request_fields(request)
    known = {(case.run_id, case.place): {note.who: note for note in case.notes} for case in bench.cases.cases}
    taken = 0
    for line in _lines(str(fields.get("rows") or "")):
        for who in line.labels | line.notes if (line.run, line.place) in known else ():
            if my_name(who) == who:
                earlier = known[line.run, line.place].get(who) or Note(line.run, who, place=line.place)
                label, words = line.labels.get(who, earlier.label), line.notes.get(who, earlier.note)
                write_note(site_of(request).store, replace(earlier, label=label, note=words, at=0))
                taken += 1
    return redirect(request, f"/{bench.address}/cases", {"taken": taken})


def _lines(table: str) -> list[_Line]:
    csv.field_size_limit(_TEXT)
    with fits("a table of labels: "), reworded("a table of labels", csv.Error):
        table = table.lstrip("\ufeff \r\n")
        if table.startswith("{"):
            return [_Line.model_validate_json(line) for line in io.StringIO(table, newline=None) if line.strip()]
        between = divider(table.partition("\n")[0])
        return [
            _Line.model_validate(line) for line in csv.DictReader(io.StringIO(table, newline=""), delimiter=between)
        ]


async def moved(request: Request) -> Response:
    """Lead on from where the matrix was."""
    return RedirectResponse(f"{request.url.path.replace('/matrix', '/cases')}?{request.url.query}".rstrip("?"), 301)


def case_fragment(site: AppState, bench: LookedAt, case: BenchCase, who: str) -> Markup:
    """Return what stands beside the table: all of a case, what others made of the same, and what is otherwise now."""
    blocks = [*case.detail()]
    if case.run_id and bench.watch is None:
        with suppress(RunNotFound):
            told = site.hub.watch(case.run_id).story().sections[:2]
            blocks += [block for section in told for block in section.blocks]
    since, before = _before(site, bench, case)
    return render("case.html", bench=bench, case=case, me=who, blocks=blocks, since=since, before=before)


def _before(site: AppState, bench: LookedAt, case: BenchCase) -> tuple[str, tuple[CellValue, ...]]:
    """Return the run that this one came from, or the last one like it, and what the same case was there."""
    watch, store = bench.watch, site.store
    if watch is None:
        return "", ()
    began = watch.started
    like = store.runs(protocol=began.protocol, search=began.title, state="finished", before=watch.run_id, among=seen())
    last = began.parent or next((run.run_id for run in like if run.title == began.title), "")
    with suppress(LlmRuntimeError):
        earlier = site.hub.watch(last) if last and sees(store, last) else None
        for one in _made(earlier, earlier.version).cases if earlier else ():
            if one.place == case.place:
                return last, one.cells
    return "", ()


def _data(cases: CaseBench, watch: LiveRun | None) -> dict[str, object]:
    """Return the cases as the page's script takes them, each text as far as there is room for all."""
    most = max(_TEXT // max(len(cases.cases), 1), _LEAST)
    found = {"columns": [asdict(column) for column in cases.columns], "telling": cases.telling}
    lines = [_shown(line, most) for line in cases.lines()]
    live = watch is not None and watch.state == "running"
    return {**found, "agreement": asdict(cases.agreement), "live": live, "cases": lines}


def _shown(value: Any, most: int) -> Any:
    if isinstance(value, dict):
        return {clean(name): _shown(each, most) for name, each in cast("dict[str, object]", value).items()}
    return clean(value[:most]) if isinstance(value, str) else value


async def _bench(request: Request) -> LookedAt:
    site = site_of(request)
    if "batch_id" in request.path_params:
        bench = await _of_batch(request, request.path_params["batch_id"])
    else:
        watch = site.hub.watch(run_id_of(request))
        bench = LookedAt(f"runs/{watch.run_id}", watch.story().title, _made(watch, watch.version), watch)
    return replace(bench, cases=await asyncio.to_thread(noted, site.store, bench.cases))


@lru_cache(maxsize=4)
def _made(watch: LiveRun, version: int) -> CaseBench:
    """Return the cases of a run at a version of it."""
    if (bench := watch.story().bench) is None:
        raise RunNotFound(f"run {watch.run_id} has no cases to look through, or none yet")
    return bench()


def noted(store: RunStore, cases: CaseBench) -> CaseBench:
    """Return the cases with what people wrote beside them."""
    beside: defaultdict[tuple[str, str], list[Note]] = defaultdict(list)
    for notes in notes_of(store, list({case.run_id: None for case in cases.cases if case.run_id})).values():
        for note in notes:
            beside[note.run_id, note.place].append(note)
    found = (replace(case, notes=tuple(beside.get((case.run_id, case.place), ()))) for case in cases.cases)
    return replace(cases, cases=tuple(found))


async def _of_batch(request: Request, batch_id: str) -> LookedAt:
    def read(ledger: Ledger, purses: Purses) -> LookedAt:
        batch, names = ledger.batch(batch_id), labels(ledger.batch(batch_id))
        results = [(result, _output(batch, result)) for result in ledger.results(batch_id)]
        said: defaultdict[int, set[str]] = defaultdict(set)
        for result, text in results:
            said[result.row].add(text)
        alike = {row: "differ" if len(texts) > 1 else "same" for row, texts in said.items()}
        cases = (_job(result, text, (names[result.configuration], alike[result.row])) for result, text in results)
        heads = headings("Configuration", "Outputs", numbers=("Repetition", "Failures", "Cost, µ$"))
        return LookedAt(f"batches/{batch_id}", batch.title, CaseBench(heads, tuple(cases)))

    made = await with_ledger(request, read)
    if made is None:
        raise RunNotFound(f"there is no batch {batch_id[:80]!r}")
    return made


def _job(result: Result, text: str, words: tuple[str, str]) -> BenchCase:
    cells = (*words, result.repetition + 1, result.failures, result.cost if result.run_id else None)
    state = _STATES.get(result.state, "waiting")
    return BenchCase(_asked(result.task), state, cells, text, result.error, result.run_id)


def _output(batch: Batch, result: Result) -> str:
    if result.result is None or result.error:
        return f"{result.error}: {result.message}" if result.error else result.state
    data = json.loads(result.result)
    came = verdict_of(batch.protocol, data)
    return (came.gist or came.words) if came else json.dumps(data, ensure_ascii=False)


def _asked(task: str) -> str:
    """Return the first text of a task: what a person asked."""
    try:
        data: Any = json.loads(task)
    except ValueError:
        return task
    values = list(cast("dict[str, Any]", data).values()) if isinstance(data, dict) else [data]
    return next((value for value in values if isinstance(value, str) and value.strip()), task)
