"""A debate's transcript is its events applied: the engine's own, and whoever reads the log."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from copy import deepcopy
from typing import Any, TypeAlias

import pytest

from crux import Persona
from crux.transcript import DebateTranscript
from llm_runtime.errors import BudgetExceeded, StoreDamaged
from llm_runtime.events import Event, parse_event
from llm_runtime.messages import Generate, Reply, Request

Hold: TypeAlias = Callable[..., Awaitable[Any]]


def from_log(events: list[Event]) -> list[Event]:
    """The events as a reader of their log has them."""
    return [parse_event(json.loads(event.canonical())) for event in events]


def folded(events: list[Event], onto: DebateTranscript | None = None) -> DebateTranscript:
    transcript = onto or DebateTranscript(seed=7)
    for event in events:
        transcript.apply(event)
    return transcript


def poor(generate: Generate) -> Generate:
    """A model that runs out of money in the closing."""

    async def ask(request: Request) -> Reply:
        if request.label.phase == "closing":
            raise BudgetExceeded("nothing is left")
        return await generate(request)

    return ask


@pytest.mark.parametrize(
    "config",
    [{}, {"flip_test": True, "baselines": True}, {"wrap": poor}],
    ids=lambda config: " ".join(config) or "usual",
)
async def test_what_the_log_tells_is_what_the_engine_ended_with(
    authors: list[Persona], hold: Hold, config: dict[str, Any]
) -> None:
    held = await hold(authors, aspects=2, **config)
    told = from_log(held.house)

    assert told == held.house
    assert folded(told).result() == held.debate.result()
    assert list(folded(told).cards[0].personas) == [persona.name for persona in authors]


async def test_a_transcript_can_be_folded_to_any_event_and_on(authors: list[Persona], hold: Hold) -> None:
    told = from_log((await hold(authors, aspects=2)).house)
    whole, begun = folded(told), DebateTranscript(seed=7)

    for cut, event in enumerate(told):
        begun.apply(event)
        if cut % 20 == 0:
            assert folded(told[cut + 1 :], deepcopy(begun)) == whole
    assert begun == whole


async def test_an_event_whose_data_are_none_of_a_debates_is_refused(authors: list[Persona], hold: Hold) -> None:
    payload = (await hold(authors, aspects=2)).house[0].payload()
    payload["event"]["type"] = "applause"
    with pytest.raises(StoreDamaged):
        parse_event(payload)


def test_an_older_log_says_of_a_turn_without_a_stance_that_it_is_empty() -> None:
    turn = {"message": "m1", "persona": "Ada", "beliefs": [], "chunks": [], "flags": [], "regenerated": False}
    for none in ({}, None):
        assert folded([parse_event({"type": "crux.turn_taken", "stance": none, **turn})]).stances == []
