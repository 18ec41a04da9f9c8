"""The routes that do something, and their forms: start, resume, fork and stop a run, and answer what it asks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response

from assay.registry import Prepared, known, protocol_of
from assay.terms import Terms
from assay.web import forms
from assay.web.app_state import AppState, is_json, redirect, request_fields, respond, run_id_of, site_of, wants_json
from assay.web.asking import Ask, read_answer
from assay.web.beginning import estimate_of, run_price, words_of
from assay.web.composing import composer
from assay.web.questions import answer_letter
from assay.web.queue import put_run, queue_url
from assay.web.templating import render
from llm_runtime.errors import ConfigurationError, LlmRuntimeError
from llm_runtime.routing import NO_MODEL
from llm_runtime.store import RunSummary


def new_page(
    form: forms.Form, reachable: list[str], values: Mapping[str, Any], fault: str = "", *, queue: bool = False
) -> str:
    """Return the form of a kind of run.

    Args:
        form: whose.
        reachable: vendors that have a key, and the user's own endpoints.
        values: what was filled in before, by a field's name.
        fault: why that was refused.
        queue: whether the run can be left to a worker.
    """
    return render(
        "new.html",
        queue=queue,
        run=form.run,
        kinds=forms.forms(),
        protocol=protocol_of(form.run.name),
        form=composer(form.run, form.fields, reachable=bool(reachable)),
        values=values,
        fault=fault,
    )


def onward(template: str, run: RunSummary, reachable: list[str], values: Mapping[str, Any], fault: str = "") -> str:
    """Return the form to go on with a run or to fork it, on other terms where the old ones ended it.

    ``template`` is its name; for the others see :func:`new_page`.
    """
    form = composer(known(run.protocol), (), reachable=bool(reachable), keeps=True)
    return render(template, run=run, form=form, values=values, fault=fault, again=str(values.get("at", "")) == "0")


_NO_MODEL = (
    "No model can be reached: store a key or name a server under Settings, start a local model server, or give "
    "seats to yourself. What you typed stays here."
)


async def new_run(request: Request) -> Response:
    """Show the form to start a run, and what can be filled in."""
    site, form = site_of(request), forms.form_of(forms.kind_of(request.query_params))
    return respond(
        request,
        lambda: {"kind": form.run.name, "fields": form.described(), "reachable": reachable(site)},
        lambda: new_page(form, reachable(site), forms.opened(request.query_params), queue=bool(queue_url(site.store))),
    )


async def start_run(request: Request) -> Response:
    """Start a run, or with ``queue`` set leave it to a worker of the store's queue."""
    site, sent = site_of(request), await request_fields(request)
    fields = forms.opened(sent)

    async def start() -> Response:
        if forms.BOX in sent and not sent.get("kind"):
            raise ConfigurationError("kind: say what should come of it; a kind of run is suggested, and not chosen")
        run, terms = forms.read_form(fields, strict=is_json(request))
        if "form" not in run.run.doors:
            forms.form_of(run.run.name)
        site.runs.permit(run, terms)
        if fields.get("estimate"):
            return PlainTextResponse(await asyncio.to_thread(_estimated, site, run, terms), headers={"X-Note": "1"})
        if fields.get("queue"):
            return await put_run(request, run, terms, forms.seed_of(fields))
        return show_begun(request, await site.runs.start(run, terms, seed=forms.seed_of(fields)))

    def again(why: str) -> str:
        try:
            form = forms.form_of(forms.kind_of(fields))
        except ConfigurationError:
            form = forms.form_of(forms.forms()[0].name)
        return new_page(form, reachable(site), fields, why, queue=bool(queue_url(site.store)))

    return await begun(request, start, again)


def _estimated(site: AppState, run: Prepared, terms: Terms) -> str:
    units, each = run.hooks.units(run.task), run.hooks.each(run.options)
    return words_of(estimate_of(run.run, site.store, "", run_price(site, run, terms), units, each), units, each)


async def resume_form(request: Request) -> Response:
    """Show the form to resume a run."""
    return HTMLResponse(_form(request, "resume.html", {}))


async def resume_run(request: Request) -> Response:
    """Go on with a run that was interrupted, stopped or failed."""
    fields = await request_fields(request)

    async def resume() -> Response:
        terms = forms.terms_of(fields, strict=is_json(request))
        return show_begun(request, await site_of(request).runs.resume(run_id_of(request), terms))

    return await begun(request, resume, lambda why: _form(request, "resume.html", fields, why))


async def fork_form(request: Request) -> Response:
    """Show the form to fork a run; ``at`` fills in the event."""
    return HTMLResponse(_form(request, "fork.html", request.query_params))


async def fork_run(request: Request) -> Response:
    """Start a run that shares a run's answers up to event ``at``."""
    fields = await request_fields(request)

    async def fork() -> Response:
        terms = forms.terms_of(fields, strict=is_json(request), without=("at", "say"))
        at, say = forms.whole_number(fields.get("at"), "at"), str(fields.get("say") or "")
        return show_begun(request, await site_of(request).runs.fork(run_id_of(request), at, terms, say))

    return await begun(request, fork, lambda why: _form(request, "fork.html", fields, why))


def _form(request: Request, template: str, values: Mapping[str, Any], why: str = "") -> str:
    """Return a form that goes on from a run."""
    site = site_of(request)
    return onward(template, site.store.summary(run_id_of(request)), reachable(site), values, why)


async def interject(request: Request) -> Response:
    """Say something to a run that has not finished: it stops, and a new one goes on, in which all hear it."""
    site, run_id = site_of(request), run_id_of(request)
    say = str((await request_fields(request)).get("say") or "")
    if not say.strip():
        raise ConfigurationError("say is missing; write what they should hear")
    if site.runs.owns(run_id):
        await site.runs.stop(run_id)
    run = site.store.summary(run_id)
    if run.state in ("running", "finished"):
        why = "is carried out elsewhere; stop it there first" if run.state == "running" else "is finished; follow it up"
        raise ConfigurationError(f"this run {why}")
    return show_begun(request, await site.runs.fork(run_id, run.events, forms.terms_of({}, strict=False), say))


async def stop_run(request: Request) -> Response:
    """Stop a run that this server carries out; it can be resumed."""
    site, run_id = site_of(request), run_id_of(request)
    await site.runs.stop(run_id)
    return redirect(request, f"/runs/{run_id}", {"run_id": run_id, "state": site.store.summary(run_id).state})


async def list_asks(request: Request) -> Response:
    """List the questions of a run to a person."""
    site = site_of(request)
    asks = site.page_state(site.hub.watch(run_id_of(request))).asks
    data = [{"name": a.name, "title": a.title, "messages": a.messages, "schema": a.schema} for a in asks]
    return JSONResponse({"asks": data})


async def answer_ask(request: Request) -> Response:
    """Answer one of them: ``name``, and ``text`` or the fields of the answer as ``field-NAME``."""
    site, run_id, fields = site_of(request), run_id_of(request), await request_fields(request)
    name, watch = str(fields.get("name", "")), site.hub.watch(run_id)
    text = _answer_text(fields, next((one for one in site.page_state(watch).asks if one.name == name), None))
    letter = next((each for each in site.open_letters(watch) if f"letter-{each.name}" == name), None)
    if letter is not None:
        answer_letter(letter, text)
        site.look(watch)
    else:
        site.questions.answer(run_id, name, text)
    return redirect(request, f"/runs/{run_id}", {"run_id": run_id, "answered": name})


def _answer_text(fields: dict[str, Any], ask: Ask | None) -> str:
    """Return the answer: a text, or the fields that a page asked for as one JSON object.

    Raises:
        ConfigurationError: a field is missing or not what it should be, or a text holds no object where one is
            asked for: whoever reads it would end the run.
    """
    filled = {key.removeprefix("field-"): str(value) for key, value in fields.items() if key.startswith("field-")}
    text = str(fields.get("text", ""))
    if filled and ask is not None and ask.fields:
        return read_answer(ask.fields, filled)
    if filled:
        return json.dumps({name: value for name, value in filled.items() if value.strip()}, ensure_ascii=False)
    if ask is not None and ask.fields and text.strip() and "{" not in text:
        raise ConfigurationError("the answer must be a JSON object; fill in the fields on the run's page")
    return text


async def play_recording(request: Request) -> Response:
    """Play a recording through the real engine: ``name``, and how many times as fast.

    Where an optional part is missing, the run that was played beforehand is taken over instead.
    """
    fields = await request_fields(request)
    return show_begun(request, await site_of(request).runs.play(str(fields.get("name", "")), forms.speed(fields)))


def reachable(site: AppState) -> list[str]:
    """Return the hosted providers that have a key."""
    return list(site.settings().providers)


async def begun(request: Request, begin: Callable[[], Awaitable[Response]], again: Callable[[str], str]) -> Response:
    """Begin something and show it; where that is refused, show the form again with the reason."""
    try:
        return await begin()
    except LlmRuntimeError as fault:
        if wants_json(request):
            raise
        return HTMLResponse(again(_NO_MODEL if str(fault) == NO_MODEL else str(fault)), 422)


def show_begun(request: Request, run_id: str) -> Response:
    data = {"run_id": run_id, "page": f"/runs/{run_id}", "stream": f"/runs/{run_id}/stream"}
    return redirect(request, data["page"], data, 201)
