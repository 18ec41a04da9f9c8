"""What a run was started with holds wherever it is gone on with: the same at every door, from every other door."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.launch import first_event, result_of
from llm_runtime.store import RunStore
from llm_runtime.testing import LoopbackServer

DOORS = ("library", "command line", "web")
STARTS = (*DOORS, "batch")
"""The jobs of a batch are runs that every other door goes on with."""
CALLS = 9
Doors = Any


#: A bound on answers never cuts triage: what is told there the whole run hangs on.
TRIAGE = 4096


def bounds(server: LoopbackServer) -> list[Any]:
    return [request.payload.get("max_tokens") for request in server.requests]


def efforts(server: LoopbackServer) -> set[str]:
    return {request.payload["reasoning"]["effort"] for request in server.requests}


def door(doors: Doors, name: str) -> Any:
    if name not in doors:
        pytest.skip(f"the door {name} needs an optional part that is not installed")
    return doors[name]


def ways(firsts: tuple[str, ...]) -> list[Any]:
    """Each way from one door to another; `make test` goes in at each of them, and on at each, once."""
    return [
        pytest.param(first, then, marks=() if then == DOORS[(at + 1) % len(DOORS)] else pytest.mark.long)
        for at, first in enumerate(firsts)
        for then in DOORS
    ]


@pytest.mark.parametrize(("first", "then"), ways(STARTS))
async def test_what_a_run_was_capped_to_holds_at_every_other_door(
    doors: Doors, server: LoopbackServer, runs: RunStore, first: str, then: str
) -> None:
    start, resume = door(doors, first), door(doors, then)
    run_id = await start.start(query="Which database?", max_calls=2, max_tokens=777, effort="low")
    assert runs.summary(run_id).state == "stopped" and bounds(server) == [TRIAGE, 777]

    await resume.resume(run_id)
    assert runs.summary(run_id).state == "stopped" and len(server.requests) == 2

    await resume.resume(run_id, max_calls=20)
    assert runs.summary(run_id).state == "finished"
    assert bounds(server) == [TRIAGE] + [777] * (CALLS - 1) and efforts(server) == {"low"}
    asked = [json.dumps(request.payload, sort_keys=True) for request in server.requests]
    assert len(set(asked)) == CALLS, "nothing is asked twice"


@pytest.mark.parametrize(("first", "then"), ways(DOORS))
async def test_what_a_resume_sets_holds_for_every_later_one_and_for_forks(
    doors: Doors, server: LoopbackServer, runs: RunStore, first: str, then: str
) -> None:
    start, later = door(doors, first), door(doors, then)
    run_id = await start.start(query="Which database?", max_calls=2)
    await start.resume(run_id, max_calls=4, max_tokens=777)
    assert len(server.requests) == 4 and bounds(server)[2:] == [777, 777]

    await later.resume(run_id)
    assert len(server.requests) == 4, "the cap of the resume before holds"

    child = await later.fork(run_id, 1)
    assert bounds(server)[4:] == [TRIAGE, 777, 777, 777], (
        "a fork keeps the bounds in force: four calls, of so many tokens"
    )
    assert runs.summary(child).state == "stopped"
    await later.resume(child, max_calls=20)
    result = result_of(event for _, event in runs.events(child))
    assert result is not None and result["final_response"] == "**Use SQLite** until it hurts."


@pytest.mark.parametrize("first", STARTS)
async def test_a_panel_sits_at_every_door_whatever_the_configuration_names(
    doors: Doors, server: LoopbackServer, tmp_path: Path, first: str
) -> None:
    start = door(doors, first)
    (tmp_path / "config").mkdir(exist_ok=True)
    (tmp_path / "config/config.toml").write_text('model = "acme/usual"\n[seats]\npragmatist = "acme/seat"\n')
    await start.start(query="Which database?", models=["acme/one", "acme/two"], max_calls=4)
    assert [request.model for request in server.requests] == ["acme/one", "acme/one", "acme/seat", "acme/one"]


async def test_the_same_seed_and_task_open_the_same_run_at_every_door(doors: Doors, runs: RunStore) -> None:
    opened: dict[str, Any] = {}
    for name in set(DOORS) & set(doors):
        run_id = await doors[name].start(query="Which database?", seed=7, max_calls=0, delta="similarity")
        event = first_event(event for _, event in runs.events(run_id))
        opened[name] = event.model_dump(exclude={"run_id"})
    first = opened.pop("library")
    assert all(other == first for other in opened.values())
    assert first["protocol"] == "crucible.council" and first["settings"]["terms"] == {"max_calls": 0}


@pytest.mark.parametrize(
    "fields",
    [
        {"max_calls": -1},
        {"max_tokens": 0},
        {"effort": "little"},
        {"deadline": 0},
        {"budget": -0.5},
        {"delta": "dance"},
        {"seats": {"red_tem": "terminal:"}},
    ],
    ids=str,
)
async def test_a_refusal_is_the_same_sentence_at_every_door(
    doors: Doors, server: LoopbackServer, runs: RunStore, fields: dict[str, Any]
) -> None:
    from .conftest import Refused

    sentences: set[str] = set()
    (name,) = fields
    flag = "--seat" if name == "seats" else f"--{name.replace('_', '-')}"
    for door_name in set(DOORS) & set(doors):
        with pytest.raises(Refused) as refusal:
            await doors[door_name].start(query="Which database?", **fields)
        sentences.add(str(refusal.value).replace(flag, name))
    assert len(sentences) == 1, sentences
    assert server.requests == [] and runs.runs() == []


@pytest.mark.parametrize("name", DOORS)
async def test_a_finished_run_is_not_resumed_but_pointed_to_a_fork(doors: Doors, runs: RunStore, name: str) -> None:
    from .conftest import Refused

    run_id = await door(doors, name).start(query="Which database?")
    assert runs.summary(run_id).state == "finished"
    with pytest.raises(Refused, match="is finished; to go another way from it"):
        await doors[name].resume(run_id)


async def test_who_sits_in_a_run_by_its_log_is_looked_at_before_it_goes_on(doors: Doors, runs: RunStore) -> None:
    from .conftest import Refused

    run_id = await doors["library"].start(query="Which database?", seats={"red_team": "terminal:"}, max_calls=2)
    length = runs.summary(run_id).events
    with pytest.raises(Refused, match="terminal: needs the keyboard"):
        await doors["command line"].resume(run_id, max_calls=20)
    assert runs.summary(run_id).events == length
