"""What goes over the wire to Anthropic's Messages API, and what is made of its answers."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.llm_runtime.providers.wholes import read_message

from llm_runtime.dialects import DIALECTS
from llm_runtime.endpoints import Endpoint
from llm_runtime.errors import CallError, ReplyTruncated
from llm_runtime.http import Http
from llm_runtime.messages import CallLabel, Message, Reply, Request, Usage
from llm_runtime.providers.anthropic import anthropic
from llm_runtime.testing import LoopbackServer, Received

REQUEST = Request("claude", (Message("user", "A question?"),), CallLabel("test", "ask"))


@pytest.fixture
async def http() -> AsyncIterator[Http]:
    http = Http()
    yield http
    await http.aclose()


async def test_a_question_and_its_answer(http: Http) -> None:
    async with LoopbackServer("42") as server:
        reply = await anthropic(server.endpoint("anthropic", dialect="anthropic"), http)(REQUEST)
    assert (reply.text, reply.model, reply.provider, reply.finish_reason) == ("42", "claude", "anthropic", "stop")
    assert reply.usage == Usage(3, 1)
    [received] = server.requests
    assert received.headers["anthropic-version"] == "2026-10-21"
    assert received.payload == {
        "model": "claude",
        "max_tokens": 4096,
        "stream": True,
        "messages": [{"role": "user", "content": "A question?"}],
    }


async def test_system_texts_are_joined_and_neighbours_merged(http: Http) -> None:
    turns = [("system", "A"), ("user", "1"), ("system", "B"), ("user", "2"), ("assistant", "3"), ("user", "4")]
    messages = tuple(Message(role, content) for role, content in turns)  # pyright: ignore[reportArgumentType]
    async with LoopbackServer() as server:
        generate = anthropic(server.endpoint(dialect="anthropic"), http, default_max_tokens=9)
        await generate(dataclasses.replace(REQUEST, messages=messages))
    [received] = server.requests
    assert received.payload["system"] == "A\n\nB"
    assert received.payload["messages"] == [
        {"role": "user", "content": "1\n\n2"},
        {"role": "assistant", "content": "3"},
        {"role": "user", "content": "4"},
    ]
    assert received.payload["max_tokens"] == 9


async def test_a_schema_is_enforced_without_the_constraints_the_api_refuses(http: Http) -> None:
    schema = (
        '{"$defs":{"P":{"type":"object","properties":{"minimum":{"type":"string","maxLength":5}}}},"type":"object",'
        '"properties":{"n":{"type":"integer","minimum":0,"default":3},"p":{"items":{"$ref":"#/$defs/P"}}}}'
    )
    async with LoopbackServer() as server:
        await anthropic(server.endpoint(dialect="anthropic"), http)(dataclasses.replace(REQUEST, schema=schema))
    closed = {"additionalProperties": False}
    inner = {"type": "object", "properties": {"minimum": {"type": "string"}}, "required": ["minimum"]}
    assert server.requests[0].payload["output_config"] == {
        "format": {
            "type": "json_schema",
            "schema": {
                "$defs": {"P": inner | closed},
                "type": "object",
                "properties": {"n": {"type": "integer"}, "p": {"items": {"$ref": "#/$defs/P"}}},
                "required": ["n", "p"],
            }
            | closed,
        }
    }


async def test_a_model_without_schemas_or_effort_is_asked_without_them(http: Http) -> None:
    def answer(received: Received) -> tuple[int, dict[str, Any]] | str:
        assert not {"temperature", "seed"} & received.payload.keys(), "this version of the API refuses both"
        if "effort" in received.payload.get("output_config", {}):
            return 400, {"type": "error", "error": {"message": "This model does not support the effort parameter."}}
        if "output_config" in received.payload:
            return 400, {"type": "error", "error": {"message": "output_config.format: not available"}}
        return "adapted"

    request = dataclasses.replace(REQUEST, temperature=0.3, seed=1, effort="max", schema='{"type":"object"}')
    async with LoopbackServer(answer) as server:
        generate = anthropic(server.endpoint(dialect="anthropic"), http)
        assert [(await generate(request)).text for _ in range(2)] == ["adapted", "adapted"]
    assert len(server.requests) == 4


async def test_a_base_url_may_end_with_the_version(http: Http) -> None:
    async with LoopbackServer("yes") as server:
        endpoint = Endpoint("anthropic", f"{server.url}/v1/", dialect=DIALECTS["anthropic"])
        assert (await anthropic(endpoint, http)(REQUEST)).text == "yes"


def message(stop_reason: str = "end_turn", usage: dict[str, int] | None = None) -> dict[str, Any]:
    content = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "an"}, {"type": "text", "text": "swer"}]
    return {"content": content, "stop_reason": stop_reason, "usage": usage or {}}


def read(body: Any) -> Reply:
    return read_message(body, REQUEST, "anthropic", "id-1")


def test_text_blocks_are_joined_and_thinking_is_left_out() -> None:
    assert read(message()).text == "answer"
    assert read(message("stop_sequence")).finish_reason == "stop"


def test_cached_tokens_count_as_input() -> None:
    usage = {"input_tokens": 5, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 300, "output_tokens": 7}
    assert read(message(usage=usage)).usage == Usage(325, 7, cached_tokens=300, cache_write_tokens=20)
    assert read(message()).usage.estimated


@pytest.mark.parametrize("stop_reason", ["max_tokens", "model_context_window_exceeded"])
def test_a_cut_answer_is_an_error_that_holds_what_came(stop_reason: str) -> None:
    with pytest.raises(ReplyTruncated) as caught:
        read(message(stop_reason))
    assert caught.value.partial is not None
    assert caught.value.partial.text == "answer"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["type", "text", "code", "message"]), inner),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from(["content", "stop_reason", "usage", "model", "error"]), json_values))
def test_any_body_is_a_reply_or_a_typed_error(body: Any) -> None:
    try:
        reply = read(body)
    except CallError as error:
        assert error.provider == "anthropic"
    else:
        assert reply.text.strip()
