"""Models that OpenAI serves by its Responses API alone: found out by one refusal, then asked there at once."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from aiohttp import web
from pydantic import SecretStr

from llm_runtime.dialects import DIALECTS
from llm_runtime.endpoints import Endpoint
from llm_runtime.errors import CallError, ReplyFiltered, ReplyTruncated, WrongEndpoint
from llm_runtime.http import Http
from llm_runtime.messages import CallLabel, Delta, Message, Request, Usage
from llm_runtime.providers.openai_compatible import openai_compatible

REFUSAL = "This model is only supported in v1/responses and not in v1/chat/completions."
REQUEST = Request(
    "o3-pro",
    (Message("system", "Be brief."), Message("user", "Is it so?")),
    CallLabel("test", "ask"),
    max_tokens=100,
    effort="low",
    seed=7,
    schema='{"type":"object","properties":{"holds":{"type":"boolean"}}}',
)
USAGE = {
    "input_tokens": 9,
    "output_tokens": 30,
    "input_tokens_details": {"cached_tokens": 4},
    "output_tokens_details": {"reasoning_tokens": 20},
}
Serve = Callable[..., Any]


def response(status: str = "completed", **more: Any) -> dict[str, Any]:
    parts = [{"type": "output_text", "text": '{"holds": true}'}]
    output = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
        {"type": "message", "content": parts},
    ]
    whole = {"id": "resp_1", "model": "o3-pro-x", "status": status, "output": output, "usage": USAGE, "error": None}
    return whole | more


@pytest.fixture
async def http() -> AsyncIterator[Http]:
    client = Http()
    yield client
    await client.aclose()


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Start a server whose chat refuses and whose responses are the given events, or one body."""
    runners: list[web.AppRunner] = []

    async def start(answer: Any, asked: list[tuple[str, Any]], dialect: str = "openai") -> Endpoint:
        async def chat(request: web.Request) -> web.StreamResponse:
            asked.append(("chat", await request.json()))
            return web.json_response({"error": {"message": REFUSAL, "param": "model"}}, status=404)

        async def responses(request: web.Request) -> web.StreamResponse:
            asked.append(("responses", await request.json()))
            if isinstance(answer, dict):
                return web.json_response(answer)
            body = "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in answer)
            return web.Response(text=body, content_type="text/event-stream")

        app = web.Application()
        app.router.add_post("/v1/chat/completions", chat)
        app.router.add_post("/v1/responses", responses)
        runner = web.AppRunner(app)
        runners.append(runner)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        return Endpoint("openai", url, SecretStr("sk-canary-0123456789"), DIALECTS[dialect])

    yield start
    for runner in runners:
        await runner.cleanup()


async def test_a_refusal_by_chat_is_learned_and_the_answer_streams(serve: Serve, http: Http) -> None:
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {}},
        {"type": "response.reasoning_summary_text.delta", "delta": "hm"},
        {"type": "response.output_text.delta", "delta": '{"holds"'},
        {"type": "response.output_text.delta", "delta": ": true}"},
        {"type": "response.completed", "response": response()},
    ]
    asked: list[tuple[str, Any]] = []
    deltas: list[Delta] = []
    endpoint = await serve(events, asked)
    generate = openai_compatible(endpoint, http, on_delta=lambda _, delta: deltas.append(delta))
    replies = [await generate(REQUEST) for _ in range(2)]
    assert [path for path, _ in asked] == ["chat", "responses", "responses"]
    assert {reply.text for reply in replies} == {'{"holds": true}'}
    assert (replies[0].model, replies[0].finish_reason) == ("o3-pro-x", "stop")
    assert replies[0].usage == Usage(9, 30, cached_tokens=4, reasoning_tokens=20)
    assert {delta.kind for delta in deltas} == {"progress", "reasoning", "text"}
    payload = asked[1][1]
    assert payload["input"] == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Is it so?"}]
    assert (payload["max_output_tokens"], payload["reasoning"]) == (100, {"effort": "low"})
    assert payload["text"]["format"]["schema"]["required"] == ["holds"]
    assert payload["store"] is False and "seed" not in payload


async def test_a_whole_answer_is_read_too(serve: Serve, http: Http) -> None:
    reply = await openai_compatible(await serve(response(), []), http)(REQUEST)
    assert reply.text == '{"holds": true}'


@pytest.mark.parametrize(
    ("end", "error"),
    [
        (response("incomplete", incomplete_details={"reason": "max_output_tokens"}), ReplyTruncated),
        (response("incomplete", incomplete_details={"reason": "content_filter"}), ReplyFiltered),
        (response("failed", error={"code": "server_error", "message": "it broke"}), CallError),
    ],
)
async def test_an_answer_that_is_not_whole_is_an_error(
    serve: Serve, http: Http, end: dict[str, Any], error: type[CallError]
) -> None:
    for answer in (end, [{"type": f"response.{end['status']}", "response": end}]):
        with pytest.raises(error):
            await openai_compatible(await serve(answer, []), http)(REQUEST)


async def test_elsewhere_the_refusal_stands(serve: Serve, http: Http) -> None:
    asked: list[tuple[str, Any]] = []
    with pytest.raises(WrongEndpoint):
        await openai_compatible(await serve(response(), asked, "groq"), http)(dataclasses.replace(REQUEST, effort=None))
    assert [path for path, _ in asked] == ["chat"]
