"""The debate API: the persona library, and a debate as the event stream of the Crux specification, part 6.

The events are those that the run's log holds; each has its number there as id, so a reader who lost the answer of
``POST /api/dialogue`` goes on at ``GET /api/dialogue/RUN`` with ``Last-Event-ID``.
"""

from __future__ import annotations

import json
from typing import Any, cast

from pydantic_core import from_json
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from assay.web import forms
from assay.web.fitting import known_personas, persona_of
from assay.web.reading import last_seen, run_id_of
from assay.web.site import given, site_of
from assay.web.stream import event_stream
from llm_runtime.errors import LlmRuntimeError
from llm_runtime.events import Record


async def list_personas(request: Request) -> Response:
    """Who can sit on a panel."""
    found: list[dict[str, Any]] = []
    for name in known_personas():
        try:
            persona = persona_of(name)
        except LlmRuntimeError as fault:
            found.append({"id": name, "problem": str(fault)})
            continue
        found.append({"id": persona.id, "name": persona.name, "handle": persona.contract.handle})
    return JSONResponse({"personas": found})


async def start_dialogue(request: Request) -> Response:
    """Start a debate and stream it; the header ``X-Run-Id`` says under which id it is kept."""
    said = await given(request)
    ordered = forms.order("crux", {**said, "personas": said.get("personaIds", said.get("personas"))})
    works = site_of(request).works
    run_id = await works.start(ordered.protocol, ordered.title, ordered.task, ordered.settings, ordered.terms)
    return _streamed(request, run_id, 0)


async def follow_dialogue(request: Request) -> Response:
    """A debate's events behind ``Last-Event-ID``, and those to come."""
    return _streamed(request, run_id_of(request), last_seen(request))


def _streamed(request: Request, run_id: str, after: int) -> Response:
    site = site_of(request)
    watch = site.hub.watch(run_id)
    told = event_stream(site.store, watch, min(after, watch.seq), site.closing, _spoken)
    headers = {"cache-control": "no-store", "x-run-id": run_id}
    return StreamingResponse(told, media_type="text/event-stream", headers=headers)


def _spoken(record: Record) -> str:
    """The debate event in a record, under the specification's names; nothing where the record holds another."""
    if b'"type":"crux.posted"' not in record.body:
        return ""
    payload = cast("dict[str, Any]", from_json(record.body))
    if payload.get("type") != "crux.posted":
        return ""
    return f"id: {record.seq}\ndata: {json.dumps(payload['event'], ensure_ascii=False)}\n\n"
