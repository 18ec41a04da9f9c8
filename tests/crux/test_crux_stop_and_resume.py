"""Budgets, deadlines, broken answers and kills: what there is stays, and nothing finished is asked again."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.extent import kills

from crux import Debate, DebateConfig, Persona
from crux.events import DebateEnded
from llm_runtime.errors import AuthenticationFailed, BudgetExceeded, DeadlineExceeded, ReplayMismatch, ServerFault
from llm_runtime.events import CallFinished, CallStarted, Event
from llm_runtime.messages import Generate, Reply, Request
from llm_runtime.replay import Recording
from llm_runtime.testing import ScriptedModel, faulty
from llm_runtime.wrappers.recording import recording
from llm_runtime.wrappers.replaying import replaying

Hold = Callable[..., Awaitable[Any]]


def broken(faults: dict[int | str, Any]) -> Callable[[Generate], Generate]:
    """A wrapper that answers some calls otherwise."""
    return lambda model: faulty(model, faults)


def nothing_recorded(model: Generate) -> Generate:
    """A replay of an empty recording."""
    return replaying(Recording())


@pytest.mark.parametrize("error", [BudgetExceeded("the cap is reached"), DeadlineExceeded("the time is up")])
async def test_a_stop_ends_the_debate_with_what_there_is(authors: list[Persona], hold: Hold, error: Exception) -> None:
    held = await hold(authors, wrap=broken({45: error}))

    assert held.result.state == "stopped"
    assert str(error) in held.result.stopped_because
    assert held.debate.stopped_by is error
    assert held.types()[-1] == "error" and "debate_complete" not in held.types()
    assert len(held.result.cards) >= 1
    assert held.heard(DebateEnded)[-1].state == "stopped"


async def test_answers_beside_the_one_that_broke_the_budget_are_kept(authors: list[Persona], hold: Hold) -> None:
    held = await hold(authors, wrap=broken({2: BudgetExceeded("the cap is reached")}))

    assert [message.persona for message in held.result.messages] == ["Ilario Fennimast"]
    assert held.result.spend.calls == 2


async def test_a_refused_key_fails_the_debate_at_once(authors: list[Persona], hold: Hold) -> None:
    held = await hold(authors, wrap=broken({"take": AuthenticationFailed("no such key")}))
    assert held.result.state == "failed" and held.types()[-1] == "error"


async def test_an_agent_that_answers_no_json_is_retried_once_then_skipped(
    authors: list[Persona], hold: Hold, scripts: Any
) -> None:
    def mute(request: Request) -> str:
        return "I would rather not." if scripts.letter(request) == "B" else str(scripts.speak(request))

    held = await hold(authors, aspects=2, script={"take": mute, "clash": mute, "room_exchange": mute})

    assert held.result.state == "finished"
    asked = [r.label.attempt for r in held.model.asked("take") if scripts.letter(r) == "B" and r.label.round == 1]
    assert asked == [1, 2]
    errors = [event.error for event in held.of("error")]
    assert errors and all("Ilario Fennimast" in error and "\n" not in error for error in errors)


async def test_broken_json_is_repaired(authors: list[Persona], hold: Hold, scripts: Any) -> None:
    def broken(request: Request) -> str:
        return f"Here it is:\n```json\n{scripts.speak(request)[:-1]},}}\n```"

    held = await hold(authors, aspects=2, script={"opening": broken})
    assert len([m for m in held.result.messages if m.phase == "opening"]) == 2


async def test_nobody_answering_fails_the_debate_in_one_line(authors: list[Persona], hold: Hold) -> None:
    held = await hold(authors, script={"opening": "no"})
    assert held.result.state == "failed" and "nobody gave a usable opening" in held.result.stopped_because


@pytest.mark.parametrize("phase", ["detection", "summary", "exit_check", "convergence_judge", "card"])
async def test_a_judge_that_fails_costs_its_step_and_no_more(authors: list[Persona], hold: Hold, phase: str) -> None:
    for fault in ("nonsense", ServerFault("503")):
        held = await hold(authors, aspects=2, script={phase: fault})
        assert held.result.state == "finished"
        assert len(held.result.cards) == (0 if phase in ("detection", "card") else 2)
        if phase in ("detection", "card", "summary"):
            assert held.of("error")


async def test_a_replay_that_does_not_match_is_no_turn_to_skip(authors: list[Persona], hold: Hold) -> None:
    with pytest.raises(ReplayMismatch):
        await hold(authors, wrap=nothing_recorded)


class Killed(Exception):
    """The process ends here."""


async def run(personas: list[Persona], generate: Generate, stop_at: int = 0) -> tuple[list[Any], str]:
    """All wire events and the result; ended from outside after ``stop_at`` events, where that is not 0."""
    config = DebateConfig(aspects=2, exchange_turns=(2, 4), flip_test=True, flip_samples=1)
    debate = Debate("Should software decide who waits?", personas, generate=generate, seed=3, clock=lambda: 5,
                    config=config)  # fmt: skip
    events: list[Any] = []
    stream = debate.events()
    async for event in stream:
        events.append(event)
        if len(events) == stop_at:
            await stream.aclose()
            return events, ""
    return events, debate.result().model_dump_json()


@pytest.fixture(scope="module")
def whole(authors: list[Persona], scripts: Any) -> tuple[list[Any], str]:
    """The debate of :func:`run` when nothing disturbs it."""
    return asyncio.run(run(authors, ScriptedModel(scripts.panel)))


@pytest.mark.counted
async def test_killed_after_any_event_and_resumed_it_repeats_no_finished_call(
    authors: list[Persona], scripts: Any, whole: tuple[list[Any], str]
) -> None:
    undisturbed_events, undisturbed = whole

    for stop_at in kills(range(1, len(undisturbed_events), 3)):
        log: list[Event] = []
        first = ScriptedModel(scripts.panel)
        await run(authors, recording(first, log.append), stop_at)

        old = Recording.from_events(log)
        again = ScriptedModel(scripts.panel)
        resumed: list[Event] = []
        live = recording(replaying(old, again), resumed.append, replayed=old.has_reply)
        events, result = await run(authors, live)

        assert (events, result) == (undisturbed_events, undisturbed)
        finished = {(e.digest, e.occurrence) for e in log if isinstance(e, CallFinished)}
        asked_anew = {(e.digest, e.occurrence) for e in resumed if isinstance(e, CallStarted) and not e.replayed}
        assert not finished & asked_anew
        assert len(again.requests) + len(finished) == len([e for e in resumed if isinstance(e, CallStarted)])


async def test_a_debate_stopped_by_its_budget_goes_on_where_it_stopped(
    authors: list[Persona], scripts: Any, whole: tuple[list[Any], str]
) -> None:
    _, undisturbed = whole
    log: list[Event] = []
    short = faulty(ScriptedModel(scripts.panel), {30: BudgetExceeded("the cap is reached")})
    await run(authors, recording(short, log.append))

    old = Recording.from_events(log)
    again = ScriptedModel(scripts.panel)
    _, result = await run(authors, replaying(old, again))

    assert result == undisturbed
    assert len(again.requests) == _total(undisturbed) - len(old) + _failed(log)


def _total(result: str) -> int:
    from crux import DebateResult

    return DebateResult.model_validate_json(result).spend.calls


def _failed(log: list[Event]) -> int:
    return sum(event.type == "call.failed" for event in log)


@pytest.mark.parametrize("seed", range(4))
async def test_nothing_depends_on_who_answers_first(
    authors: list[Persona], scripts: Any, whole: tuple[list[Any], str], seed: int
) -> None:
    order = random.Random(seed)
    model = ScriptedModel(scripts.panel)

    async def late(request: Request) -> Reply:
        for _ in range(order.randrange(5)):
            await asyncio.sleep(0)
        return await model(request)

    assert await run(authors, late) == whole


async def test_cancelling_a_debate_cancels_its_calls(authors: list[Persona], scripts: Any) -> None:
    cancelled: list[str] = []
    reached = asyncio.Event()
    model = ScriptedModel(scripts.panel)

    async def hang(request: Request) -> Reply:
        if request.label.phase != "opening":
            return await model(request)
        reached.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(request.label.seat)
            raise
        raise AssertionError("unreachable")

    task = asyncio.create_task(run(authors, hang))
    await reached.wait()
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sorted(cancelled) == ["1:maud-tarrowby", "2:ilario-fennimast"]
