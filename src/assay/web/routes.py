"""Every address of the application, in one table: the router and the API description are both made from it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import cache, wraps
from typing import cast

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from assay import __version__
from assay.web import (
    acting,
    batch_starting,
    batches,
    beginning,
    listing,
    managing,
    matrices,
    noting,
    queue,
    reading,
    settings,
)
from assay.web.app_state import run_id_of, site_of
from assay.web.brought import pages
from assay.web.endpoints import Endpoint, Handler, with_fields
from assay.web.people import WHO
from assay.web.permissions import demand, sees, while_allowed

_RUN = "/runs/{run_id}"


async def openapi(request: Request) -> Response:
    """Describe this API (OpenAPI 3.1)."""
    return JSONResponse(description())


_OWN = (
    Endpoint("/", beginning.home, need="known"),
    Endpoint("/play", acting.play_recording, "POST", also_json=True, need="start"),
    Endpoint("/open", reading.enter, need="open"),
    Endpoint("/open", reading.enter, "POST", need="open"),
    Endpoint("/leave", reading.leave, "POST", need="known"),
    Endpoint("/static/{name}", reading.static, need="open"),
    Endpoint("/static/{protocol}/{name}", reading.static, need="open"),
    Endpoint("/openapi.json", openapi, media="application/json", need="known"),
    Endpoint("/runs", listing.list_runs, also_json=True, need="known"),
    Endpoint("/runs", acting.start_run, "POST", also_json=True, need="start"),
    Endpoint("/new", acting.new_run, also_json=True, need="start"),
    Endpoint("/settings", settings.show_settings, also_json=True, need="admin"),
    Endpoint("/settings/keys", settings.store_key, "POST", need="admin"),
    Endpoint("/settings/defaults", settings.set_defaults, "POST", need="admin"),
    Endpoint("/settings/endpoints", settings.set_endpoint, "POST", need="admin"),
    Endpoint("/settings/check", settings.check_model, "POST", need="admin"),
    Endpoint("/batches", batches.list_batches, also_json=True, need="admin"),
    Endpoint("/batches/new", batch_starting.new_batch, need="admin"),
    Endpoint("/batches", batch_starting.start_batch, "POST", also_json=True, need="admin"),
    Endpoint("/batches/{batch_id}", batches.show_batch, also_json=True, need="admin"),
    Endpoint(
        "/batches/{batch_id}/matrix.{kind}",
        matrices.batch_table,
        media="application/octet-stream",
        need="admin",
    ),
    Endpoint("/batches/{batch_id}/matrix", matrices.batch_matrix, need="admin"),
    Endpoint(f"{_RUN}/matrix.{{kind}}", matrices.run_table, media="application/octet-stream", need="see"),
    Endpoint(f"{_RUN}/matrix", matrices.run_matrix, need="see"),
    Endpoint("/queue", queue.list_queue, also_json=True, need="admin"),
    Endpoint("/queue/{number}/cancel", queue.cancel_entry, "POST", also_json=True, need="admin"),
    Endpoint("/metrics", queue.metrics, media="text/plain", need="admin"),
    Endpoint("/compare", reading.compare, also_json=True, need="known"),
    Endpoint(_RUN, reading.show_run, also_json=True, need="see"),
    Endpoint(f"{_RUN}/timeline", reading.show_timeline, also_json=True, need="see"),
    Endpoint(f"{_RUN}/events", reading.show_events, also_json=True, need="see"),
    Endpoint(f"{_RUN}/events/{{seq}}", reading.show_event, also_json=True, need="see"),
    Endpoint(f"{_RUN}/calls/{{seq}}", reading.show_call, also_json=True, need="see"),
    Endpoint(f"{_RUN}/stream", reading.stream, media="text/event-stream", need="see"),
    Endpoint(f"{_RUN}/export.{{kind}}", reading.export, media="application/octet-stream", need="see"),
    Endpoint(f"{_RUN}/file", reading.hand_out, media="application/octet-stream", need="act"),
    Endpoint(f"{_RUN}/resume", acting.resume_form, need="act"),
    Endpoint(f"{_RUN}/resume", acting.resume_run, "POST", also_json=True, need="act"),
    Endpoint(f"{_RUN}/fork", acting.fork_form, need="note"),
    Endpoint(f"{_RUN}/fork", acting.fork_run, "POST", also_json=True, need="note"),
    Endpoint(f"{_RUN}/interject", acting.interject, "POST", also_json=True, need="act"),
    Endpoint(f"{_RUN}/stop", acting.stop_run, "POST", also_json=True, need="act"),
    Endpoint(f"{_RUN}/notes", noting.note_run, "POST", need="note"),
    Endpoint(f"{_RUN}/tags", noting.tag_run, "POST", need="act"),
    Endpoint(f"{_RUN}/share", managing.share_run, "POST", need="act"),
    Endpoint("/people", managing.list_people, need="known"),
    Endpoint("/password", managing.change_password, "POST", also_json=True, need="known"),
    Endpoint("/people", managing.add_person, "POST", need="admin"),
    Endpoint("/people/{name}", managing.change_person, "POST", need="admin"),
    Endpoint("/people/{name}/link", managing.new_link, "POST", need="admin"),
    Endpoint("/people/{name}/sign-out", managing.sign_out_person, "POST", need="admin"),
    Endpoint("/people/{name}/remove", managing.remove_person, "POST", need="admin"),
    Endpoint(f"{_RUN}/asks", acting.list_asks, media="application/json", need="act"),
    Endpoint(f"{_RUN}/answers", acting.answer_ask, "POST", also_json=True, need="act"),
)


@cache
def endpoints() -> tuple[Endpoint, ...]:
    """Return every address: those of every run, and those of the protocols that have some of their own."""
    return (*with_fields("assay.web", _OWN), *(one for several in pages().values() for one in several))


def routes() -> list[Route]:
    """Return the router's table. Addresses with an ending come first: a run's id would take the ending with it."""
    twins = [_route(f"{address.path}.json", address) for address in endpoints() if address.also_json]
    return twins + [_route(address.path, address) for address in endpoints()]


def description() -> dict[str, object]:
    """Describe the API as OpenAPI 3.1."""
    paths: dict[str, dict[str, object]] = {}
    for address in endpoints():
        variants = [(address.path, address.media)]
        if address.also_json:
            variants.append((f"{address.path}.json", "application/json"))
        for path, media in variants:
            paths.setdefault(path, {})[address.method.lower()] = _operation(address, path, media)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Assay",
            "version": __version__,
            "description": "Runs of every protocol: watched, started, stopped, resumed, forked, exported. Send the "
            "launch's token as Authorization: Bearer; an answer is JSON where the address ends in .json or "
            "Accept says so. Errors are {error, message} with status 400, 403, 404, 409, 422 or 500.",
        },
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "security": [{"token": []}],
        "paths": paths,
    }


def _operation(address: Endpoint, path: str, media: str) -> dict[str, object]:
    within = [part.split("}")[0] for part in path.split("{")[1:]]
    parameters = [_parameter(name, "path", "", required=True) for name in within]
    parameters += [_parameter(name, "query", about, required=False) for name, about in address.query]
    operation: dict[str, object] = {
        "summary": (address.handler.__doc__ or "").split("\n")[0],
        "parameters": parameters,
        "responses": {"200": {"description": "as described", "content": {media: {}}}},
    }
    if address.body:
        fields = {name: {"description": about} for name, about in address.body}
        schema = {"schema": {"type": "object", "properties": fields}}
        operation["requestBody"] = {"content": {"application/json": schema}}
    return operation


def _parameter(name: str, place: str, about: str, *, required: bool) -> dict[str, object]:
    schema = {"type": "string"}
    return {"name": name, "in": place, "required": required, "description": about, "schema": schema}


def _route(path: str, address: Endpoint) -> Route:
    return Route(path, _asked(address), methods=[address.method])


def _asked(address: Endpoint) -> Handler:
    """Return the handler behind what its address takes; a stream ends when whoever reads it may not any more."""

    @wraps(address.handler)
    async def handle(request: Request) -> Response:
        who, site = WHO.get(), site_of(request)
        if who is None:
            return await address.handler(request)
        run_id = run_id_of(request) if "run_id" in request.path_params else ""
        demand(site.store, address.need or "admin", run_id)
        response = await address.handler(request)
        if isinstance(response, StreamingResponse):
            pieces = cast("AsyncIterator[str]", response.body_iterator)
            response.body_iterator = while_allowed(
                pieces, lambda: site.gate.who(request.headers) == who and (not run_id or sees(site.store, run_id))
            )
        return response

    return handle
