"""Ollama's own chat: a window as large as the prompt needs, thoughts apart, and errors within the lines."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from typing import Any

import pytest

from llm_runtime.endpoints import Endpoint
from llm_runtime.errors import CallError, ConnectionCut, ReplyTruncated, RequestRefused
from llm_runtime.http import Http
from llm_runtime.messages import CallLabel, Delta, Message, Reply, Request, Usage
from llm_runtime.providers.ollama import ChatAnswer, ollama
from llm_runtime.testing import LoopbackServer, Received

REQUEST = Request("qwen3", (Message("user", "A question?"),), CallLabel("test", "ask"))


@pytest.fixture
async def http() -> AsyncIterator[Http]:
    http = Http()
    yield http
    await http.aclose()


def at(server: LoopbackServer) -> Endpoint:
    return server.endpoint("ollama")


async def test_a_question_and_its_answer_word_by_word(http: Http) -> None:
    seen: list[Delta] = []
    async with LoopbackServer("forty two", piece=3) as server:
        reply = await ollama(at(server), http, on_delta=lambda _, delta: seen.append(delta))(REQUEST)
    assert (reply.text, reply.model, reply.provider, reply.usage) == ("forty two", "qwen3", "ollama", Usage(3, 3))
    assert [delta.text for delta in seen if delta.kind == "text"] == ["for", "ty ", "two"]
    [received] = server.requests
    assert received.payload == {
        "model": "qwen3",
        "messages": [{"role": "user", "content": "A question?"}],
        "stream": True,
        "options": {"num_ctx": 8192},
        "truncate": False,
        "shift": False,
        "keep_alive": "30m",
    }


@pytest.mark.parametrize(
    ("characters", "max_tokens", "window"), [(4, 1000, 4096), (40_000, 1000, 12_288), (10**6, None, 32_768)]
)
async def test_the_window_grows_with_the_prompt(
    http: Http, characters: int, max_tokens: int | None, window: int
) -> None:
    request = dataclasses.replace(REQUEST, messages=(Message("user", "x" * characters),), max_tokens=max_tokens)
    async with LoopbackServer() as server:
        await ollama(at(server), http)(request)
    assert server.requests[0].payload["options"]["num_ctx"] == window


async def test_a_model_that_repeated_itself_is_told_to_avoid_it(http: Http) -> None:
    async with LoopbackServer() as server:
        await ollama(at(server), http)(dataclasses.replace(REQUEST, repeated=True))
    assert server.requests[0].payload["options"] == {"num_ctx": 8192, "repeat_last_n": -1, "repeat_penalty": 1.2}


async def test_a_grammar_wins_over_the_schema_and_effort_is_a_way_to_think(http: Http) -> None:
    request = dataclasses.replace(
        REQUEST, schema='{"type":"object"}', grammar='{"const":1}', effort="max", seed=7, temperature=0.5
    )
    async with LoopbackServer() as server:
        await ollama(at(server), http)(request)
        await ollama(at(server), http)(dataclasses.replace(request, grammar=None, effort="none"))
    first, second = (received.payload for received in server.requests)
    assert (first["format"], second["format"]) == ({"const": 1}, {"type": "object"})
    assert (first["think"], second["think"]) == ("high", False)
    assert first["options"] == {"num_ctx": 8192, "temperature": 0.5, "seed": 7}


async def test_a_model_that_does_not_think_is_not_told_to_again(http: Http) -> None:
    def answer(received: Received) -> tuple[int, dict[str, Any]] | str:
        if "think" in received.payload:
            return 400, {"error": '"qwen2.5" does not support thinking'}
        return "here"

    async with LoopbackServer(answer) as server:
        generate = ollama(at(server), http)
        for _ in range(2):
            assert (await generate(dataclasses.replace(REQUEST, effort="low"))).text == "here"
    assert len(server.requests) == 3


async def test_a_prompt_that_does_not_fit_is_refused_and_not_cut(http: Http) -> None:
    refusal = {"error": "the input length exceeds the context length"}
    async with LoopbackServer(lambda _: (400, refusal)) as server:
        with pytest.raises(RequestRefused, match="context length"):
            await ollama(at(server), http)(REQUEST)


def read(*lines: Any) -> Reply:
    answer = ChatAnswer(REQUEST, "ollama")
    for line in lines:
        answer.add(b"", line)
    answer.end()
    return answer.reply(None)


def test_thoughts_are_no_text() -> None:
    end: dict[str, Any] = {"done": True, "done_reason": "stop"}
    thoughts = {"message": {"thinking": "hm", "content": ""}}
    assert read(thoughts, {"message": {"content": "so"}}, end).text == "so"
    assert read({"message": {"content": "<think>hm</think>so"}}, end).text == "so"
    with pytest.raises(ReplyTruncated, match="40 of 40 tokens were reasoning"):
        read(thoughts, end | {"done_reason": "length", "eval_count": 40, "prompt_eval_count": 3})


def test_an_error_in_a_line_and_an_end_without_done() -> None:
    with pytest.raises(CallError, match="model runner has unexpectedly stopped") as caught:
        read({"message": {"content": "half"}}, {"error": "model runner has unexpectedly stopped"})
    assert caught.value.partial is not None and caught.value.partial.text == "half"
    with pytest.raises(ConnectionCut):
        read({"message": {"content": "half"}})
