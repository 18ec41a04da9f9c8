"""The route of the start page: what was typed, what suits it and what that takes, the latest runs, recordings."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from statistics import median

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from assay.demo import demos, missing
from assay.hooks import hooks_of
from assay.launch import price_of
from assay.launch.glimpses import glimpses
from assay.launch.model_choices import Choices
from assay.launch.naming import models_of
from assay.protocol import Needs, Opening, Protocol, RunType
from assay.registry import Prepared, protocol_of
from assay.report.units import count, count_noun, duration, money, short_count
from assay.terms import Terms
from assay.web import data
from assay.web.app_state import AppState, respond, site_of, wants_json
from assay.web.composing import Composer, composer
from assay.web.forms import form_of, forms
from assay.web.permissions import seen
from assay.web.templating import render
from llm_runtime.messages import Usage
from llm_runtime.price import Price
from llm_runtime.store import RunStore, RunSummary
from llm_runtime.structs import Struct
from llm_runtime.tokens import estimate_tokens

_LONGEST = 4_000
"""Characters of a text that the rules look at."""


def openings() -> Mapping[str, tuple[RunType, Opening]]:
    """Return the kinds of run that a text can begin, by name."""
    return {run.name: (run, run.opening) for run in forms() if run.opening}


def suggest(text: str) -> tuple[str, str]:
    """Return the kind of run whose signs the text shows most of, and what speaks for it; nothing where it shows none.

    Of two with as many signs the more special one wins: the last in the order of the protocols.
    """
    text, best, most = text[:_LONGEST], ("", ""), 0
    for name, (_, opening) in openings().items():
        shown = [why for pattern, why in opening.signs if re.search(pattern, text, re.IGNORECASE | re.DOTALL)]
        if shown and len(shown) >= most:
            best, most = (name, ", and ".join(shown)), len(shown)
    return best


_PACE = 40
"""Tokens a second that a model is taken to write, where no run of this kind was measured."""

_MEASURED = 9
"""Finished runs of a kind that an estimate is read from."""


class UsualRun(Struct):
    """What a usual run takes.

    Args:
        calls: to models.
        tokens: in and out.
        cost: micro-dollars; ``None`` where the model has no known price.
        milliseconds: from start to end.
        basis: what it is read from.
    """

    calls: int
    tokens: int
    cost: int | None
    milliseconds: int
    basis: str

    def times(self, units: float) -> UsualRun:
        """Return what so many of them take."""
        cost = None if self.cost is None else round(self.cost * units)
        calls, tokens, milliseconds = (round(each * units) for each in (self.calls, self.tokens, self.milliseconds))
        return UsualRun(calls, tokens, cost, milliseconds, self.basis)


def estimate_of(
    run: RunType, store: RunStore, text: str, price: Price | None, units: int = 1, each: int = 0
) -> UsualRun | None:
    """Estimate a run of a kind before it is started.

    Args:
        store: whose finished runs are looked at.
        text: what is asked.
        price: of the model.
        units: how often it does what the protocol's usual run does once.
        each: calls that it makes for each of them at most; 0 takes those of the usual run.
    """
    owner = protocol_of(run.name)
    usual = owner.runs[0] if hooks_of(run).several else run
    # A run of many tasks says nothing of one of another number.
    finished = store.runs(protocol=usual.names, state="finished", limit=_MEASURED, among=seen())
    past = [one for one in finished if one.origin == "live" and one.calls and not hooks_of(usual).several]
    one = estimate(owner.needs if usual is owner.runs[0] else None, past, text, price)
    return one and one.times(units * each / one.calls if each else units)


def words_of(estimate: UsualRun | None, units: int = 1, each: int = 0) -> str:
    """Write an estimate as a sentence; ``units`` and ``each`` as for :func:`estimate_of`."""
    if estimate is None:
        return "Nothing is known yet of what this takes; set a budget."
    calls = count_noun(estimate.calls, "call")
    if each:
        calls = f"At most {calls}" + (f", {each} for each of {count(units)}" if units > 1 else "")
    else:
        calls = f"{count(units)} times what one took: about {calls}" if units > 1 else f"About {calls}"
    cost = "unknown cost" if estimate.cost is None else f"about {money(estimate.cost)}"
    return (
        f"{calls}, {short_count(estimate.tokens)} tokens, {cost}, "
        f"{duration(estimate.milliseconds)} if done one after the other; {estimate.basis}. "
        "An estimate is no bound: a budget is."
    )


def estimate(needs: Needs | None, past: Sequence[RunSummary], text: str, price: Price | None) -> UsualRun | None:
    """Estimate a run from finished ones of its kind, else from its protocol's recording; ``None`` without either.

    Args:
        needs: of the protocol, where this is its usual kind of run.
        past: finished runs of this kind that models answered.
        text: what is asked; each call reads it.
        price: of the model.
    """
    if past:
        counts = ("calls", "input_tokens", "output_tokens")
        calls, asked, answered = (round(median(getattr(run, name) for run in past)) for name in counts)
        milliseconds = round(median(run.updated_at - run.started_at for run in past))
        basis = f"as your last {len(past)} took" if len(past) > 1 else "as your last one took"
    elif needs is not None:
        calls, answered = needs.calls, needs.answered
        asked = needs.asked + calls * estimate_tokens(text)
        milliseconds = round(answered / _PACE * 1000)
        basis = "read from its recording"
    else:
        return None
    # Call by call, since prices may depend on the length of a prompt.
    each = price.of(Usage(asked // max(calls, 1), answered // max(calls, 1))) if price else None
    cost = None if each is None else each * calls
    return UsualRun(calls, asked + answered, cost, max(round(milliseconds, -3), 1_000), basis)


def run_price(site: AppState, run: Prepared, terms: Terms) -> Price | None:
    """Return the price of the dearest model that answers a run; ``None`` where nobody says one of them."""
    panel = [] if terms.model else models_of(run) if run.hooks.panel(run.options) else []
    prices = [model_price(site, name) for name in panel or [terms.model]]
    known = [price for price in prices if price is not None]
    return max(known, key=lambda price: price.output) if len(known) == len(prices) else None


def model_price(site: AppState, model: str | None) -> Price | None:
    """Return the price of the model that answers; ``None`` where it is not known.

    The first price of all is read from a large table: that may take a moment, and only a named model costs it.
    """
    named = model or site.settings().config.model
    chip = site.models.known.of(named) if named else None
    return chip.price if chip else price_of(site.settings(), named) if named else None


_LATEST = 5
_LOOKED_AT = 200
"""Runs of a protocol among which its recording is looked for."""
_PATIENCE_S = 0.15
"""How long what suits a text waits for endpoints to list their models."""


class Played(Struct):
    """What is known of a recording here: its latest run, and why it cannot be played where it cannot."""

    run: RunSummary | None = None
    missing: str = ""


class Way(Struct):
    """A kind of run that may be begun: why the text suits it, empty where it does not, and what it will take."""

    run: RunType
    why: str = ""
    estimate: UsualRun | None = None


class StartBox(Struct):
    """What stands in the box and under it.

    Args:
        ways: the kinds of run that can begin with a text.
        choices: the models.
        looked: whether anybody has looked for models yet.
        chosen: kind of run that was ticked.
        model: that was ticked.
        free: whether it costs nothing.
        form: what is filled in beside the text, for the kind that was ticked.
    """

    ways: Sequence[Way]
    choices: Choices
    looked: bool
    chosen: str
    model: str
    free: bool
    form: Composer


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
            "recordings": [_recording(name, protocol, played[name]) for name, (protocol, _) in demos().items()],
            "latest": [data.summary_data(run) for run in latest],
        },
        lambda: render(
            "home.html",
            text=query.get("text", ""),
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
    choices, (suggested, why) = site.models.known, suggest(text)
    price = model_price(site, model)
    ways = [
        Way(run, why if suggested == name else "", estimate_of(run, site.store, text, price))
        for name, (run, _) in openings().items()
    ]
    run, opening = openings().get(chosen, (None, None))
    asked = form_of(run.name).fields if run else ()
    form = composer(run, asked, reachable=bool(site.settings().providers), without=opening.field if opening else "")
    return StartBox(ways, choices, site.models.looked, chosen, model, price is not None and price.free, form)


def _recording(name: str, protocol: Protocol, played: Played) -> dict[str, object]:
    run = data.summary_data(played.run) if played.run else None
    return {"name": name, "protocol": protocol.runs[0].name, "run": run, "missing": played.missing}


def _played(store: RunStore, name: str, protocol: Protocol) -> Played:
    """Return the latest run of a recording, and what is missing to play it."""
    runs = store.runs(protocol=protocol.runs[0].names, limit=_LOOKED_AT, among=seen())
    return Played(next((run for run in runs if run.origin == "demo"), None), str(missing(name) or ""))
