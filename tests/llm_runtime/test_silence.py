"""Clocks that run while a model is silent, and stand still while a call waits for its turn."""

from __future__ import annotations

import asyncio

import pytest
from tests.virtual_time import run

from llm_runtime.errors import CallTimeout, ServerFault
from llm_runtime.messages import CallLabel, Message, Request
from llm_runtime.providers.scripted import scripted
from llm_runtime.settings import Limits
from llm_runtime.silence import Silence
from llm_runtime.testing import ScriptedModel
from llm_runtime.wrappers.limiting import Limiter, limiting
from llm_runtime.wrappers.retrying import retrying

ASK = Request("m", (Message("user", "?"),), CallLabel("t", "p"))


def test_a_model_that_says_nothing_is_ended_after_the_first_clock() -> None:
    async def story() -> None:
        silence = Silence(600, 120)
        with pytest.raises(TimeoutError):
            async with silence:
                await asyncio.sleep(601)
        assert silence.expired and not silence.spoken

    run(story)


def test_words_that_keep_coming_may_take_hours() -> None:
    async def story() -> None:
        async with Silence(600, 120) as silence:
            await asyncio.sleep(599)
            for _ in range(100):
                silence.heard()
                await asyncio.sleep(119)
        silence = Silence(600, 120)
        with pytest.raises(TimeoutError):
            async with silence:
                silence.heard()
                await asyncio.sleep(128)
        assert silence.spoken

    run(story)


def test_the_whole_may_be_limited_too() -> None:
    async def story() -> None:
        silence = Silence(600, 120, total=50)
        with pytest.raises(TimeoutError):
            async with silence:
                for _ in range(100):
                    silence.heard()
                    await asyncio.sleep(1)
        assert silence.over

    run(story)


def test_waiting_for_a_turn_is_not_silence() -> None:
    """Three seats share one slot, each answers within 40 s, and each is given 45: as an engine does it."""

    async def story() -> None:
        async def slow(_: Request) -> str:
            await asyncio.sleep(40)
            return "here"

        generate = limiting(scripted(slow), Limiter(Limits(in_flight=1)))

        async def seat() -> str:
            async with Silence(45):
                return (await generate(ASK)).text

        assert await asyncio.gather(*(seat() for _ in range(3))) == ["here"] * 3

    run(story)


def test_what_is_heard_below_reaches_the_clocks_around_it() -> None:
    async def story() -> None:
        async with Silence(45) as engine:
            async with Silence(600, 120) as provider:
                await asyncio.sleep(44)
                provider.heard()
                await asyncio.sleep(100)
            assert engine.spoken

    run(story)


async def test_a_model_that_is_too_slow_is_asked_twice_at_the_most() -> None:
    async def no_wait(_: float) -> None: ...

    model = ScriptedModel([CallTimeout("slow"), ServerFault("down"), CallTimeout("slow"), "never asked"])
    with pytest.raises(CallTimeout):
        await retrying(model, sleep=no_wait)(ASK)
    assert len(model.requests) == 3
