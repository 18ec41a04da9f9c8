"""A council over real HTTP, against the loopback server: what is sent, what is closed, and every kind of fault."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import SecretStr
from tests.extent import PATIENCE

from crucible import Crucible, EngineConfig, ExecutorResult
from crucible.events import SeatFailed, Synthesised
from crucible.executor.council import CouncilFailed
from llm_runtime.events import CallRetried, Event, silent
from llm_runtime.gateway import Gateway
from llm_runtime.keys import Key
from llm_runtime.settings import ConfigFile, Settings
from llm_runtime.testing import Fault, LoopbackServer, Received
from llm_runtime.wrappers.retrying import Backoff

Make = Callable[..., Any]

KEY = "sk-or-canary-0123456789"


@pytest.fixture
def answers(configuration: Make, seats: Make) -> Callable[[Received], str]:
    """A whole council's answers, told apart by what was asked."""
    triage = configuration(
        loop_count=2, council=seats("domain_expert", "red_team", "pragmatist=some/model", "creative")
    )

    def answer(received: Received) -> str:
        first = received.messages[0].content
        if first.startswith("You are the triage agent"):
            return triage
        if first.startswith("You are synthesizing"):
            return "The answer."
        return "An opinion."

    return answer


async def test_the_engine_speaks_to_openrouter_with_key_session_and_fallbacks(answers: Make) -> None:
    async with LoopbackServer(answers) as server:
        engine = Crucible(EngineConfig(openrouter_api_key=KEY, base_url=f"{server.url}/v1"))

        result = await engine.run("Which database?")

    assert result.final_response == "The answer."
    assert len(server.requests) == 10
    assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {KEY}"}
    assert len({request.payload["session_id"] for request in server.requests}) == 1
    hinted = [request for request in server.requests if request.payload.get("models")]
    triage = ["anthropic/claude-sonnet-4-20250514", "openrouter/auto"]
    assert [request.payload["models"] for request in hinted] == [triage, *[["some/model", "openrouter/auto"]] * 2]


def test_cr17_plain_use_leaves_nothing_open_across_event_loops(answers: Make) -> None:
    """A session that outlived its loop would warn, and warnings fail this test."""

    async def serve(use: Callable[[Crucible], Any]) -> Any:
        async with LoopbackServer(answers) as server:
            return await use(Crucible(EngineConfig(openrouter_api_key=KEY, base_url=f"{server.url}/v1")))

    async def two_at_once(engine: Crucible) -> list[ExecutorResult]:
        return list(await asyncio.gather(engine.run("First?"), engine.run("Second?")))

    async def kept_open(engine: Crucible) -> list[ExecutorResult]:
        async with engine:
            results = [await engine.run("First?"), await engine.run("Second?")]
        return [*results, await engine.run("After closing?")]

    async def in_another_thread(engine: Crucible) -> list[ExecutorResult]:
        return [await asyncio.to_thread(engine.run_sync, "First?"), await engine.run("Second?")]

    for use in (two_at_once, kept_open, in_another_thread):
        results = asyncio.run(serve(use))
        assert {result.final_response for result in results} == {"The answer."}


def gateway_to(server: LoopbackServer, emit: Callable[[Event], None], seconds: float = PATIENCE) -> Gateway:
    """The real stack, hasty: two attempts and no waiting between them; ``seconds`` for an answer."""
    settings = Settings(
        keys={"openrouter": Key(SecretStr(KEY), "test")},
        base_urls={"openrouter": f"{server.url}/v1"},
        config=ConfigFile(call_timeout=seconds),
    )
    return Gateway(settings, emit=emit, backoff=Backoff(attempts=2, base=0, cap=0, patience=0))


#: The runtime's own tests hold these: a refused connection, and Retry-After, which the limiter waits out.
ELSEWHERE = {Fault.CONNECTION_REFUSED, Fault.STATUS_429_SECONDS, Fault.STATUS_429_DATE}
#: The one that only a clock ends, and clocks are for machines that are not busy.
TIMED = Fault.ONE_BYTE_A_SECOND
#: The limiter waits these out too, a second each time.
LONG = {TIMED, Fault.STATUS_429, Fault.RATE_LIMIT_IN_REPLY}


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(fault, id=fault.name, marks=[pytest.mark.long] if fault in LONG else [])
        for fault in Fault
        if fault not in ELSEWHERE
    ],
)
async def test_a_council_outlives_each_kind_of_fault_at_one_seat(fault: Fault, answers: Make) -> None:
    def creative(received: Received) -> Fault | None:
        return fault if received.messages[0].content.startswith("You look for another way") else None

    events: list[Event] = []
    async with (
        LoopbackServer(answers, faults=creative) as server,
        gateway_to(server, events.append, 2 if fault is TIMED else PATIENCE) as gate,
    ):
        config = EngineConfig(openrouter_api_key=KEY, generate=gate.generate, observability=True)
        result = await Crucible(config, emit=events.append).run("Which database?")

    failed = [(event.loop, event.seat) for event in events if isinstance(event, SeatFailed)]
    assert failed == ([] if fault is Fault.ECHOED_KEY_IN_REPLY else [(1, "3:creative"), (2, "3:creative")])
    assert result.final_response == "The answer."
    assert isinstance(events[-1], Synthesised)
    told = f"{result!r} {[event.payload() for event in events]}"
    assert KEY not in told


@pytest.mark.parametrize("fault", [Fault.STATUS_500, Fault.ERROR_IN_REPLY, Fault.EMPTY_CHOICES, Fault.RESET_MID_BODY])
async def test_a_passing_fault_costs_a_retry_and_no_seat(fault: Fault, answers: Make) -> None:
    events: list[Event] = []
    async with LoopbackServer(answers, faults={3: fault}) as server, gateway_to(server, events.append) as gate:
        config = EngineConfig(openrouter_api_key=KEY, generate=gate.generate)
        await Crucible(config, emit=events.append).run("Which database?")

    assert sum(isinstance(event, CallRetried) for event in events) == 1
    assert not [event for event in events if isinstance(event, SeatFailed)]


async def test_a_server_that_goes_away_ends_the_run_in_one_line(answers: Make) -> None:
    def after_loop_one(received: Received) -> Fault | None:
        return Fault.NO_ANSWER if received.number > 5 else None

    async with LoopbackServer(answers, faults=after_loop_one) as server, gateway_to(server, silent) as gate:
        with pytest.raises(CouncilFailed, match="loop 2 needs 2 deliberating seats") as caught:
            await Crucible(EngineConfig(openrouter_api_key=KEY, generate=gate.generate)).run("Which database?")

    assert caught.value.exit_code == 4
    assert "\n" not in str(caught.value) and KEY not in str(caught.value)
