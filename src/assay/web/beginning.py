"""The route of the start page: what was typed, what suits it and what that takes, the latest runs, recordings."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from assay.demo import demos, missing
from assay.launch.glimpses import glimpses
from assay.launch.model_choices import Choices
from assay.protocol import Protocol, RunType
from assay.web import data
from assay.web.app_state import AppState, respond, site_of, wants_json
from assay.web.estimating import UsualRun, estimate_of, model_price
from assay.web.permissions import seen
from assay.web.suggesting import openings, suggest
from assay.web.templating import render
from llm_runtime.store import RunStore, RunSummary

_LATEST = 5
_LOOKED_AT = 200
"""Runs of a protocol among which its recording is looked for."""
_PATIENCE_S = 0.15
"""How long what suits a text waits for endpoints to list their models."""


@dataclass(frozen=True, slots=True)
class Played:
    """What is known of a recording here: its latest run, and why it cannot be played where it cannot."""

    run: RunSummary | None = None
    missing: str = ""


@dataclass(frozen=True, slots=True)
class Way:
    """A kind of run that may be begun: why the text suits it, empty where it does not, and what it will take."""

    run: RunType
    why: str = ""
    estimate: UsualRun | None = None


@dataclass(frozen=True, slots=True)
class StartBox:
    """What stands in the box and under it.

    Args:
        text: what was typed.
        ways: the kinds of run that can begin with a text.
        choices: the models.
        looked: whether anybody has looked for models yet.
        chosen: kind of run that was ticked.
        model: that was ticked.
        free: whether it costs nothing.
    """

    text: str
    ways: Sequence[Way]
    choices: Choices
    looked: bool
    chosen: str
    model: str
    free: bool


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
        return HTMLResponse(choice_fragment(box))
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
        lambda: render(
            "home.html",
            text=box.text,
            choice=choice_fragment(box),
            protocols=[protocol for protocol, _ in demos().values()],
            played=played,
            latest=latest,
            seen=looks,
        ),
    )


def choice_fragment(box: StartBox) -> Markup:
    """Return what stands under the box."""
    return render("choice.html", **{name: getattr(box, name) for name in box.__slots__})


def _box(site: AppState, text: str, chosen: str, model: str) -> StartBox:
    choices, suggestion = site.models.known, suggest(text)
    price = model_price(site, model)
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
