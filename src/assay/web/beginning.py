"""The route of the start page: what was typed, what suits it and what that takes, the latest runs, recordings."""

from __future__ import annotations

import asyncio
from dataclasses import asdict

from starlette.requests import Request
from starlette.responses import Response

from assay.demo import demos, missing
from assay.launch import price_of
from assay.launch.glimpses import glimpses
from assay.protocol import Protocol
from assay.web import data
from assay.web.app_state import AppState, respond, site_of, wants_json
from assay.web.estimating import estimate_of
from assay.web.pages.home import Played, StartBox, Way, choice_fragment, home_page
from assay.web.permissions import seen
from assay.web.suggesting import openings, suggest
from llm_runtime.store import RunStore

_LATEST = 5
_LOOKED_AT = 200
"""Runs of a protocol among which its recording is looked for."""
_PATIENCE_S = 0.15
"""How long what suits a text waits for endpoints to list their models."""


async def home(request: Request) -> Response:
    """Show the start page: a box with what suits its text and what that takes, the latest runs, recordings."""
    site, fragment = site_of(request), "x-fragment" in request.headers
    latest = site.store.runs(limit=_LATEST, among=seen())
    looks = glimpses(site.store, latest)
    if fragment or wants_json(request):
        lately = (name for look in looks.values() for name in look.by)
        await site.models.look(lately, _PATIENCE_S if fragment else None)
    query = request.query_params
    box = await asyncio.to_thread(_box, site, query.get("text", ""), query.get("kind", ""), query.get("model", ""))
    if fragment:
        return Response(choice_fragment(box), media_type="text/html")
    played = {name: _played(site.store, name, protocol) for name, (protocol, _) in demos().items()}
    return respond(
        request,
        lambda: {
            "ways": [
                {"kind": way.run.name, "suggested": way.why, "estimate": way.estimate and asdict(way.estimate)}
                for way in box.ways
            ],
            "models": [asdict(chip) for chip in box.choices.chips],
            "recordings": [
                {
                    "name": name,
                    "protocol": protocol.runs[0].name,
                    "run": data.summary_data(run) if (run := played[name].run) else None,
                    "missing": played[name].missing,
                }
                for name, (protocol, _) in demos().items()
            ],
            "latest": [data.summary_data(run) for run in latest],
        },
        lambda: home_page(box, played, latest, looks),
    )


def _box(site: AppState, text: str, chosen: str, model: str) -> StartBox:
    choices, suggestion = site.models.known, suggest(text)
    asked = model or site.settings().config.model or ""
    chip = choices.of(asked)
    # The first price of all is read from a large table: that may take a moment, and only names a model costs it.
    price = chip.price if chip else price_of(site.settings(), asked) if asked else None
    ways = [
        Way(
            run,
            suggestion.why if suggestion and suggestion.kind == name else "",
            estimate_of(run, site.store, text, price),
        )
        for name, (run, _) in openings().items()
    ]
    return StartBox(text, ways, choices, site.models.looked, chosen, model, price is not None and price.free)


def _played(store: RunStore, name: str, protocol: Protocol) -> Played:
    """Return the latest run of a recording, and what is missing to play it."""
    runs = store.runs(protocol=protocol.runs[0].names, limit=_LOOKED_AT, among=seen())
    fault = missing(name)
    return Played(next((run for run in runs if run.origin == "demo"), None), str(fault or ""))
