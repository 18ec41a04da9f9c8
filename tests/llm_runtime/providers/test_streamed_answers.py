"""Reasoning apart from the answer, tokens of every kind, words as they come, and what a cut call leaves."""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic import SecretStr
from tests.extent import PATIENCE
from tests.llm_runtime.providers.stream_faults import spoiled
from tests.llm_runtime.providers.wholes import read_completion, read_message

from llm_runtime.errors import (
    BadFinish,
    CallError,
    ConnectionCut,
    EmptyReply,
    ReplyRepeats,
    ReplyTruncated,
    ServerFault,
)
from llm_runtime.events import CallFailed, Event
from llm_runtime.gateway import Gateway
from llm_runtime.http import Http
from llm_runtime.keys import Key
from llm_runtime.messages import CallLabel, Delta, Message, Reply, Request, Usage
from llm_runtime.providers._completions import Completion
from llm_runtime.providers.anthropic import MessageAnswer
from llm_runtime.providers.openai_compatible import openai_compatible
from llm_runtime.settings import Settings
from llm_runtime.testing import Fault, LoopbackServer, Received
from llm_runtime.wrappers.recording import recording
from llm_runtime.wrappers.retrying import Backoff, retrying

REQUEST = Request("m", (Message("user", "A question?"),), CallLabel("test", "ask"))
SCHEMA = '{"properties":{"n":{"type":"integer"}},"required":["n"],"type":"object"}'


@pytest.fixture
async def http() -> AsyncIterator[Http]:
    http = Http()
    yield http
    await http.aclose()


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def told(answer: Completion | MessageAnswer, *events: dict[str, Any]) -> Reply:
    for event in events:
        answer.add(b"", event)
    answer.end()
    return answer.reply("id-1")


def chat(*events: dict[str, Any], request: Request = REQUEST) -> Reply:
    return told(Completion(request, "acme"), *events)


REASONING: dict[str, dict[str, Any]] = {
    "OpenRouter": {"reasoning": "hm", "reasoning_details": [{"type": "reasoning.text", "text": "hm"}]},
    "details alone": {"reasoning_details": [{"type": "reasoning.summary", "summary": "hm"}]},
    "DeepSeek": {"reasoning_content": "hm", "content": None},
    "Mistral": {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]},
    "no parser": {"content": "\n<think>hm</think>"},
}


@pytest.mark.parametrize("fields", REASONING.values(), ids=list(REASONING))
def test_reasoning_is_no_part_of_the_answer(fields: dict[str, Any]) -> None:
    assert chat(chunk(**fields), chunk(content="so"), chunk("stop")).text == "so"
    whole = dict(fields)
    parts = whole.get("content")
    whole["content"] = [*parts, {"type": "text", "text": "so"}] if isinstance(parts, list) else f"{parts or ''}so"
    assert read_completion({"choices": [{"message": whole}]}, REQUEST, "acme", None).text == "so"
    with pytest.raises(EmptyReply, match="tokens were reasoning"):
        chat(chunk(**fields), chunk("stop"))


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Is it {so}?\nYes.\n</think>\n\nso", "so"),
        ("One line.\n</think>\nso\n\nand more", "so\n\nand more"),
        ("It ends with </think> there.", None),
        ("Write <think>\nhm\n</think>\nfor it.", None),
        ("As here:\n```\nhm\n</think>\nso\n```", None),
    ],
)
def test_reasoning_whose_opening_tag_stood_in_the_prompt_is_no_part_of_the_answer(
    text: str, answer: str | None
) -> None:
    pieces = [chunk(content=text[at : at + 3]) for at in range(0, len(text), 3)]
    reply = chat(*pieces, chunk("stop"))
    assert reply.text == (answer or text) and reply.usage.estimated
    assert read_completion({"choices": [{"message": {"content": text}}]}, REQUEST, "acme", None).text == reply.text
    # A server that tells reasoning apart has left no tag behind.
    assert chat(chunk(reasoning="hm"), *pieces, chunk("stop")).text == text


def test_an_answer_that_ended_within_its_reasoning_says_how_much_of_it_was() -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 64, "completion_tokens_details": {"reasoning_tokens": 60}}
    with pytest.raises(ReplyTruncated, match="60 of 64 tokens were reasoning") as caught:
        chat(chunk(content="<think>Let me"), chunk("length", content=" see"), {"choices": [], "usage": usage})
    assert caught.value.partial is not None
    assert caught.value.partial.usage == Usage(5, 64, reasoning_tokens=60)
    with pytest.raises(ReplyTruncated, match="64 of 64 tokens were reasoning"):
        del usage["completion_tokens_details"]
        chat(chunk(reasoning="Let me"), chunk("length"), {"choices": [], "usage": usage})


def test_an_object_that_a_server_put_where_the_reasoning_stands_is_the_answer() -> None:
    request = dataclasses.replace(REQUEST, schema=SCHEMA)
    reply = chat(chunk(reasoning_content='{"n":'), chunk("stop", reasoning_content=" 3}"), request=request)
    assert (reply.text, reply.repairs) == ('{"n": 3}', ("the answer stood in the reasoning",))
    for thought in ("so {}", '{"m": 3}', '{"n": 3', '{"n": 3} and'):
        with pytest.raises(EmptyReply):
            chat(chunk("stop", reasoning=thought), request=request)
    with pytest.raises(EmptyReply):
        chat(chunk("stop", reasoning='{"n": 3}'))


USAGES: dict[str, tuple[dict[str, Any], Usage]] = {
    "OpenAI": (
        {
            "prompt_tokens": 100,
            "completion_tokens": 50,
            "total_tokens": 150,
            "prompt_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 8},
            "completion_tokens_details": {"reasoning_tokens": 40},
        },
        Usage(100, 50, cached_tokens=64, cache_write_tokens=8, reasoning_tokens=40),
    ),
    "DeepSeek": (
        {"prompt_tokens": 100, "completion_tokens": 50, "prompt_cache_hit_tokens": 90},
        Usage(100, 50, cached_tokens=90),
    ),
    "xAI": (
        {
            "prompt_tokens": 100,
            "completion_tokens": 10,
            "total_tokens": 150,
            "completion_tokens_details": {"reasoning_tokens": 40},
        },
        Usage(100, 50, reasoning_tokens=40),
    ),
    "Gemini": (
        {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 150},
        Usage(100, 50, reasoning_tokens=40),
    ),
}


@pytest.mark.parametrize(("usage", "expected"), USAGES.values(), ids=list(USAGES))
def test_tokens_of_every_kind_are_read(usage: dict[str, Any], expected: Usage) -> None:
    assert chat(chunk("stop", content="so"), {"choices": [], "usage": usage}).usage == expected


def test_a_message_counts_up_and_keeps_its_thinking_apart() -> None:
    start = {"model": "claude", "id": "msg_1", "usage": {"input_tokens": 9, "cache_read_input_tokens": 3}}
    usage = {"output_tokens": 25, "output_tokens_details": {"thinking_tokens": 20}}
    reply = told(
        MessageAnswer(REQUEST, "anthropic"),
        {"type": "message_start", "message": start},
        {"type": "ping"},
        {"type": "content_block_delta", "delta": {"type": "thinking_delta", "thinking": "hm"}},
        {"type": "content_block_delta", "delta": {"type": "signature_delta", "signature": "x" * 9}},
        {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "so"}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage},
        {"type": "message_stop"},
    )
    assert (reply.text, reply.model) == ("so", "claude")
    assert reply.usage == Usage(12, 25, cached_tokens=3, reasoning_tokens=20)


def test_an_overloaded_provider_in_the_middle_of_a_message() -> None:
    with pytest.raises(ServerFault) as caught:
        told(
            MessageAnswer(REQUEST, "anthropic"),
            {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "half"}},
            {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        )
    assert caught.value.partial is not None and caught.value.partial.text == "half"


def test_a_turn_that_the_provider_paused_is_no_answer() -> None:
    with pytest.raises(BadFinish, match="pause_turn"):
        read_message({"content": [{"type": "text", "text": "so"}], "stop_reason": "pause_turn"}, REQUEST, "a", None)


async def test_a_server_that_refuses_to_count_or_to_stream_is_asked_without(http: Http) -> None:
    def answer(received: Received) -> tuple[int, dict[str, Any]] | str:
        for name in ("stream_options", "stream"):
            if name in received.payload:
                return 400, {"error": {"message": f"Unsupported parameter: {name}"}}
        return "whole"

    async with LoopbackServer(answer) as server:
        generate = openai_compatible(server.endpoint(), http)
        assert [(await generate(REQUEST)).text for _ in range(2)] == ["whole", "whole"]
    assert len(server.requests) == 4, "what was learned is remembered"


async def test_a_call_that_is_cancelled_closes_its_connection(http: Http) -> None:
    words = asyncio.Event()

    def hear(_: Request, delta: Delta) -> None:
        if delta.kind == "text":
            words.set()

    async with LoopbackServer("word " * 10_000, pace=0.01) as server, asyncio.timeout(PATIENCE):
        call = asyncio.ensure_future(openai_compatible(server.endpoint(), http, on_delta=hear)(REQUEST))
        await words.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await server.abandoned.wait()


async def test_the_gateway_tells_of_words_and_the_log_of_what_was_cut() -> None:
    seen: list[Delta] = []
    events: list[Event] = []
    cut, faults = spoiled("", "cut between events", "cut between events", ""), {1: Fault.STATUS_503}
    async with LoopbackServer("Words of an answer, one after the other.", faults=faults, send=cut, piece=6) as server:
        settings = Settings(
            keys={"openrouter": Key(SecretStr("sk-or-0123456789"), "test")},
            base_urls={"openrouter": f"{server.url}/v1"},
        )
        gateway = Gateway(
            settings, backoff=Backoff(attempts=3, base=0), on_delta=lambda request, delta: seen.append(delta)
        )
        async with gateway:
            with pytest.raises(ConnectionCut):
                await recording(gateway.generate, events.append)(REQUEST)
            reply = await gateway.generate(REQUEST)
    begun = [number for number, delta in enumerate(seen) if delta == Delta("progress")]
    assert len(begun) == 4, "each attempt begins with progress: what came before it is void"
    assert "".join(delta.text for delta in seen[begun[-1] :]) == reply.text
    [failed] = [event for event in events if isinstance(event, CallFailed)]
    assert failed.partial is not None
    assert failed.partial["text"] and reply.text.startswith(failed.partial["text"])
    assert failed.partial["usage"]["estimated"]


LOOP = "The layer takes what the readers did not give, which is a violation of reciprocity. "


def counted(*passages: str) -> str:
    """Items that are counted on, each followed by the same refrain."""
    refrain = "   - The passage does not say who is to keep the list, nor for how long.\n\n"
    texts = itertools.cycle(passages)
    return "".join(f"{n}. {next(texts)}\n{refrain}" for n in range(1, 200))


@pytest.mark.parametrize(
    "text",
    [
        counted(LOOP, LOOP[::-1] * 2, "On the other hand, a list on paper is seen by all who pass by it. " * 3),
        "".join(f"## Objection {n}\nThe draft says nothing of this: {LOOP * 2}\n" for n in range(90)),
        "".join(f"{n}) {LOOP * 12}\n" for n in range(40)),
    ],
)
async def test_a_model_that_counts_on_while_it_repeats_itself_is_stopped(http: Http, text: str) -> None:
    answers = iter(["First of all. " + text, "It ends."])
    async with LoopbackServer(lambda _: next(answers), piece=97) as server, asyncio.timeout(PATIENCE):
        local = server.endpoint("llama.cpp")
        reply = await retrying(openai_compatible(local, http), Backoff(base=0))(REQUEST)
    assert (reply.text, reply.attempts) == ("It ends.", 2)
    assert ["dry_multiplier" in one.payload for one in server.requests] == [False, True], "asked again with a penalty"


@pytest.mark.parametrize("passage", [LOOP, '"' + LOOP * 5, "so ", "und noch einmal, ", "同じことを繰り返す。"])
async def test_a_model_that_repeats_itself_without_end_is_stopped_and_asked_once_more(http: Http, passage: str) -> None:
    begins = "A judgement of its own. "
    answers = iter([begins + passage * (40_000 // len(passage)), "It ends."])
    async with LoopbackServer(lambda _: next(answers), piece=97) as server, asyncio.timeout(PATIENCE):
        generate = retrying(openai_compatible(server.endpoint(), http), Backoff(base=0))
        reply = await generate(REQUEST)
    assert (reply.text, reply.attempts) == ("It ends.", 2)


async def test_a_model_that_only_repeats_itself_fails_after_two_attempts_with_what_came(http: Http) -> None:
    async with LoopbackServer(LOOP * 500, piece=97) as server, asyncio.timeout(PATIENCE):
        with pytest.raises(ReplyRepeats, match="repeats one passage") as failed:
            await retrying(openai_compatible(server.endpoint(), http), Backoff(base=0))(REQUEST)
    assert len(server.requests) == 2
    assert failed.value.partial and 1_000 < len(failed.value.partial.text) < 4_000


@pytest.mark.parametrize(
    "text",
    [
        "-" * 5_000,
        "| 0.0 | 0.0 | 0.0 |\n" * 300,
        "\n".join(f"def test_{n}() -> None:\n    assert f({n}) == {n * n}" for n in range(200)),
        "\n".join(f"{n}. Ask the same thing again, for room {n}." for n in range(200)),
        json.dumps([{"pair": n, "kind": "unrelated", "why": LOOP * 2} for n in range(40)], indent=1),
        "\n".join(f"{n}. {LOOP * 2}So says reader {chr(97 + n % 26)}{chr(97 + n // 26)}." for n in range(90)),
        LOOP * 8 + " ".join(f"And then reason {n} follows." for n in range(400)),
    ],
)
async def test_tables_lists_and_code_are_no_loops(http: Http, text: str) -> None:
    async with LoopbackServer(text, piece=97) as server, asyncio.timeout(PATIENCE):
        assert (await openai_compatible(server.endpoint(), http)(REQUEST)).text == text


def test_a_cut_is_never_an_answer() -> None:
    for events in ((), (chunk(content="half"),), (chunk(reasoning="hm"),)):
        with pytest.raises(CallError):
            chat(*events)
