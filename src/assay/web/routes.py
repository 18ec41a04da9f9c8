"""Every address of the application, in one table: the router and the API description are both made from it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from assay import __version__
from assay.web import acting, batches, dialogue, people, reading

Handler = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Address:
    """One address.

    Args:
        path: with its parameters in braces.
        handler: what answers; its docstring is the description.
        method: ``"GET"`` or ``"POST"``.
        query: parameters behind the question mark, by name, with what they mean.
        body: fields of the form or JSON object, by name, with what they mean.
        also_json: whether ``PATH.json`` gives the same as data.
        media: what it answers with, where that is not a page.
    """

    path: str
    handler: Handler
    method: str = "GET"
    query: tuple[tuple[str, str], ...] = ()
    body: tuple[tuple[str, str], ...] = ()
    also_json: bool = False
    media: str = "text/html"


_TERMS = (
    ("model", "PROVIDER:MODEL for every call; empty keeps what is configured"),
    ("seats", "an object ROLE: MODEL, or lines ROLE=MODEL; terminal: puts a person in the seat"),
    ("budget", "dollars that the run may spend"),
    ("max_calls", "model calls that the run may make"),
    ("deadline", "seconds that the run may take"),
    ("max_tokens", "upper bound of each answer, in tokens"),
)
_TEXTS = (
    ("name", "whose texts they are; may be left out where they say so"),
    ("path", "a folder or file on this machine"),
    ("text", "or one text, as Markdown"),
)
_BUILD = (("most_chunks", "passages that are read for beliefs, 200 where left out"), *_TERMS)
_RECORDING = (
    ("name", "of the recording: council, circle, trial, build or debate"),
    ("speed", "how many times as fast; 0 does not wait"),
)
_RUN = "/runs/{run_id}"


async def openapi(request: Request) -> Response:
    """This description of the API (OpenAPI 3.1)."""
    return JSONResponse(description())


ADDRESSES = (
    Address("/api/personas", dialogue.list_personas, media="application/json"),
    Address(
        "/api/dialogue",
        dialogue.start_dialogue,
        "POST",
        body=(
            ("topic", "a question that can be answered yes or no"),
            ("personaIds", "who debates: two ids or more"),
            ("aspects", "rounds: 2, 3, 4 or auto"),
            ("recording", "true streams the recorded debate, which needs no model; speed as for /play"),
            *_TERMS,
        ),
        media="text/event-stream",
    ),
    Address(
        "/api/dialogue/{run_id}",
        dialogue.follow_dialogue,
        query=(("after", "number of the last event that the reader has; Last-Event-ID goes before it"),),
        media="text/event-stream",
    ),
    Address("/api/dialogue/{run_id}/map", dialogue.show_map, media="application/json"),
    Address("/api/personas", people.import_texts, "POST", body=_TEXTS, media="application/json"),
    Address("/api/personas/{persona_id}", people.show_person, media="application/json"),
    Address("/api/personas/{persona_id}/build", people.build_person, "POST", body=_BUILD, media="application/json"),
    Address("/", reading.home),
    Address(
        "/play",
        acting.play_recording,
        "POST",
        body=_RECORDING,
        also_json=True,
    ),
    Address("/open", reading.enter, query=(("key", "the one-time key, or the launch's token"),)),
    Address("/static/{name}", reading.static),
    Address("/openapi.json", openapi, media="application/json"),
    Address(
        "/runs",
        reading.list_runs,
        query=(
            ("search", "a part of the title or id"),
            ("protocol", "only runs of this protocol"),
            ("state", "running, interrupted, finished, stopped or failed"),
            ("before", "only runs older than the one of this id"),
        ),
        also_json=True,
    ),
    Address(
        "/runs",
        acting.start_run,
        "POST",
        body=(("protocol", "as in the list of forms"), ("query", "Crucible's question"), *_TERMS),
        also_json=True,
    ),
    Address("/new", acting.new_run, query=(("protocol", "whose form"),), also_json=True),
    Address("/batches", batches.list_batches, also_json=True),
    Address("/batches/{batch_id}", batches.show_batch, also_json=True),
    Address("/personas", people.list_people, also_json=True),
    Address(
        "/personas",
        people.import_texts,
        "POST",
        body=_TEXTS,
        also_json=True,
    ),
    Address("/personas/{persona_id}", people.show_person, also_json=True),
    Address(
        "/personas/{persona_id}/build",
        people.build_person,
        "POST",
        body=_BUILD,
        also_json=True,
    ),
    Address("/compare", reading.compare, query=(("run", "a run's id, twice"),), also_json=True),
    Address(_RUN, reading.show_run, also_json=True),
    Address(f"{_RUN}/timeline", reading.show_timeline, also_json=True),
    Address(f"{_RUN}/events", reading.show_events, query=(("after", "number of an event"),), also_json=True),
    Address(f"{_RUN}/events/{{seq}}", reading.show_event, also_json=True),
    Address(f"{_RUN}/calls/{{seq}}", reading.show_call, also_json=True),
    Address(
        f"{_RUN}/stream",
        reading.stream,
        query=(
            ("after", "number of the last event that the reader has; Last-Event-ID goes before it"),
            ("view", "story, timeline or events for a page's parts; empty for the events themselves"),
            ("drawn", "with a view: the mark of what the page shows"),
        ),
        media="text/event-stream",
    ),
    Address(f"{_RUN}/export.{{kind}}", reading.export, media="application/octet-stream"),
    Address(f"{_RUN}/resume", acting.resume_form),
    Address(f"{_RUN}/resume", acting.resume_run, "POST", body=_TERMS, also_json=True),
    Address(f"{_RUN}/fork", acting.fork_form, query=(("at", "number of the event"),)),
    Address(f"{_RUN}/fork", acting.fork_run, "POST", body=(("at", "number of the event"), *_TERMS), also_json=True),
    Address(f"{_RUN}/stop", acting.stop_run, "POST", also_json=True),
    Address(f"{_RUN}/asks", acting.list_asks, media="application/json"),
    Address(
        f"{_RUN}/answers",
        acting.answer_ask,
        "POST",
        body=(("name", "of the question, as in asks"), ("text", "the answer")),
        also_json=True,
    ),
)


def routes() -> list[Route]:
    """The router's table. Addresses with an ending come first: a run's id would take the ending with it."""
    twins = [_route(f"{address.path}.json", address) for address in ADDRESSES if address.also_json]
    return twins + [_route(address.path, address) for address in ADDRESSES]


def description() -> dict[str, object]:
    """The API as OpenAPI 3.1."""
    paths: dict[str, dict[str, object]] = {}
    for address in ADDRESSES:
        told = [(address.path, address.media)]
        if address.also_json:
            told.append((f"{address.path}.json", "application/json"))
        for path, media in told:
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


def _operation(address: Address, path: str, media: str) -> dict[str, object]:
    within = [part.split("}")[0] for part in path.split("{")[1:]]
    parameters = [_parameter(name, "path", "", required=True) for name in within]
    parameters += [_parameter(name, "query", about, required=False) for name, about in address.query]
    operation: dict[str, object] = {
        "summary": (address.handler.__doc__ or "").split("\n")[0],
        "parameters": parameters,
        "responses": {"200": {"description": "as said", "content": {media: {}}}},
    }
    if address.body:
        fields = {name: {"description": about} for name, about in address.body}
        schema = {"schema": {"type": "object", "properties": fields}}
        operation["requestBody"] = {"content": {"application/json": schema}}
    return operation


def _parameter(name: str, place: str, about: str, *, required: bool) -> dict[str, object]:
    schema = {"type": "string"}
    return {"name": name, "in": place, "required": required, "description": about, "schema": schema}


def _route(path: str, address: Address) -> Route:
    return Route(path, address.handler, methods=[address.method])
