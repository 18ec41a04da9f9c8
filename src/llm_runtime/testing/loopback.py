"""A model server on this machine: real HTTP, scripted answers, and a fault wherever a test wants one."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from string import Template
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

from pydantic import SecretStr
from pydantic_core import from_json

from llm_runtime.dialects import DIALECTS, GENERIC
from llm_runtime.endpoints import Endpoint
from llm_runtime.messages import Message
from llm_runtime.structs import Struct
from llm_runtime.testing.faults import Fault, echoes_of, key_of, perform, spoil
from llm_runtime.testing.streaming import can_stream, events
from llm_runtime.tokens import estimate_tokens
from llm_runtime.toml import own_table

if TYPE_CHECKING:
    from aiohttp import web

Kind: TypeAlias = Literal["openai", "anthropic", "ollama"]
_ANSWERS: Mapping[str, str] = own_table("llm_runtime.testing", "answers.toml")
_PATHS: dict[str, Kind] = {"/v1/chat/completions": "openai", "/v1/messages": "anthropic", "/api/chat": "ollama"}


class Received(Struct):
    """A request as it arrived.

    Args:
        number: 1 for the first call.
        kind: the protocol, ``"openai"``, ``"anthropic"`` or ``"ollama"``.
        headers: with lower-case names.
        payload: the body.
        query: the parameters of the address.
    """

    number: int
    kind: Kind
    headers: dict[str, str]
    payload: dict[str, Any]
    query: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def request_id(self) -> str:
        """The id that its response carries."""
        return f"loopback-{self.number}"

    @property
    def model(self) -> str:
        """The model asked for."""
        return str(self.payload.get("model", ""))

    @property
    def messages(self) -> tuple[Message, ...]:
        """The texts of the conversation, with Anthropic's separate system text as its first message."""
        turns = tuple(Message(turn["role"], _text(turn["content"])) for turn in self.payload["messages"])
        return (Message("system", self.payload["system"]), *turns) if "system" in self.payload else turns


def _text(content: str | list[dict[str, str]]) -> str:
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


ServerAnswer: TypeAlias = "str | dict[str, Any] | tuple[int, dict[str, Any]]"
ServerScript: TypeAlias = "Callable[[Received], ServerAnswer | Awaitable[ServerAnswer]]"
FaultPlan: TypeAlias = "Fault | Mapping[int, Fault] | Callable[[Received], Fault | None] | None"
Send: TypeAlias = "Callable[[web.Request, Received, list[bytes]], Awaitable[web.StreamResponse]]"


@dataclass(eq=False, repr=False)
class LoopbackServer:
    """A server on 127.0.0.1 that speaks OpenAI's chat completions, Anthropic's messages, Ollama's chat, and lists
    models. It streams where that is asked for.

    >>> async with LoopbackServer(lambda received: "an answer") as server:
    ...     generate = openai_compatible(server.endpoint(), http)

    Args:
        script: the answer to every request, or a function that makes it. A text is wrapped into a whole answer
            of the protocol asked, and streamed where that is asked; a dict is sent as the body, as it is; a pair
            of status and dict likewise.
        faults: the fault of every call, of some (by number, from 1), or a function that decides on each.
            ``CONNECTION_REFUSED`` stops the listening, for good, before the call of that number.
        send: sends the events of a streamed answer, in place of the server, for what no fault is.
        latency: seconds before an answer.
        models: what ``/v1/models`` lists: ids, or whole entries.
        owner: what it says as their ``owned_by``.
        cost: USD of each call, reported as ``usage.cost`` in chat completions.
        piece: characters of text in one event of a stream, 1 or more.
        pace: seconds between the events of a stream; all at once where it is 0.
        port: 0 for any that is free.

    Attributes:
        requests: everything received, in order of arrival.
        generations: what ``/v1/generation`` says of an answer by its id, as OpenRouter does.
        abandoned: set once a client has left in the middle of a stream.
    """

    script: ServerScript | ServerAnswer = "An answer."
    _: KW_ONLY
    faults: FaultPlan = None
    send: Send | None = None
    latency: float = 0.0
    models: Sequence[str | dict[str, Any]] = ("loopback-model",)
    owner: str = "loopback"
    cost: float | None = None
    piece: int = 48
    pace: float = 0.0
    port: int = 0

    def __post_init__(self) -> None:
        self.requests: list[Received] = []
        self.generations: dict[str, dict[str, Any]] = {}
        self.abandoned = asyncio.Event()
        self._models = [
            {"object": "model", "owned_by": self.owner, **({"id": one} if isinstance(one, str) else one)}
            for one in self.models
        ]
        self._runner: web.AppRunner | None = None
        self._site: web.TCPSite | None = None

    async def __aenter__(self) -> Self:
        from aiohttp import web

        app = web.Application(client_max_size=64 * 2**20)
        for path, kind in _PATHS.items():
            app.router.add_post(path, partial(self._handle, kind=kind))
        app.router.add_get("/v1/models", self._list_models)
        app.router.add_get("/v1/generation", self._generation)
        # A handler must end with its connection, or an endless answer would outlive its reader.
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.01)
        await self._runner.setup()
        self._site = web.TCPSite(self._runner, "127.0.0.1", self.port)
        await self._site.start()
        self.port = self._runner.addresses[0][1]
        await self._refuse_if_planned(1)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    @property
    def url(self) -> str:
        """The server's address, without a path."""
        return f"http://127.0.0.1:{self.port}"

    def endpoint(self, name: str = "loopback", *, key: str | None = None, dialect: str = "") -> Endpoint:
        """Return this server as a provider's endpoint; its dialect is that of its name, unless another is named."""
        speaks = DIALECTS.get(dialect or name, GENERIC)
        base_url = self.url if speaks.wire == "messages" else f"{self.url}/v1"
        return Endpoint(name, base_url, SecretStr(key) if key else None, speaks)

    async def _generation(self, request: web.Request) -> web.StreamResponse:
        from aiohttp import web

        record = self.generations.get(request.query.get("id", ""))
        if record is None:
            return web.json_response({"error": {"message": "not found", "code": 404}}, status=404)
        return web.json_response({"data": record})

    async def _list_models(self, _: web.Request) -> web.StreamResponse:
        from aiohttp import web

        return web.json_response({"object": "list", "data": self._models})

    async def _handle(self, request: web.Request, kind: Kind) -> web.StreamResponse:
        from aiohttp import web

        headers = {name.lower(): value for name, value in request.headers.items()}
        payload = from_json(await request.read())
        received = Received(len(self.requests) + 1, kind, headers, payload, dict(request.query))
        self.requests.append(received)
        fault = self.faults(received) if callable(self.faults) else self._planned(received.number)
        request_id = received.request_id
        if self.latency:
            await asyncio.sleep(self.latency)
        await self._refuse_if_planned(received.number + 1)
        response = perform(fault, request, request_id) if fault else None
        if response is not None:
            return await response
        answer: ServerAnswer = echoes_of(key_of(request))
        if fault is not Fault.ECHOED_KEY_IN_REPLY:
            answer = await self._answer(received)
        if isinstance(answer, str):
            answer = spoil(fault, self._whole(answer, received), kind)
            if received.payload.get("stream") and can_stream(answer):
                return await (self.send or self._stream)(request, received, list(events(answer, kind, self.piece)))
        status, body = answer if isinstance(answer, tuple) else (200, answer)
        return web.json_response(body, status=status, headers={"x-request-id": request_id})

    async def _stream(self, request: web.Request, received: Received, parts: list[bytes]) -> web.StreamResponse:
        from aiohttp import web

        content_type = "application/x-ndjson" if received.kind == "ollama" else "text/event-stream"
        headers = {"x-request-id": received.request_id, "Content-Type": content_type}
        if not self.pace:
            return web.Response(body=b"".join(parts), headers=headers)
        response = web.StreamResponse(headers=headers)
        await response.prepare(request)
        try:
            for part in parts:
                await response.write(part)
                await asyncio.sleep(self.pace)
        except (asyncio.CancelledError, ConnectionError):
            self.abandoned.set()
            raise
        return response

    async def _answer(self, received: Received) -> ServerAnswer:
        if not callable(self.script):
            return self.script
        answer = self.script(received)
        return await answer if inspect.isawaitable(answer) else answer

    def _whole(self, answer: str, received: Received) -> dict[str, Any]:
        known = {
            "number": received.number,
            "model": received.model,
            "text": answer,
            "asked": sum(estimate_tokens(str(message.content)) for message in received.messages),
            "answered": estimate_tokens(answer),
        }
        written = {name: json.dumps(value) for name, value in known.items()}
        whole: dict[str, Any] = json.loads(Template(_ANSWERS[received.kind]).substitute(written))
        if self.cost is not None and received.kind == "openai":
            whole["usage"]["cost"] = self.cost
        return whole

    async def _refuse_if_planned(self, number: int) -> None:
        if self._planned(number) is Fault.CONNECTION_REFUSED and self._site is not None:
            await self._site.stop()
            self._site = None

    def _planned(self, number: int) -> Fault | None:
        """Return the part of the plan that is known before a request arrives."""
        if isinstance(self.faults, Fault):
            return self.faults
        return None if self.faults is None or callable(self.faults) else self.faults.get(number)
