"""A server on this machine that speaks the wires of three programs: Anthropic's, OpenAI's responses, Gemini's."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Literal, Self, TypeAlias

from aiohttp import web

Mood: TypeAlias = Literal["well", "error", "cut", "hang", "401", "limit", "tools"]
#: When the limit of the mood ``"limit"`` ends: 3 January 2040, 15:00 UTC.
RESETS = 2209129200
SECRET_FILE = "/etc/passwd"


class AgentServer:
    """Answers each program on its own wire.

    Args:
        say: the text of an answer, from the question as it was asked.
        mood: how it behaves.

    Attributes:
        asked: the bodies of the questions.
        reached: set once one has come.
    """

    def __init__(
        self, say: Callable[[str], str | Awaitable[str]] = lambda _: "An answer here.", mood: Mood = "well"
    ) -> None:
        self.asked: list[dict[str, Any]] = []
        self.say, self.mood = say, mood
        self.reached = asyncio.Event()

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.01)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        if request.method != "POST":
            # Codex tries a web socket first.
            return web.Response(status=426)
        wire = next((name for name in ("messages", "responses", "enerateContent") if name in request.path), "")
        if not wire:
            return web.json_response({}, status=404)
        body = json.loads(await request.read())
        self.asked.append(body)
        self.reached.set()
        if self.mood == "hang":
            await asyncio.Event().wait()
        if self.mood in _FAULTS:
            status, answer, headers = _FAULTS[self.mood][wire]
            return web.json_response(answer, status=status, headers=headers)
        said = self.say(json.dumps(body))
        text = said if isinstance(said, str) else await said
        events = list(_WIRES[wire](body, text, self.mood))
        sent = "".join(f"event: {event.get('type', '')}\ndata: {json.dumps(event)}\n\n" for event in events)
        if wire == "enerateContent":
            sent = "".join(f"data: {json.dumps(event)}\r\n\r\n" for event in events)
        return web.Response(body=sent.encode(), content_type="text/event-stream")


def _pieces(text: str) -> list[str]:
    return [text[at : at + 400] for at in range(0, len(text), 400)]


def _anthropic(body: dict[str, Any], text: str, mood: Mood) -> Iterable[dict[str, Any]]:
    usage = {"input_tokens": 11, "output_tokens": 1, "cache_read_input_tokens": 2}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": []}
    yield {"type": "message_start", "message": {**message, "stop_reason": None, "usage": usage}}
    form = any(tool["name"] == "StructuredOutput" for tool in body.get("tools", ()))
    stop = "tool_use" if form else "max_tokens" if mood == "cut" else "end_turn"
    if form:
        block = {"type": "tool_use", "id": "toolu_1", "name": "StructuredOutput", "input": {}}
        deltas = [{"type": "input_json_delta", "partial_json": text}]
    else:
        block, deltas = {"type": "text", "text": ""}, [{"type": "text_delta", "text": one} for one in _pieces(text)]
    if mood == "tools" and not _answered(body):
        stop, deltas = (
            "tool_use",
            [{"type": "input_json_delta", "partial_json": json.dumps({"file_path": SECRET_FILE})}],
        )
        block = {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {}}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    yield from ({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas)
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 7}}
    yield {"type": "message_stop"}


def _answered(body: dict[str, Any]) -> bool:
    return "tool_result" in json.dumps(body) or "call_output" in json.dumps(body)


def _openai(body: dict[str, Any], text: str, mood: Mood) -> Iterable[dict[str, Any]]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    items: list[dict[str, Any]] = [
        {"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": content}
    ]
    if mood == "tools" and not _answered(body):
        called = {
            "exec_command": {"cmd": f"cat {SECRET_FILE}"},
            "shell": {"command": ["cat", SECRET_FILE]},
            "view_image": {"path": SECRET_FILE},
        }
        items = [
            {"type": "function_call", "id": name, "call_id": name, "name": name, "arguments": json.dumps(given)}
            for name, given in called.items()
        ]
    usage = {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18, "input_tokens_details": {"cached_tokens": 2}}
    usage["output_tokens_details"] = {"reasoning_tokens": 3}
    response = {"id": "resp_1", "object": "response", "status": "completed", "model": body.get("model"), "usage": usage}
    yield {"type": "response.created", "response": {**response, "status": "in_progress", "output": []}}
    yield from ({"type": "response.output_item.done", "output_index": at, "item": one} for at, one in enumerate(items))
    if mood == "cut":
        reason = {"reason": "max_output_tokens"}
        yield {
            "type": "response.incomplete",
            "response": {**response, "status": "incomplete", "incomplete_details": reason, "output": items},
        }
        return
    yield {"type": "response.completed", "response": {**response, "output": items}}


def _gemini(body: dict[str, Any], text: str, mood: Mood) -> Iterable[dict[str, Any]]:
    counts = {"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18}
    pieces = _pieces(text)
    for at, piece in enumerate(pieces):
        candidate: dict[str, Any] = {"content": {"role": "model", "parts": [{"text": piece}]}, "index": 0}
        if at == len(pieces) - 1:
            candidate["finishReason"] = "MAX_TOKENS" if mood == "cut" else "STOP"
        yield {"candidates": [candidate], "modelVersion": "gemini-test", "usageMetadata": counts}


_WIRES = {"messages": _anthropic, "responses": _openai, "enerateContent": _gemini}


def _all(status: int, words: str, **kinds: str) -> dict[str, tuple[int, dict[str, Any], dict[str, str]]]:
    return {
        "messages": (status, {"type": "error", "error": {"type": kinds["anthropic"], "message": words}}, {}),
        "responses": (status, {"error": {"message": words, "type": kinds["openai"], "code": kinds["openai"]}}, {}),
        "enerateContent": (status, {"error": {"code": status, "message": words, "status": kinds["google"]}}, {}),
    }


_LIMIT = _all(
    429, "The usage limit has been reached", anthropic="rate_limit_error", openai="usage_limit_reached", google=""
)
_LIMIT["messages"] = (
    *_LIMIT["messages"][:2],
    {
        "anthropic-ratelimit-unified-status": "rejected",
        "anthropic-ratelimit-unified-reset": str(RESETS),
        "anthropic-ratelimit-unified-representative-claim": "five_hour",
    },
)
_LIMIT["responses"][1]["error"] |= {"plan_type": "plus", "resets_in_seconds": 7200}
_DAY = {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": "RequestsPerDay"}]}
_LIMIT["enerateContent"][1]["error"] |= {"status": "RESOURCE_EXHAUSTED", "details": [_DAY]}
_FAULTS = {
    "401": _all(
        401, "Incorrect API key", anthropic="authentication_error", openai="invalid_api_key", google="UNAUTHENTICATED"
    ),
    "error": _all(
        400,
        "The model is made of cheese",
        anthropic="invalid_request_error",
        openai="invalid",
        google="INVALID_ARGUMENT",
    ),
    "limit": _LIMIT,
}
