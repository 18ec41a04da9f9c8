"""What each dialect is sent for the same request: its words for bounds, effort and schemas, and no more."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from llm_runtime.dialects import DIALECTS
from llm_runtime.endpoints import Endpoint
from llm_runtime.errors import RequestRefused
from llm_runtime.http import Http
from llm_runtime.messages import CallLabel, Message, Request
from llm_runtime.providers._quirks import Quirk, Quirks
from llm_runtime.providers.openai_compatible import openai_compatible
from llm_runtime.providers.payloads import chat_payload, messages_payload
from llm_runtime.testing import LoopbackServer, Received

SCHEMA = '{"type":"object","properties":{"n":{"type":"integer","minimum":1},"w":{"type":"string","maxLength":9}}}'
REQUEST = Request(
    "some-model",
    (Message("user", "A question?"),),
    CallLabel("test", "ask"),
    temperature=0.5,
    max_tokens=100,
    seed=7,
    effort="medium",
)


def sent(dialect: str, request: Request = REQUEST, quirks: frozenset[Quirk] = frozenset(), **fields: Any) -> Any:
    endpoint = Endpoint(dialect, "https://models.example.org/v1", dialect=DIALECTS[dialect], **fields)
    build = messages_payload if endpoint.dialect.wire == "messages" else chat_payload
    payload = build(request, endpoint, quirks)
    return {name: json.loads(json.dumps(value)) for name, value in payload.items() if "stream" not in name}


@pytest.mark.parametrize(
    ("dialect", "own"),
    [
        ("openai", {"max_completion_tokens": 100, "reasoning_effort": "medium", "temperature": 0.5, "seed": 7}),
        ("azure", {"max_completion_tokens": 100, "reasoning_effort": "medium", "temperature": 0.5, "seed": 7}),
        ("groq", {"max_completion_tokens": 100, "reasoning_effort": "medium", "temperature": 0.5, "seed": 7}),
        ("xai", {"max_completion_tokens": 100, "reasoning_effort": "medium", "temperature": 0.5, "seed": 7}),
        ("openrouter", {"max_tokens": 100, "reasoning": {"effort": "medium"}, "temperature": 0.5, "seed": 7}),
        ("deepseek", {"max_tokens": 100, "reasoning_effort": "high", "temperature": 0.5}),
        ("mistral", {"max_tokens": 100, "reasoning_effort": "high", "temperature": 0.5}),
        ("gemini", {"max_tokens": 100, "reasoning_effort": "medium", "temperature": 0.5}),
        ("anthropic", {"max_tokens": 100, "output_config": {"effort": "medium"}}),
        ("llama.cpp", {"max_tokens": 100, "reasoning_effort": "medium", "temperature": 0.5, "seed": 7}),
        ("generic", {"max_tokens": 100, "reasoning_effort": "medium", "temperature": 0.5, "seed": 7}),
    ],
)
def test_a_dialect_has_its_own_words(dialect: str, own: dict[str, Any]) -> None:
    assert sent(dialect) == {"model": "some-model", "messages": [{"role": "user", "content": "A question?"}]} | own


def test_every_effort_has_a_word_in_every_dialect() -> None:
    for dialect in DIALECTS.values():
        levels = [dialect.level(effort) for effort in ("none", "minimal", "low", "medium", "high", "max")]
        order = [dialect.efforts.index(level) for level in levels]
        assert order == sorted(order) and order[0] == 0 and order[-1] == len(dialect.efforts) - 1


@pytest.mark.parametrize("dialect", [name for name, one in DIALECTS.items() if one.schema != "object"])
def test_a_schema_is_enforced_and_then_not_repeated(dialect: str) -> None:
    payload = sent(dialect, dataclasses.replace(REQUEST, schema=SCHEMA))
    form = payload.get("response_format", {}).get("json_schema") or payload["output_config"]["format"]
    assert form["schema"]["required"] == ["n", "w"]
    assert form["schema"]["additionalProperties"] is False
    bounds = {key for part in form["schema"]["properties"].values() for key in part} - {"type"}
    left = {"strict": ["minimum"], "messages": list[str]()}
    assert sorted(bounds) == left.get(DIALECTS[dialect].schema, ["maxLength", "minimum"])
    assert payload["messages"][0]["content"] == "A question?"
    assert payload.get("provider") == ({"require_parameters": True} if dialect == "openrouter" else None)


def test_deepseek_is_asked_for_json_and_told_its_form() -> None:
    payload = sent("deepseek", dataclasses.replace(REQUEST, schema=SCHEMA))
    assert payload["response_format"] == {"type": "json_object"}
    assert payload["messages"][-1]["content"].startswith("A question?\n\n")
    assert SCHEMA in payload["messages"][-1]["content"] and "JSON" in payload["messages"][-1]["content"]


@pytest.mark.parametrize("dialect", ["llama.cpp", "vllm", "lmstudio", "openai", "groq"])
def test_a_grammar_goes_to_engines_that_decode_by_one(dialect: str) -> None:
    grammar = '{"type":"object","properties":{"list":{"type":"array","prefixItems":[{"const":"x"}]}},"minProperties":1}'
    payload = sent(dialect, dataclasses.replace(REQUEST, schema=SCHEMA, grammar=grammar))
    schema = payload["response_format"]["json_schema"]["schema"]
    assert (schema == json.loads(grammar)) == DIALECTS[dialect].local
    assert ("n" in schema["properties"]) != DIALECTS[dialect].local


@pytest.mark.parametrize(("dialect", "bound"), [("llama.cpp", 1_900), ("vllm", 1_900), ("openai", None)])
def test_a_text_of_a_short_answer_is_bounded_where_the_engine_writes_by_the_schema(
    dialect: str, bound: int | None
) -> None:
    """A small model repeats one sentence to its limit, and no brace ever closes."""
    schema = '{"type":"object","properties":{"z":{"type":"string"},"a":{"items":{"type":"string"},"type":"array"}}}'
    for most, expected in ((1_500, bound), (8_000, None), (None, None)):
        payload = sent(dialect, dataclasses.replace(REQUEST, schema=schema, max_tokens=most))
        properties = payload["response_format"]["json_schema"]["schema"]["properties"]
        assert list(properties) == ["z", "a"], "an engine writes them in this order"
        assert properties["z"].get("maxLength") == properties["a"]["items"].get("maxLength") == expected


@pytest.mark.parametrize(("dialect", "required"), [("llama.cpp", ["n"]), ("openai", ["n", "abstain"])])
def test_a_flag_that_is_off_may_be_left_out_where_the_engine_writes_by_the_schema(
    dialect: str, required: list[str]
) -> None:
    """A small judge that must write "abstain" sets it; strict modes want every name."""
    schema = '{"type":"object","properties":{"n":{"type":"number"},"abstain":{"default":false,"type":"boolean"}}}'
    payload = sent(dialect, dataclasses.replace(REQUEST, schema=schema))
    assert payload["response_format"]["json_schema"]["schema"]["required"] == required


def prompted(dialect: str, schema: str) -> bool:
    """Whether a schema went into the prompt, which it does exactly where nobody enforces it."""
    payload = sent(dialect, dataclasses.replace(REQUEST, schema=schema))
    enforced = "response_format" in payload or "format" in payload.get("output_config", {})
    assert enforced != (schema in payload["messages"][-1]["content"])
    return not enforced


def unions(count: int) -> str:
    either = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    return json.dumps({"type": "object", "properties": {f"f{n}": either for n in range(count)}})


TREE = json.dumps(
    {
        "$defs": {"Node": {"type": "object", "properties": {"kids": {"items": {"$ref": "#/$defs/Node"}}}}},
        "type": "object",
        "properties": {"root": {"$ref": "#/$defs/Node", "description": "where it begins"}},
    }
)
MAP = '{"type":"object","properties":{"m":{"type":"object","additionalProperties":{"type":"string"}}}}'


@pytest.mark.parametrize(
    ("schema", "strict", "messages"),
    [
        (SCHEMA, False, False),
        (TREE, False, True),
        (MAP, True, True),
        (unions(16), False, False),
        (unions(17), False, True),
        ('{"anyOf":[{"type":"object","properties":{}},{"type":"null"}]}', True, False),
        ('{"type":"object","properties":{"a":{"not":{"type":"null"}}}}', True, True),
        ('{"type":"object","properties":{"a":{"allOf":[{"type":"string"}]}}}', True, True),
        ('{"type":"object","properties":{"if":{"type":"string"}}}', False, False),
    ],
)
def test_what_a_strict_mode_has_no_words_for_goes_into_the_prompt(schema: str, strict: bool, messages: bool) -> None:
    assert [prompted("openai", schema), prompted("openrouter", schema)] == [strict, strict]
    assert prompted("anthropic", schema) == messages
    assert not prompted("vllm", schema) and not prompted("generic", schema)


def test_nothing_stands_beside_a_reference_in_strict_modes() -> None:
    payload = sent("openai", dataclasses.replace(REQUEST, schema=TREE))
    assert payload["response_format"]["json_schema"]["schema"]["properties"]["root"] == {"$ref": "#/$defs/Node"}


def test_a_refused_schema_goes_into_the_prompt_unless_it_stands_there() -> None:
    request = dataclasses.replace(REQUEST, schema=SCHEMA)
    payload = sent("openai", request, frozenset({"no schema"}))
    assert "response_format" not in payload and SCHEMA in payload["messages"][0]["content"]
    shown = dataclasses.replace(request, messages=(Message("system", f"Fit {SCHEMA}"), Message("user", "Go on.")))
    assert sent("openai", shown, frozenset({"no schema"}))["messages"][-1]["content"] == "Go on."


def test_the_users_own_fields_win() -> None:
    body = {"temperature": 0, "chat_template_kwargs": {"enable_thinking": False}}
    for dialect in ("vllm", "anthropic"):
        assert sent(dialect, body=body).items() >= body.items()


@pytest.mark.parametrize(
    ("dialect", "status", "words", "quirk"),
    [
        ("openai", 400, "Unrecognized request argument supplied: reasoning_effort", "no effort"),
        ("xai", 400, "Model grok-4 does not support parameter reasoningEffort.", "no effort"),
        ("openai", 400, "'temperature' is not supported with reasoning models", "no temperature"),
        ("groq", 400, "This model does not support response format `json_schema`", "no schema"),
        ("generic", 400, "use 'max_completion_tokens' instead", "max_completion_tokens"),
        ("openai", 400, "Unknown field: max_completion_tokens", "max_tokens"),
        ("openai", 400, "max_completion_tokens is too large: 100", None),
        ("gemini", 400, "temperature must be between 0 and 1", None),
    ],
)
def test_what_a_model_refuses_is_learned(dialect: str, status: int, words: str, quirk: Quirk | None) -> None:
    payload = sent(dialect, dataclasses.replace(REQUEST, schema=SCHEMA))
    quirks = Quirks()
    learned = quirks.learn("m", RequestRefused(words, provider=dialect, model="m", status=status), payload)
    assert (learned, quirks.of("m")) == (quirk is not None, {quirk} if quirk else set())


async def test_a_host_without_schemas_at_openrouter_is_asked_in_words() -> None:
    refusal = "No endpoints found that can handle the requested parameters."

    def answer(received: Received) -> tuple[int, dict[str, Any]] | str:
        return (404, {"error": {"message": refusal}}) if "response_format" in received.payload else '{"n": 1}'

    async with LoopbackServer(answer) as server:
        http = Http()
        generate = openai_compatible(server.endpoint("openrouter"), http)
        assert (await generate(dataclasses.replace(REQUEST, schema=SCHEMA))).text == '{"n": 1}'
        await http.aclose()
    assert [len(one.payload.get("provider", {})) for one in server.requests] == [1, 0]
