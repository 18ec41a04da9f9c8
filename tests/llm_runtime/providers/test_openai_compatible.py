"""What goes over the wire to a chat-completions server, and what is made of its answers."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.llm_runtime.providers.wholes import read_completion

from llm_runtime.errors import CallError, EmptyReply, MalformedReply, ReplyFiltered, RequestRefused
from llm_runtime.http import Http
from llm_runtime.messages import CallLabel, Message, Request, Usage
from llm_runtime.providers.openai_compatible import openai_compatible
from llm_runtime.testing import LoopbackServer, Received

REQUEST = Request(
    "some-model", (Message("system", "Be brief."), Message("user", "A question?")), CallLabel("test", "ask")
)
SCHEMA = '{"properties":{"n":{"default":1,"type":"integer"}},"type":"object"}'
EVERYTHING = dataclasses.replace(
    REQUEST, fallbacks=("second", "third", "fourth"), temperature=0.5, max_tokens=100, seed=7, schema=SCHEMA
)
STREAM = {"stream", "stream_options"}


@pytest.fixture
async def http() -> AsyncIterator[Http]:
    http = Http()
    yield http
    await http.aclose()


async def test_a_question_and_its_answer(http: Http) -> None:
    async with LoopbackServer("42", cost=0.0001) as server:
        reply = await openai_compatible(server.endpoint("acme"), http)(REQUEST)
    assert (reply.text, reply.model, reply.provider, reply.finish_reason) == ("42", "some-model", "acme", "stop")
    assert reply.usage == Usage(6, 1)
    assert (reply.cost, reply.cost_source) == (100, "provider")
    assert reply.request_id == "loopback-1"
    assert server.requests[0].messages == REQUEST.messages


async def test_only_what_is_set_is_sent(http: Http) -> None:
    async with LoopbackServer() as server:
        generate = openai_compatible(server.endpoint(), http)
        await generate(REQUEST)
        await generate(dataclasses.replace(EVERYTHING, session_id="run-1"))
    bare, full = (received.payload for received in server.requests)
    assert bare.keys() == {"model", "messages"} | STREAM
    assert full.keys() == (bare.keys() - STREAM) | {"temperature", "max_tokens", "seed", "response_format"}
    assert full["response_format"]["json_schema"]["schema"] == {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": False,
    }


async def test_openrouter_is_sent_its_extras(http: Http) -> None:
    async with LoopbackServer() as server:
        generate = openai_compatible(server.endpoint("openrouter"), http, max_price=(1.5, 6.0))
        await generate(dataclasses.replace(EVERYTHING, session_id="s" * 300))
    [received] = server.requests
    assert received.payload["models"] == ["some-model", "second", "third"], "it takes three"
    assert received.payload["session_id"] == "s" * 256
    assert received.payload["provider"] == {
        "max_price": {"prompt": 1.5, "completion": 6.0},
        "require_parameters": True,
    }, "a host that ignores the schema will not do"
    assert received.headers["x-openrouter-title"] == "Assay"


def _refusing(**complaints: str) -> Any:
    """A server that answers 400 with a complaint for as long as a parameter is sent."""

    def answer(received: Received) -> tuple[int, dict[str, Any]] | str:
        for parameter, complaint in complaints.items():
            if parameter in received.payload:
                return 400, {"error": {"message": complaint}}
        return "adapted"

    return answer


async def test_parameters_that_a_model_refuses_are_left_out_once_and_for_all(http: Http) -> None:
    script = _refusing(
        max_tokens="Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
        temperature="Unsupported value: 'temperature' does not support 0.5 with this model.",
        seed="Unrecognized request argument supplied: seed",
        response_format="Invalid parameter: 'response_format' of type 'json_schema' is not supported.",
    )
    async with LoopbackServer(script) as server:
        generate = openai_compatible(server.endpoint(), http)
        assert (await generate(EVERYTHING)).text == "adapted"
        assert len(server.requests) == 5
        assert (await generate(EVERYTHING)).text == "adapted"
        assert len(server.requests) == 6, "what was learned is remembered"
        assert server.requests[-1].payload.keys() == {"model", "messages", "max_completion_tokens"}
        await generate(dataclasses.replace(EVERYTHING, model="another"))
        assert server.requests[6].payload["max_tokens"] == 100, "of that model only"


async def test_a_value_out_of_range_is_the_callers_mistake(http: Http) -> None:
    script = _refusing(temperature="temperature must be at most 2", max_tokens="max_tokens is too large: 10000000")
    async with LoopbackServer(script) as server:
        generate = openai_compatible(server.endpoint(), http)
        for request in (
            dataclasses.replace(REQUEST, temperature=3.0),
            dataclasses.replace(REQUEST, max_tokens=10_000_000),
        ):
            with pytest.raises(RequestRefused):
                await generate(request)
    assert len(server.requests) == 2


def completion(**message: Any) -> dict[str, Any]:
    return {"choices": [{"message": message}]}


def read(body: Any) -> Any:
    return read_completion(body, REQUEST, "acme", "id-1")


def test_text_comes_as_a_string_or_in_parts() -> None:
    parts = [{"type": "text", "text": "one "}, {"type": "image"}, {"type": "text", "text": "two"}]
    assert read(completion(content="plain")).text == "plain"
    assert read(completion(content=parts)).text == "one two"


def test_tokens_are_estimated_where_none_are_reported() -> None:
    assert read(completion(content="12345")).usage == Usage(6, 2, estimated=True)
    for tokens in ("many", -1, True, 10**400):
        usage = {"prompt_tokens": tokens, "completion_tokens": 1}
        assert read(completion(content="12345") | {"usage": usage}).usage.estimated


def test_names_in_an_answer_are_one_short_line() -> None:
    reply = read(completion(content="x") | {"model": "m\n\x1b[31m" + "o" * 10_000})
    assert reply.model.startswith("m [31mooo")
    assert len(reply.model) == 400


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        ({"cost": 0.0001}, 100),
        ({"cost": 0.00000001}, 1),
        ({"cost": 0}, 0),
        ({"cost": 1.1}, 1_100_000),
        ({"cost": 0.01, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.2}}, 210_000),
        ({"cost": -1}, None),
        ({"cost": "free"}, None),
        ({"cost": 1e308}, None),
        ({"cost": 10**400}, None),
        ({}, None),
    ],
)
def test_costs_are_micro_dollars_rounded_up(usage: dict[str, Any], cost: int | None) -> None:
    reply = read(completion(content="x") | {"usage": usage})
    assert reply.cost == cost
    assert reply.cost_source == ("unknown" if cost is None else "provider")


def test_a_refusal_is_filtered_and_reasoning_alone_is_empty() -> None:
    with pytest.raises(ReplyFiltered):
        read(completion(content=None, refusal="I cannot help with that."))
    with pytest.raises(EmptyReply):
        read(completion(content="", reasoning="Let me think."))
    with pytest.raises(EmptyReply):
        read(completion(content=" \n "))


def test_an_error_within_a_choice_is_an_error() -> None:
    with pytest.raises(CallError) as caught:
        read({"choices": [{"error": {"code": 502, "message": "upstream died"}, "message": {"content": "hal"}}]})
    assert (type(caught.value).__name__, caught.value.status) == ("ServerFault", 502)
    assert "upstream died" in str(caught.value)


@pytest.mark.parametrize("body", [None, [], "text", {"choices": {}}, {"choices": ["x"]}, completion(content=5), {}])
def test_another_shape_is_malformed(body: Any) -> None:
    with pytest.raises(MalformedReply):
        read(body)


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
messages: st.SearchStrategy[Any] = st.dictionaries(st.sampled_from(["content", "refusal"]), json_values)
choices: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {}, optional={"message": messages | json_values, "finish_reason": json_values, "error": json_values}
)
near_misses: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {},
    optional={"choices": st.lists(choices) | json_values, "usage": json_values, "model": json_values}
    | {"error": json_values},
)


@given(near_misses | json_values)
def test_any_body_is_a_reply_or_a_typed_error(body: Any) -> None:
    try:
        reply = read(json.loads(json.dumps(body)))
    except CallError as error:
        assert error.provider == "acme"
    else:
        assert reply.text.strip()
        assert reply.usage.input_tokens >= 0
