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

from assay.protocols.crux.people import known_personas, open_people, persona_of
from assay.protocols.crux.report import DebateFold
from assay.protocols.crux.task import need_extra
from assay.web import forms
from assay.web.app_state import is_json, request_fields, run_id_of, site_of
from assay.web.reading import last_seen
from assay.web.rendering import event_stream
from crux.insight.alignment import alignment_map
from llm_runtime.errors import ConfigurationError, LlmRuntimeError
from llm_runtime.events import Record


async def list_personas(request: Request) -> Response:
    """List who can sit on a panel."""
    people, listed = open_people(), list[dict[str, Any]]()
    for name in known_personas():
        try:
            persona = persona_of(name, people)
        except LlmRuntimeError as fault:
            listed.append({"id": name, "problem": str(fault)})
            continue
        listed.append({"id": persona.id, "name": persona.name, "handle": persona.contract.handle})
    return JSONResponse({"personas": listed})


async def start_dialogue(request: Request) -> Response:
    """Start a debate and stream it to its end; the header ``X-Run-Id`` says under which id it is kept.

    ``{"recording": true}`` streams the recorded debate instead, which needs no model.
    """
    fields, runs = await request_fields(request), site_of(request).runs
    if fields.pop("recording", False):
        need_extra()
        return _streamed(request, await runs.play("debate", forms.speed(fields)), 0)
    if "personaIds" in fields:
        fields["personas"] = fields.pop("personaIds")
    run, terms = forms.read_form({**fields, "kind": "crux.debate"}, strict=is_json(request))
    return _streamed(request, await runs.start(run, terms, seed=forms.seed_of(fields)), 0)


async def show_map(request: Request) -> Response:
    """Return a debate as a map of its disagreements: cards, who answers what, and who moved and why."""
    run_id = run_id_of(request)
    site = site_of(request)
    fold = site.hub.watch(run_id).fold
    if not isinstance(fold, DebateFold):
        raise ConfigurationError(f"run {run_id} is no debate")
    result = fold.state.result
    data = {
        "run_id": run_id,
        "topic": fold.state.debate.topic,
        "personas": list(fold.state.debate.personas),
        "aspects": [aspect.model_dump(mode="json") for aspect in result.aspects],
        "cards": [card.model_dump(mode="json") for card in result.cards],
        "alignment": [pair.model_dump(mode="json") for pair in alignment_map(result.cards)],
        "shifts": [shift.model_dump(mode="json") for shift in result.shifts],
        "state": site.store.summary(run_id).state,
    }
    return JSONResponse(data)


async def follow_dialogue(request: Request) -> Response:
    """Stream a debate's events behind ``Last-Event-ID``, and those to come."""
    return _streamed(request, run_id_of(request), last_seen(request))


def _streamed(request: Request, run_id: str, after: int) -> Response:
    site = site_of(request)
    watch = site.hub.watch(run_id)
    events = event_stream(site.store, watch, min(after, watch.seq), site.closing, _debate_event)
    headers = {"cache-control": "no-store", "x-run-id": run_id}
    return StreamingResponse(events, media_type="text/event-stream", headers=headers)


def _debate_event(record: Record) -> str:
    """Return the debate event in a record, under the specification's names; nothing for other records."""
    if b'"type":"crux.posted"' not in record.body:
        return ""
    payload = cast("dict[str, Any]", from_json(record.body))
    if payload.get("type") != "crux.posted":
        return ""
    return f"id: {record.seq}\ndata: {json.dumps(payload['event'], ensure_ascii=False)}\n\n"
