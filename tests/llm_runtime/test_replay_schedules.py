"""Whatever order the answers arrive in, the log says the same and a replay gives the same."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TypeAlias

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.extent import examples

from llm_runtime.errors import ServerFault
from llm_runtime.events import CallFailed, CallFinished, CallStarted, Event
from llm_runtime.messages import CallLabel, Generate, Message, Reply, Request, Usage, request_digest
from llm_runtime.providers.scripted import scripted
from llm_runtime.replay import Recording
from llm_runtime.wrappers.recording import recording
from llm_runtime.wrappers.replaying import replaying

Outcome: TypeAlias = "tuple[str, str]"
SEATS, ROUNDS = 5, 3


def requests_of(round: int) -> list[Request]:
    """A round of a council: every seat is asked its own question, and the last two ask the same."""
    return [
        Request("a/b", (Message("user", f"round {round}, seat {min(seat, SEATS - 2)}"),), label)
        for seat in range(SEATS)
        for label in [CallLabel("p", "position", str(min(seat, SEATS - 2)), round)]
    ]


def answer(request: Request, number: int = 0) -> str | ServerFault:
    """What each seat says; one of them never manages to."""
    text = request.messages[0].content
    return ServerFault("down", model="a/b", status=500) if "seat 1" in text else f"{text}, answer {number}"


class Arriving:
    """A model whose answers arrive in a given order: it holds all calls of a round and lets them go one by one."""

    def __init__(self, order: list[int], *, numbered: bool = True) -> None:
        self._order = order
        self._numbered = numbered
        self._gates: list[asyncio.Event] = []

    async def __call__(self, request: Request) -> Reply:
        number, gate = len(self._gates), asyncio.Event()
        self._gates.append(gate)
        if len(self._gates) == SEATS:
            self._gates[self._order[0]].set()
        await gate.wait()
        place = self._order.index(number)
        if place + 1 < SEATS:
            self._gates[self._order[place + 1]].set()
        else:
            self._gates = []
        reply = answer(request, number if self._numbered else 0)
        if isinstance(reply, ServerFault):
            raise reply
        return Reply(reply, "a/b", "x", Usage(1, 1))


async def council(generate: Generate) -> list[Outcome]:
    """All seats at once, round after round."""

    async def one(request: Request) -> Outcome:
        try:
            return "answer", (await generate(request)).text
        except ServerFault as error:
            return "fault", str(error)

    outcomes: list[Outcome] = []
    for round in range(1, ROUNDS + 1):
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(request)) for request in requests_of(round)]
        outcomes += [task.result() for task in tasks]
    return outcomes


def keyed(events: list[Event]) -> dict[tuple[str, str, int], Event]:
    return {
        (event.type, event.digest, event.occurrence): event
        for event in events
        if isinstance(event, CallStarted | CallFinished | CallFailed)
    }


@settings(max_examples=examples(50))
@given(order=st.permutations(range(SEATS)))
def test_the_order_of_arrival_changes_neither_log_nor_replay(order: list[int]) -> None:
    in_order: list[Event] = []
    expected = asyncio.run(council(recording(Arriving(list(range(SEATS))), in_order.append)))

    shuffled: list[Event] = []
    outcomes = asyncio.run(council(recording(Arriving(order), shuffled.append)))
    assert outcomes == expected
    assert keyed(shuffled) == keyed(in_order)
    assert len(shuffled) == len(keyed(shuffled)) == 2 * SEATS * ROUNDS

    assert asyncio.run(council(replaying(Recording.from_events(shuffled)))) == expected


@settings(max_examples=examples(50))
@given(order=st.permutations(range(SEATS)), cut=st.integers(0, 2 * SEATS * ROUNDS))
def test_a_run_cut_anywhere_resumes_to_the_same_outcomes(order: list[int], cut: int) -> None:
    whole: list[Event] = []
    expected = asyncio.run(council(recording(Arriving(order, numbered=False), whole.append)))
    old = Recording.from_events(whole, until=cut)
    asked: list[str] = []

    def live(request: Request) -> str | ServerFault:
        asked.append(request_digest(request.to_dict()))
        return answer(request)

    resumed: list[Event] = []
    ask = recording(replaying(old, scripted(live)), resumed.append, replayed=old.has_reply)
    assert asyncio.run(council(ask)) == expected

    answered = [event.digest for event in whole[:cut] if isinstance(event, CallFinished)]
    everything = [event.digest for event in whole if isinstance(event, CallStarted)]
    assert Counter(asked) == Counter(everything) - Counter(answered)
    assert asyncio.run(council(replaying(Recording.from_events([*whole[:cut], *resumed])))) == expected
