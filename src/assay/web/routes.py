"""The router and the description of the API, both made from the table of addresses in ``routes.toml``."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import cache, wraps
from typing import cast

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from assay import __version__
from assay.web.app_state import run_id_of, site_of
from assay.web.endpoints import Endpoint, Handler, addresses, pages
from assay.web.people import WHO
from assay.web.permissions import demand, sees, while_allowed
from llm_runtime.toml import own_table


async def openapi(request: Request) -> Response:
    """Describe this API (OpenAPI 3.1)."""
    return JSONResponse(description())


@cache
def endpoints() -> tuple[Endpoint, ...]:
    """Return every address: those of every run, and those of the protocols that have some of their own."""
    return (*addresses("assay.web"), *(one for several in pages().values() for one in several))


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
    told = own_table("assay.web", "openapi.toml")
    return {**told, "info": {**told["info"], "version": __version__}, "paths": paths}


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
    return {"name": name, "in": place, "required": required, "description": about, "schema": {"type": "string"}}


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

            def allowed() -> bool:
                return site.gate.who(request.headers) == who and (not run_id or sees(site.store, run_id))

            response.body_iterator = while_allowed(pieces, allowed)
        return response

    return handle
