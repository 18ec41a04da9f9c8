"""What ends a run, what does not, and that nothing depends on who answered first."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from tests.extent import PATIENCE

from crucible import Crucible, EngineConfig
from crucible.events import SeatAnswered, SeatFailed, Synthesised, Triaged
from llm_runtime.errors import (
    AuthenticationFailed,
    BudgetExceeded,
    CallError,
    DeadlineExceeded,
    LlmRuntimeError,
    ReplayMismatch,
    ServerFault,
    StoreUnwritable,
)
from llm_runtime.events import Event
from llm_runtime.messages import Generate, Reply, Request
from llm_runtime.testing import ScriptedModel, faulty

Make = Callable[..., Any]

ENDS = [BudgetExceeded("spent"), DeadlineExceeded("late"), ReplayMismatch("another run"), StoreUnwritable("full")]


@pytest.mark.parametrize("end", ENDS, ids=lambda end: type(end).__name__)
@pytest.mark.parametrize(
    ("grammar", "place"),
    [
        ("parallel", "crucible/triage//0/1"),
        ("parallel", "crucible/position/2:pragmatist/2/1"),
        ("parallel", "crucible/critique/1:red_team/1/1"),
        ("sequential", "crucible/draft/3:creative/1/1"),
        ("debate", "crucible/defence/0:domain_expert/2/1"),
        ("parallel", "crucible/delta//2/1"),
        ("parallel", "crucible/synthesis//0/1"),
    ],
)
async def test_an_end_of_the_run_is_no_failed_seat_and_comes_through_as_itself(
    end: LlmRuntimeError, grammar: str, place: str, council: Make
) -> None:
    events: list[Event] = []
    model = faulty(council(loop_grammar=grammar), {place: end})
    engine = Crucible(EngineConfig(openrouter_api_key="unused", generate=model), emit=events.append, seed=7)

    with pytest.raises(type(end)) as caught:
        await engine.run("A question")

    assert caught.value is end
    assert not [event for event in events if isinstance(event, SeatFailed | Synthesised)]


async def test_an_end_cancels_the_calls_that_are_still_under_way(council: Make) -> None:
    cancelled: list[str] = []
    waiting = asyncio.Event()
    model: ScriptedModel = council()

    async def generate(request: Request) -> Reply:
        if request.label.seat == "0:domain_expert":
            await waiting.wait()
            raise StoreUnwritable("the disk is full")
        if request.label.phase == "position":
            waiting.set()
            try:
                await asyncio.get_running_loop().create_future()
            except asyncio.CancelledError:
                cancelled.append(request.label.seat)
                raise
        return await model(request)

    with pytest.raises(StoreUnwritable):
        await Crucible(EngineConfig(openrouter_api_key="unused", generate=generate)).run("A question")

    assert sorted(cancelled) == ["2:pragmatist", "3:creative"]


async def test_a_budget_that_is_used_up_waits_for_the_calls_that_are_paid_for(council: Make) -> None:
    answered: list[str] = []
    refused = asyncio.Event()
    model: ScriptedModel = council()

    async def generate(request: Request) -> Reply:
        if request.label.seat == "0:domain_expert":
            refused.set()
            raise BudgetExceeded("spent")
        if request.label.phase == "position":
            await refused.wait()
            answered.append(request.label.seat)
        return await model(request)

    with pytest.raises(BudgetExceeded):
        await Crucible(EngineConfig(openrouter_api_key="unused", generate=generate)).run("A question")

    assert sorted(answered) == ["2:pragmatist", "3:creative"]


async def test_cancelling_a_run_cancels_its_calls(council: Make) -> None:
    sitting = asyncio.Event()
    model: ScriptedModel = council()

    async def generate(request: Request) -> Reply:
        if request.label.phase == "position":
            sitting.set()
            await asyncio.get_running_loop().create_future()
        return await model(request)

    run = asyncio.create_task(Crucible(EngineConfig(openrouter_api_key="unused", generate=generate)).run("Why?"))
    await sitting.wait()
    run.cancel()

    with pytest.raises(asyncio.CancelledError):
        await run


@pytest.mark.parametrize("phase", ["triage", "synthesis"])
async def test_a_failed_triage_or_synthesis_is_the_runs_failure(phase: str, council: Make, ask: Make) -> None:
    with pytest.raises(ServerFault):
        await ask(faulty(council(), {phase: ServerFault("down")}))


async def test_a_failed_short_circuit_is_the_runs_failure(council: Make, ask: Make) -> None:
    model = council({"answer": AuthenticationFailed("bad key")}, complexity="simple", short_circuit_allowed=True)

    with pytest.raises(AuthenticationFailed):
        await ask(model)


async def test_the_first_seat_in_order_gives_the_error_not_the_first_in_time(council: Make) -> None:
    model: ScriptedModel = council()
    late = asyncio.Event()

    async def generate(request: Request) -> Reply:
        if request.label.seat == "0:domain_expert":
            try:
                await late.wait()
            except asyncio.CancelledError:
                raise DeadlineExceeded("first seat") from None
        if request.label.phase == "position":
            raise StoreUnwritable("second seat")
        return await model(request)

    with pytest.raises(DeadlineExceeded, match="first seat"):
        await Crucible(EngineConfig(openrouter_api_key="unused", generate=generate)).run("A question")


@pytest.mark.parametrize(
    "query",
    ["", " \n\t", "x" * (2**20 + 1), "é" * (2**19 + 1), "lone \ud800"],
    ids=["empty", "blank", "1 MiB", "1 MiB of UTF-8", "surrogate"],
)
async def test_a_query_that_cannot_be_asked_is_refused_before_any_call(query: str, council: Make, ask: Make) -> None:
    model: ScriptedModel = council()

    with pytest.raises(LlmRuntimeError, match="the query") as caught:
        await ask(model, query)

    assert model.requests == []
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)


async def test_a_query_of_one_mebibyte_is_asked(council: Make, ask: Make) -> None:
    assert (await ask(council(loop_count=2), "x" * 2**20)).result.final_response == "The answer."


class Shuffled:
    """Holds calls back and lets them go in the given order whenever a whole group waits."""

    def __init__(self, model: Generate, reverse: bool) -> None:
        self._model = model
        self._reverse = reverse
        self._waiting: list[tuple[str, asyncio.Future[None]]] = []

    async def __call__(self, request: Request) -> Reply:
        gate = asyncio.get_running_loop().create_future()
        self._waiting.append((str(request.label), gate))
        asyncio.get_running_loop().call_soon(self._release)
        await gate
        if self._reverse:
            await asyncio.sleep(0)
        return await self._model(request)

    def _release(self) -> None:
        for _, gate in sorted(self._waiting, reverse=self._reverse):
            gate.set_result(None)
        self._waiting.clear()


@pytest.mark.parametrize("grammar", ["parallel", "sequential", "debate"])
async def test_events_result_and_requests_do_not_depend_on_the_order_of_answers(
    grammar: str, council: Make, seats: Make
) -> None:
    async def run(reverse: bool) -> tuple[Any, list[Event], list[dict[str, Any]]]:
        model: ScriptedModel = council(
            loop_grammar=grammar, council=seats("creative", "pragmatist", "red_team", "pragmatist", "domain_expert")
        )
        down: dict[int | str, Any] = {
            f"crucible/{phase}/1:pragmatist/2/1": CallError("down") for phase in ("position", "draft")
        }
        events: list[Event] = []
        config = EngineConfig(
            openrouter_api_key="unused", generate=Shuffled(faulty(model, down), reverse), observability=True
        )
        result = await Crucible(config, emit=events.append, seed=7).run("A question", {"a": 1})
        requests = sorted((request.to_dict() for request in model.requests), key=lambda r: str(r["label"]))
        return result, events, requests

    assert await run(reverse=False) == await run(reverse=True)


async def test_the_seats_of_a_loop_are_asked_at_the_same_time(council: Make) -> None:
    model: ScriptedModel = council(loop_count=2)
    together = asyncio.Barrier(3)

    async def generate(request: Request) -> Reply:
        if request.label.phase == "position":
            await together.wait()
        return await model(request)

    async with asyncio.timeout(PATIENCE):
        result = await Crucible(EngineConfig(openrouter_api_key="unused", generate=generate)).run("A question")

    assert result.loops_executed == 2


async def test_one_engine_serves_many_runs_at_once(council: Make, configuration: Make) -> None:
    def synthesis(request: Request) -> str:
        (question,) = (line for line in request.messages[0].content.splitlines() if line.startswith("question "))
        return f"answer to {question}"

    model: ScriptedModel = council({"triage": [configuration()] * 16, "synthesis": synthesis})
    events: list[Event] = []
    engine = Crucible(EngineConfig(openrouter_api_key="unused", generate=model), emit=events.append)

    results = await asyncio.gather(*(engine.run(f"question {number}") for number in range(16)))

    assert [result.final_response for result in results] == [f"answer to question {n}" for n in range(16)]
    assert sum(isinstance(event, Triaged) for event in events) == 16
    assert len({request.session_id for request in model.requests}) == 16


async def test_seat_events_tell_what_was_said_and_by_whom(council: Make, ask: Make) -> None:
    run = await ask(council(loop_grammar="debate", loop_count=2))

    told = [(event.loop, event.seat, event.role, event.kind) for event in run.of(SeatAnswered) if event.loop == 1]
    assert told == [
        (1, "0:domain_expert", "domain_expert", "position"),
        (1, "2:pragmatist", "pragmatist", "position"),
        (1, "3:creative", "creative", "position"),
        (1, "0:domain_expert", "domain_expert", "defence"),
        (1, "2:pragmatist", "pragmatist", "defence"),
        (1, "3:creative", "creative", "defence"),
    ]
