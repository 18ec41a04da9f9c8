"""The OpenAI endpoint, ``/v1/models`` and ``/v1/chat/completions``: every run that answers text is a model."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from functools import wraps
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from assay.api import responses, wire
from assay.api.answering import about, answer_of, progress_of, refusal, why_none
from assay.api.asked import ChatRequest, read_request
from assay.api.calling import told as tell_functions
from assay.api.catalogue import PREFIX, ChatModel, chat_models
from assay.api.desk import REPEATED_BY_KEY_S, REPEATED_S, Desk, Order, order_name
from assay.api.form import told
from assay.api.housekeeping import is_housekeeping
from assay.api.key_gate import KeyGate
from assay.api.keys import ApiKey
from assay.api.refused import Refused, invalid
from assay.hooks import hooks_of
from assay.web.app_state import body_of
from assay.web.forms import read_form
from assay.web.live_runs import LiveRun
from assay.web.permissions import while_allowed
from llm_runtime.errors import ConfigurationError, LlmRuntimeError, StructuredOutputError

_MOST_BYTES, _MOST_TEXT = 12 << 20, 1 << 20
#: Seconds within which a stream begins, and between two signs of life.
_BEGIN_S = 0.2
_BEAT_S = 10.0
_LOOK_S = 1.0
#: How many streams begin at one time.
_TURNS = 4
#: Dollars and tokens of a title, a tag, a commit message.
_CHEAP = {"budget": 0.01, "max_tokens": 512, "effort": "none"}
#: What a key may set of a run; all else is for its owner, in presets.
_OF_A_KEY = frozenset({"budget", "max_calls", "deadline", "max_tokens", "effort"})
_STREAM = {"cache-control": "no-store", "x-accel-buffering": "no"}

Handler = Callable[[Request], Awaitable[Response]]


class ChatEndpoint:
    """The endpoint over one desk.

    Args:
        desk: takes the orders.
        gate: knows the programs by their keys.
    """

    def __init__(self, desk: Desk, gate: KeyGate) -> None:
        self._desk = desk
        self._gate = gate
        self._by_key: dict[str, tuple[float, str]] = {}
        self._turns = asyncio.Semaphore(_TURNS)

    def routes(self) -> list[BaseRoute]:
        """Return the addresses; whatever else stands under ``/v1`` is refused by name."""
        return [
            Route("/v1/models", _spoken(self._models)),
            Route("/v1/models/{name:path}", _spoken(self._model)),
            Route("/v1/chat/completions", _spoken(self._complete), methods=["POST"]),
            Route("/v1/responses", _spoken(self._complete), methods=["POST"]),
            Route("/v1/{rest:path}", _spoken(self._nothing), methods=["GET", "POST", "PUT", "PATCH", "DELETE"]),
        ]

    async def _models(self, request: Request) -> Response:
        """List the models that the key may use."""
        models = self._allowed(self._gate.caller(request.headers)).values()
        return JSONResponse({"object": "list", "data": [wire.listed(model) for model in models]})

    async def _model(self, request: Request) -> Response:
        """Describe one model."""
        allowed = self._allowed(self._gate.caller(request.headers))
        return JSONResponse(wire.listed(_chosen(request.path_params["name"], allowed)))

    async def _nothing(self, request: Request) -> Response:
        self._gate.caller(request.headers)
        served = "GET /v1/models, POST /v1/chat/completions, POST /v1/responses"
        if request.url.path.startswith("/v1/embeddings"):
            served += "; a run answers with text and makes no embeddings: ask a server of such models"
        raise Refused(404, f"{request.method} {request.url.path[:80]} is not served; there are: {served}", "not_found")

    async def _complete(self, request: Request) -> Response:
        """Answer a chat by a run."""
        key = self._gate.caller(request.headers)
        if (raw := await body_of(request, _MOST_BYTES)) is None:
            raise _too_large(_MOST_BYTES)
        way: Any = responses if request.url.path == "/v1/responses" else wire
        asked = read_request(raw, responses.as_chat if way is responses else dict)
        if len(raw) - sum(map(len, asked.pictures)) > _MOST_TEXT:
            raise _too_large(_MOST_TEXT)
        model, order = self._order(asked, key, request.headers.get("idempotency-key", ""))
        page = f"{request.base_url}runs/"
        if not asked.stream:
            return await self._whole(request, asked, model, order, page, way)
        begun = asyncio.create_task(self._begin(order))
        # What is refused at once has a status of its own; a model that is slow to be reached keeps nobody waiting.
        await asyncio.wait([begun], timeout=_BEGIN_S)
        if begun.done():
            begun.result()
        pieces = self._stream(begun, asked, model, order, page, way)
        pieces = responses.numbered(pieces) if way is responses else pieces
        allowed = while_allowed(pieces, lambda: self._gate.admits(request.headers))
        return StreamingResponse(allowed, media_type="text/event-stream", headers=_STREAM)

    async def _begin(self, order: Order) -> str:
        """Take an order in its turn: where many begin in one moment, none of them would hear anything meanwhile."""
        async with self._turns:
            begun = asyncio.create_task(self._desk.take(order))
            await asyncio.wait([begun], timeout=_BEGIN_S)
        return await begun

    def _allowed(self, key: ApiKey | None) -> dict[str, ChatModel]:
        try:
            models = chat_models()
        except ConfigurationError as fault:
            raise Refused(500, str(fault), "server_misconfigured", again=False) from None
        return {name: model for name, model in models.items() if key is None or key.allows(name)}

    def _order(self, asked: ChatRequest, key: ApiKey | None, repeated: str) -> tuple[ChatModel, Order]:
        """Return what is to be done about a request, and which model that is."""
        if len(repeated) > 255:
            raise invalid("Idempotency-Key", "Idempotency-Key is longer than 255 characters")
        model = _chosen(asked.model, self._allowed(key))
        bounded: Mapping[str, Any] = {}
        if not asked.functions and is_housekeeping(asked.turns) and model.name != "direct":
            model, bounded = chat_models()["direct"], _CHEAP
        fields = {**_fields(model, asked, key), **bounded}
        name = order_name(key, [repeated, asked.data()])
        self._check_repeated(f"{key.name if key else ''}\n{repeated}" if repeated else "", name)
        run, terms = read_form({"kind": model.run.name, **fields}, strict=True)
        return model, Order(run, terms, name, key, asked.seed, REPEATED_BY_KEY_S if repeated else REPEATED_S)

    def _check_repeated(self, repeated: str, name: str) -> None:
        """Refuse a key of repetition that stands for another request of the same program."""
        now = time.monotonic()
        for old in [one for one, (until, _) in self._by_key.items() if until < now]:
            del self._by_key[old]
        if not repeated:
            return
        if self._by_key.setdefault(repeated, (now + REPEATED_BY_KEY_S, name))[1] != name:
            raise Refused(
                422, "this Idempotency-Key was sent with another request; draw a new one", "idempotency_key_reused"
            )

    async def _whole(
        self, request: Request, asked: ChatRequest, model: ChatModel, order: Order, page: str, way: Any
    ) -> Response:
        run_id = await self._desk.take(order)
        head = wire.AnswerHead(run_id, asked.model, int(time.time()))
        with self._desk.waiting(run_id, order.key):
            run = self._desk.hub.watch(run_id)
            with run.viewed():
                while not _over(run):
                    if self._desk.closing.is_set():
                        raise Refused(503, "the server stops; ask again, and the run goes on", "stopping", again=True)
                    if await request.is_disconnected():
                        raise ClientDisconnect
                    await run.changed(run.version, _LOOK_S)
        headers = {"x-request-id": run_id}
        if run.state != "finished":
            refused = why_none(run)
            refused.about = about(run, model, page + run_id)
            raise refused
        return JSONResponse(way.completion(head, answer_of(run, model, page + run_id, asked)), headers=headers)

    async def _stream(
        self, begun: asyncio.Task[str], asked: ChatRequest, model: ChatModel, order: Order, page: str, way: Any
    ) -> AsyncIterator[str]:
        created = int(time.time())
        yield way.opening(wire.AnswerHead(f"api-{order.name}", asked.model, created))
        try:
            while not (await asyncio.wait([begun], timeout=_BEAT_S))[0]:
                yield wire.STILL_HERE
            run_id = begun.result()
        except LlmRuntimeError as fault:
            for piece in way.broken(refusal(fault)):
                yield piece
            return
        head = wire.AnswerHead(f"api-{order.name}", asked.model, created)
        with self._desk.waiting(run_id, order.key):
            run = self._desk.hub.watch(run_id)
            with run.viewed():
                seen = 0
                while True:
                    version, over = run.version, _over(run)
                    if text := progress_of(run, seen):
                        yield way.progress_chunk(head, text)
                    seen = len(run.lines)
                    if over:
                        break
                    if self._desk.closing.is_set():
                        why = Refused(503, "the server stops; ask again, and the run goes on", "stopping")
                        for piece in way.broken(why, run_id=run_id):
                            yield piece
                        return
                    if not await run.changed(version, _BEAT_S):
                        yield wire.STILL_HERE
        try:
            if run.state != "finished":
                raise why_none(run)
            pieces = way.closing(head, answer_of(run, model, page + run_id, asked), usage=asked.usage)
        except (Refused, StructuredOutputError) as fault:
            why = fault if isinstance(fault, Refused) else refusal(fault)
            pieces = way.broken(why, **about(run, model, page + run_id))
        for piece in pieces:
            yield piece


def _over(run: LiveRun) -> bool:
    return run.fault is not None or run.state != "running"


def _chosen(name: str, models: Mapping[str, ChatModel]) -> ChatModel:
    model = models.get(name.removeprefix(PREFIX))
    if model is None:
        listed = ", ".join(one.id for one in models.values())
        raise Refused(
            404, f"there is no model {name[:80]} for this key; there are: {listed}", "model_not_found", "model"
        )
    return model


def _fields(model: ChatModel, asked: ChatRequest, key: ApiKey | None) -> dict[str, Any]:
    """Return the fields of the run: of the chat, of the preset, of the request, the last one first."""
    extra = dict(asked.assay or {})
    if key is not None:
        _check_settable(extra)
    if model.name == "direct" and asked.temperature is not None:
        extra = {"temperature": asked.temperature, **extra}
    hooks = hooks_of(model.run)
    shown = {hooks.pictures: list(asked.pictures)} if asked.pictures else {}
    _check_taken(model, asked, {**model.preset, **extra}, all_of_it=bool(hooks.pictures))
    turns = told(asked.turns, asked.form) if asked.form else asked.turns
    turns = tell_functions(turns, asked.functions, asked.must) if asked.functions else turns
    return {**hooks.chat_fields(turns), **model.preset, **asked.terms, **extra, **shown}


def _check_taken(model: ChatModel, asked: ChatRequest, own: Mapping[str, Any], *, all_of_it: bool) -> None:
    """Refuse what only some models take."""
    wanted = {"messages": asked.pictures, "response_format": asked.form, "tools": asked.functions}
    if not all_of_it and (name := next((name for name in wanted if wanted[name]), "")):
        why = f"{model.id} takes no pictures, calls no functions and has a form of its own; ask assay/crucible"
        raise invalid(name, f"{name}: {why}")
    if asked.functions and own.get("tools"):
        raise invalid("tools", f"tools: {model.id} has tools of its own here; leave these out, or ask without its own")


def _check_settable(extra: Mapping[str, Any]) -> None:
    """Refuse what cannot be set with a key."""
    for other in sorted(set(extra) - _OF_A_KEY):
        name, settable = f"assay.{other[:60]}", ", ".join(sorted(_OF_A_KEY))
        why = f"{name} cannot be set with a key; it sets {settable}, and whoever runs this server can make a preset"
        raise invalid(name, f"{why} of all else")


def _too_large(most: int) -> Refused:
    return Refused(413, f"the request is longer than {most // 1024} KiB; shorten it", "request_too_large")


def _spoken(handler: Handler) -> Handler:
    """Answer what a handler refuses in the words of OpenAI's errors."""

    @wraps(handler)
    async def handle(request: Request) -> Response:
        try:
            return await handler(request)
        except Refused as fault:
            refused = fault
        except LlmRuntimeError as fault:
            refused = refusal(fault)
        except ClientDisconnect:
            return Response(status_code=499)
        headers = {} if refused.again is None else {"x-should-retry": json.dumps(refused.again)}
        return JSONResponse(wire.failure(refused, **refused.about), refused.status, headers=headers)

    return handle
