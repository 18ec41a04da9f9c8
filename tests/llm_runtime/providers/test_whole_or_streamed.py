"""Whether an answer is asked for whole or as a stream: by who watches, what to notice, and what came before."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeAlias

import pytest

from llm_runtime.errors import ConnectionCut
from llm_runtime.http import Http
from llm_runtime.messages import CallLabel, Generate, Message, Request
from llm_runtime.providers.anthropic import anthropic
from llm_runtime.providers.openai_compatible import openai_compatible
from llm_runtime.settings import ConfigFile, Settings
from llm_runtime.silence import Patience, Silence
from llm_runtime.testing import Fault, LoopbackServer, Received

Provider: TypeAlias = "Callable[..., Generate]"
BOUNDED = Request("m", (Message("user", "A question?"),), CallLabel("test", "ask"), max_tokens=500)
HEEDED = Patience(heeded=True)


@pytest.fixture
async def http() -> AsyncIterator[Http]:
    http = Http()
    yield http
    await http.aclose()


def streamed(server: LoopbackServer) -> list[bool]:
    """Return of each request whether it asked for a stream."""
    return [bool(received.payload.get("stream")) for received in server.requests]


@pytest.mark.parametrize("provider", [openai_compatible, anthropic])
async def test_what_nobody_watches_and_whose_length_is_bounded_is_asked_for_whole(
    http: Http, provider: Provider
) -> None:
    async with LoopbackServer("42") as server:
        endpoint = server.endpoint("acme", dialect="anthropic" if provider is anthropic else "openai")
        assert (await provider(endpoint, http)(BOUNDED)).text == "42"
        for watched in (
            provider(endpoint, http, on_delta=lambda _request, _delta: None)(BOUNDED),
            provider(endpoint, http, patience=HEEDED)(BOUNDED),
            provider(endpoint, http)(dataclasses.replace(BOUNDED, max_tokens=None)),
            provider(endpoint, http)(dataclasses.replace(BOUNDED, max_tokens=50_000)),
        ):
            assert (await watched).text == "42"
        async with Silence(60):
            await provider(endpoint, http)(BOUNDED)
    assert streamed(server) == [False, True, True, True, True, True]


async def test_a_model_whose_answers_are_short_is_asked_for_whole_ones_until_one_is_long(http: Http) -> None:
    texts = iter([*["short"] * 7, "a long one, " * 1_000, "short"])
    async with LoopbackServer(lambda _: next(texts)) as server:
        generate = openai_compatible(server.endpoint(), http)
        for _ in range(9):
            await generate(dataclasses.replace(BOUNDED, max_tokens=None))
    # Without a bound of the request only the answers show that they end: the first five, and again after a long one.
    assert streamed(server) == [*[True] * 5, *[False] * 3, True]


async def test_what_a_models_answers_showed_is_known_to_every_run_over_one_client(http: Http) -> None:
    async with LoopbackServer("short", faults={7: Fault.CUT_AFTER_HEADERS}) as server:
        unbounded = dataclasses.replace(BOUNDED, max_tokens=None)
        for _ in range(6):
            # Each run has a gateway of its own, which makes its model anew.
            await openai_compatible(server.endpoint(), http)(unbounded)
        with pytest.raises(ConnectionCut):
            await openai_compatible(server.endpoint(), http)(unbounded)
        await openai_compatible(server.endpoint(), http)(unbounded)
    assert streamed(server) == [*[True] * 5, False, False, True]


async def test_a_whole_answer_that_was_cut_on_its_way_is_asked_for_as_a_stream_next_time(http: Http) -> None:
    async with LoopbackServer("42", faults={1: Fault.CUT_AFTER_HEADERS}) as server:
        generate = openai_compatible(server.endpoint(), http)
        with pytest.raises(ConnectionCut):
            await generate(BOUNDED)
        assert (await generate(BOUNDED)).text == "42"
        await generate(dataclasses.replace(BOUNDED, model="another"))
    assert streamed(server) == [False, True, False], "of that model only"


@pytest.mark.parametrize(
    "words",
    [
        "This model only supports stream mode, please enable the stream parameter.",
        "parameter.enable_thinking only support stream",
        "Non-streaming requests are not supported for this model",
    ],
)
async def test_a_model_that_answers_only_in_streams_is_asked_for_one_at_once(http: Http, words: str) -> None:
    def only_streams(received: Received) -> tuple[int, dict[str, Any]] | str:
        return "42" if received.payload.get("stream") else (400, {"error": {"message": words}})

    async with LoopbackServer(only_streams) as server:
        generate = openai_compatible(server.endpoint(), http)
        assert (await generate(BOUNDED)).text == "42"
        assert (await generate(BOUNDED)).text == "42"
    assert streamed(server) == [False, True, True]


async def test_a_server_that_refuses_streams_and_whole_answers_alike_is_asked_twice(http: Http) -> None:
    async with LoopbackServer((400, {"error": {"message": "stream is not supported"}})) as server:
        with pytest.raises(Exception, match="stream is not supported"):
            await openai_compatible(server.endpoint(), http)(BOUNDED)
    assert len(server.requests) <= 3


@pytest.mark.parametrize(
    ("local", "config", "heeded"),
    [
        (True, ConfigFile(), True),
        (False, ConfigFile(), False),
        (False, ConfigFile(idle_timeout=30), True),
        (False, ConfigFile(first_timeout=30, call_timeout=300), False),
    ],
)
def test_silence_is_noticed_of_a_local_model_and_where_somebody_has_set_its_bound(
    local: bool, config: ConfigFile, heeded: bool
) -> None:
    assert Settings(config=config).patience(local=local).heeded is heeded
