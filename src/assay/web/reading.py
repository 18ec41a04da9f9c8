"""The routes that show: runs, a run's views, its calls and events, its exports, two runs side by side."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from pydantic_core import from_json
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse

from assay import launch
from assay.registry import hooks_for, opened, standing_in, story_of
from assay.report.changes import changes
from assay.report.places import story_text
from assay.report.story import Block, Prose, Story
from assay.web import data
from assay.web.app_state import download, request_fields, respond, run_id_of, site_of, wants_json
from assay.web.forms import whole_number
from assay.web.guard import entrance
from assay.web.live_runs import LiveRun
from assay.web.noting import beside
from assay.web.permissions import demand, seen
from assay.web.rendering import VIEWS, event_stream, page_stream
from assay.web.templating import assets, media_type, render
from assay.web.views import PAGE, listed, run_page
from llm_runtime.errors import ConfigurationError, RunNotFound
from llm_runtime.store import RunStore, RunSummary, valid_run_id

_LISTED = 30
#: Whom it asks for is a wish; who answers is said of the call.
_SHOWN_APART = frozenset({"messages", "label", "schema", "model", "fallbacks"})
_STREAM = {"cache-control": "no-store", "x-accel-buffering": "no"}


async def enter(request: Request) -> Response:
    """Open the door with the one-time key or the token, and stay known by a cookie."""
    gate = site_of(request).gate
    people = gate.people is not None
    # A HEAD request, as previews of links make it, must not use the key up.
    key, name, person, way = request.query_params.get("key", ""), "", None, ""
    if request.method == "POST":
        sent = await request_fields(request)
        key, name, password, way = (str(sent.get(field) or "") for field in ("key", "name", "password", "way"))
        if name:
            address = request.client.host if request.client else ""
            try:
                person = await gate.enter(name, key, password, address)
            except ConfigurationError as fault:
                return HTMLResponse(entrance(str(fault), people=people, way=way), 403)
    elif people and not key:
        return HTMLResponse(entrance(people=True))
    if request.method == "HEAD" or not (person if name else gate.admit(key)):
        why = "Name and password do not fit." if name else "This key does not open, or not any more."
        return HTMLResponse(entrance(why, people=people, way=way), 403)
    response = RedirectResponse(gate.way(way), 303)
    gate.sign_in(response, person)
    return response


async def leave(request: Request) -> Response:
    """End the session of this browser."""
    gate = site_of(request).gate
    why = "You are signed out: this browser is not known any more."
    response = HTMLResponse(entrance(why, people=gate.people is not None))
    gate.sign_out(request.headers, response)
    return response


async def static(request: Request) -> Response:
    """Send a style sheet, a script or a picture; at an address with a version it stays as it is."""
    name = "/".join(request.path_params.values())
    if name not in assets():
        return Response("404: no such file\n", 404, media_type="text/plain")
    headers = {"cache-control": "private, max-age=31536000, immutable"} if request.query_params.get("v") else {}
    return Response(assets()[name], media_type=media_type(name), headers=headers)


async def show_run(request: Request) -> Response:
    """Show a run's story."""
    summarise = site_of(request).store.summary
    return _view(request, "story", lambda watch: data.run_data(watch, summarise(watch.run_id)))


async def show_timeline(request: Request) -> Response:
    """Show a run's calls by phase and seat."""

    def tree(watch: LiveRun) -> dict[str, Any]:
        return {"total": data.sums_data(watch.calls.tally.total), "phases": data.tree_data(watch.calls.tree())}

    return _view(request, "timeline", tree)


async def show_events(request: Request) -> Response:
    """List a run's events after number ``after``; the newest where that is left out."""
    site, run_id = site_of(request), run_id_of(request)
    watch = site.hub.watch(run_id)
    start = request.query_params.get("after")
    after = whole_number(start, "after") if start is not None else max(watch.seq - PAGE, 0)
    if wants_json(request):
        records = site.store.records(run_id, after, PAGE)
        events = [{"seq": record.seq, "at": record.at, "event": from_json(record.body)} for record in records]
        return JSONResponse({"events": events, "length": watch.seq})
    if start is None:
        page = site.renderer.render(watch, "events")
        return HTMLResponse(run_page(watch, page.parts, "events", page.mark))
    return HTMLResponse(run_page(watch, listed(watch, site.page_state(watch), after), "events", None))


async def show_event(request: Request) -> Response:
    """Show one event as the log keeps it."""
    site, run_id = site_of(request), run_id_of(request)
    seq = whole_number(request.path_params["seq"], "the event's number")
    record = next(site.store.records(run_id, seq - 1, 1), None)
    if record is None or record.seq != seq:
        raise RunNotFound(f"run {run_id} has no event {seq}")
    payload = from_json(record.body)
    content = {"seq": seq, "at": record.at, "event": payload}
    text = json.dumps(payload, indent=1, ensure_ascii=False)
    return _opened(request, run_id, content, f"Event {seq}", "events", "event.html", seq=seq, payload=text)


async def show_call(request: Request) -> Response:
    """Show one call, by the number of the event that began it: its request and its reply."""
    site, run_id = site_of(request), run_id_of(request)
    seq = whole_number(request.path_params["seq"], "the call's number")
    entry = site.hub.watch(run_id).calls.at(seq)
    if entry is None:
        raise RunNotFound(f"no call of run {run_id} begins with event {seq}")
    call, place = entry
    payload = _payload(site.store, run_id, place.started).get("request", {})
    outcome = _payload(site.store, run_id, place.ended) if place.ended else {}
    options = {name: value for name, value in payload.items() if name not in _SHOWN_APART}
    shown = {"call": call, "place": place, "request": payload, "options": options, "outcome": outcome}
    content = {**data.call_data(call, place), "request": payload, "outcome": outcome or None}
    return _opened(request, run_id, content, str(call.label), "timeline", "call.html", **shown)


async def stream(request: Request) -> Response:
    """Stream a run as server-sent events; ``view`` chooses what, ``Last-Event-ID`` or ``after`` where to begin."""
    site, run_id, query = site_of(request), run_id_of(request), request.query_params
    watch = site.hub.watch(run_id)
    after, view = min(last_seen(request), watch.seq), query.get("view", "")
    if view in VIEWS:
        drawn = "" if "last-event-id" in request.headers else query.get("drawn", "")
        messages = page_stream(
            site.renderer, watch, view, after, drawn, closing=site.closing, look=site.look, words=site.runs.words
        )
    else:
        messages = event_stream(site.store, watch, after, site.closing)
    return StreamingResponse(messages, media_type="text/event-stream", headers=_STREAM)


async def export(request: Request) -> Response:
    """Export a run as a file: ``html``, ``md``, ``json`` or ``jsonl``."""
    store, run_id, kind = site_of(request).store, run_id_of(request), request.path_params["kind"]
    if kind not in _EXPORTS:
        raise RunNotFound(f"there is no export called {kind[:20]}; there are: {', '.join(_EXPORTS)}")
    media, write = _EXPORTS[kind]
    return download(write(store, run_id), media, f"{run_id}.{kind}")


async def hand_out(request: Request) -> Response:
    """Give what a finished run made outside its log as one file: a build's project, a trial's bundle."""
    store, run_id = site_of(request).store, run_id_of(request)
    run = opened(launch.first_event(event for _, event in store.events(run_id)))
    if (handout := run.hooks.file) is None or store.summary(run_id).state != "finished":
        raise RunNotFound(f"run {run_id} has made no file; its export holds all there is")
    content = await asyncio.to_thread(run.hooks.handout, run.task, run.options, run_id)
    return download(content, "application/octet-stream", f"{run_id}.{handout.ending}")


def last_seen(request: Request) -> int:
    """Return the number of the last event that a reader has: ``Last-Event-ID``, else ``after``, else 0.

    Raises:
        ConfigurationError: it is no number.
    """
    return whole_number(request.headers.get("last-event-id", request.query_params.get("after", "0")), "Last-Event-ID")


def _view(request: Request, view: str, content: Callable[[LiveRun], object]) -> Response:
    site, run_id = site_of(request), run_id_of(request)
    watch = site.hub.watch(run_id)

    def html() -> str:
        page = site.renderer.render(watch, view)
        return run_page(watch, page.parts, view, page.mark, beside(site.store, run_id))

    return respond(request, lambda: content(watch), html)


def _opened(
    asked: Request, run_id: str, content: dict[str, Any], heading: str, view: str, template: str, **shown: Any
) -> Response:
    """Respond with a piece of a run, opened: for a page, or as one of its own for who comes without a script."""
    if wants_json(asked):
        return JSONResponse(content)
    summary = site_of(asked).store.summary(run_id)
    fragment = render(template, run_id=run_id, forks=hooks_for(summary.protocol).replayable, **shown)
    if asked.headers.get("x-fragment"):
        return HTMLResponse(fragment)
    own = {"title": summary.title, "heading": heading, "view": view}
    return HTMLResponse(render("opened.html", run_id=run_id, fragment=fragment, **own))


def _payload(store: RunStore, run_id: str, seq: int) -> dict[str, Any]:
    record = next(store.records(run_id, seq - 1, 1), None)
    return from_json(record.body) if record else {}


def _report(ending: str) -> Callable[[RunStore, str], str]:
    return lambda store, run_id: story_text(story_of(store.records(run_id), store.summary(run_id).state), ending)


def _json(store: RunStore, run_id: str) -> str:
    events = [event for _, event in store.events(run_id)]
    content = {
        **data.summary_data(store.summary(run_id)),
        "standing": standing_in(store, run_id).data(),
        "task": launch.first_event(events).task,
        "result": launch.result_of(events),
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


_EXPORTS = {
    "html": ("text/html", _report(".html")),
    "md": ("text/markdown", _report(".md")),
    "json": ("application/json", _json),
    "jsonl": ("application/jsonl", data.log_of),
}


Side = tuple[RunSummary, Story]


async def compare(request: Request) -> Response:
    """Compare two runs side by side: ``?run=ID&run=ID``; with one or none, list those to choose from."""
    site = site_of(request)
    chosen = [run_id for run_id in request.query_params.getlist("run") if valid_run_id(run_id)][:2]
    for run_id in chosen:
        demand(site.store, "see", run_id)
    runs = [site.store.summary(run_id) for run_id in chosen]
    if len(runs) < 2:
        one = runs[0] if runs else None
        others = site.store.runs(protocol=one.protocol if one else None, limit=_LISTED, among=seen())
        page = partial(render, "pick.html", chosen=one, runs=[run for run in others if run != one])
        return respond(request, lambda: {"runs": [data.summary_data(run) for run in others]}, page)
    left, right = ((run, site.hub.watch(run.run_id).story()) for run in runs)
    return respond(request, lambda: {"runs": [_side_data(left), _side_data(right)]}, lambda: compare_page(left, right))


def _side_data(side: Side) -> dict[str, object]:
    run, story = side
    return {"run": data.summary_data(run), "story": data.story_data(story)}


def compare_page(left: Side, right: Side) -> str:
    """Return the page."""
    first, second = ({section.heading: section.blocks for section in story.sections} for _, story in (left, right))
    headings = list(dict.fromkeys([*first, *second]))
    rows = [(name, first.get(name, ()), _marked(first.get(name, ()), second.get(name, ()))) for name in headings]
    return render("compare.html", sides=[("A", *left, right[1].facts), ("B", *right, left[1].facts)], rows=rows)


def _marked(before: tuple[Block, ...], after: tuple[Block, ...]) -> tuple[Block, ...]:
    """Mark what is new in the leading texts of a section; texts further down are other voices."""
    old = "\n\n".join(block.text for block in before if isinstance(block, Prose))
    if not old:
        return after
    return tuple(
        replace(block, changed=changes(old, block.text).marks) if isinstance(block, Prose) else block for block in after
    )
