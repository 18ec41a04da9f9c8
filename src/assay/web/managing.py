"""The routes of the people of this server: who they are, what they may spend, and sharing a run with them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from assay.batch.spending import read_budget
from assay.web.app_state import redirect, request_fields, run_id_of, site_of, wants_json
from assay.web.forms import one_of, whole_number
from assay.web.people import ROLES, WHO, People, Person, may_all
from assay.web.permissions import SHARED
from assay.web.templating import render
from llm_runtime.errors import ConfigurationError, LlmRuntimeError, RunNotFound
from llm_runtime.store.upkeep import mark


async def list_people(request: Request) -> Response:
    """Show who may sign in, and what each has spent; who is no admin sees themselves."""
    return HTMLResponse(await _page(request))


async def add_person(request: Request) -> Response:
    """Add somebody, and show the link for their first sign-in, once."""
    sent = await request_fields(request)
    name = str(sent.get("name") or "").strip()
    return await _changed(
        request, name, lambda people: people.add(Person.model_validate({"name": name, **_fields(sent)}))
    )


async def change_person(request: Request) -> Response:
    """Change somebody's role and budget, from their next request on."""
    sent = await request_fields(request)
    return await _changed(request, "", lambda people: people.change(request.path_params["name"], **_fields(sent)))


async def new_link(request: Request) -> Response:
    """Show a new link for one sign-in; the password before it opens nothing any more."""
    name = request.path_params["name"]
    return await _changed(request, name, lambda people: people.link(name))


async def sign_out_person(request: Request) -> Response:
    """End every session of somebody."""
    return await _changed(request, "", lambda _: site_of(request).gate.sign_out_person(request.path_params["name"]))


async def remove_person(request: Request) -> Response:
    """Remove somebody; their runs stay, for admins."""
    return await _changed(request, "", lambda people: people.remove(request.path_params["name"]))


async def change_password(request: Request) -> Response:
    """Give whoever asks a new password; every other browser of theirs is signed out."""
    gate, who, sent = site_of(request).gate, WHO.get(), await request_fields(request)
    people = _people(request)
    old, new = (str(sent.get(name) or "") for name in ("key", "password"))
    try:
        if who is None:
            raise ConfigurationError("whoever started the server comes in by its address, and has no password")
        known = await gate.enter(who.name, old, new, request.client.host if request.client else "")
        changed = await asyncio.to_thread(people.choose, known, new) if known else None
        if changed is None:
            raise ConfigurationError("that is not your password of now; nothing was changed")
    except ConfigurationError as fault:
        if wants_json(request):
            raise
        return HTMLResponse(await _page(request, fault=str(fault)), 422)
    response = redirect(request, "/people", {"changed": True})
    gate.sign_out_person(who.name)
    gate.sign_in(response, changed)
    return response


async def share_run(request: Request) -> Response:
    """Show a run to everybody on this server, or with ``shared`` empty not any more."""
    site, run_id = site_of(request), run_id_of(request)
    site.store.summary(run_id)
    shared = bool((await request_fields(request)).get("shared"))
    mark(site.store, run_id, SHARED, off=not shared)
    site.hub.take_turn(run_id)
    return redirect(request, f"/runs/{run_id}", {"run_id": run_id, "shared": shared})


def _fields(sent: dict[str, object]) -> dict[str, object]:
    budget, calls = (str(sent.get(name) or "").strip() for name in ("budget", "calls"))
    role = one_of(str(sent.get("role") or ""), ROLES, "role is")
    amount, per = read_budget(budget) if budget else (None, "day")
    return {"role": role, "budget": amount, "per": per, "calls": whole_number(calls, "calls") if calls else None}


async def _changed(request: Request, name: str, change: Callable[[People], str | None]) -> Response:
    """Make a change; show the link that came of it, or why there was none."""
    try:
        secret = change(_people(request))
    except LlmRuntimeError as fault:
        return HTMLResponse(await _page(request, fault=str(fault)), 422)
    if not secret:
        return redirect(request, "/people", {"changed": True})
    return HTMLResponse(await _page(request, link=f"{request.url.scheme}://{request.url.netloc}/open#{name}:{secret}"))


async def _page(request: Request, link: str = "", fault: str = "") -> str:
    site, who = site_of(request), WHO.get()
    listed = list(_people(request).all().values()) if may_all() or who is None else [who]
    purses = {person.name: await site.spending.purse(person.allowance) for person in listed}
    sessions = {person.name: site.gate.sessions_of(person.name) for person in listed}
    return render("people.html", listed=listed, purses=purses, sessions=sessions, roles=ROLES, link=link, fault=fault)


def _people(request: Request) -> People:
    if (people := site_of(request).gate.people) is None:
        raise RunNotFound("this server has one person alone", advice="for several: assay serve --people FILE")
    return people
