"""The debate API: who can sit on a panel, and a debate as the specification's own event stream."""

from __future__ import annotations

import json
from typing import Any

import pytest

from crux.events import Posted
from llm_runtime.events import RunFinished, RunStarted

PAIR = ["maud-tarrowby", "ilario-fennimast"]


async def dialogue(web: Any, run_id: str, **headers: str) -> list[tuple[int, Any]]:
    async with web.client.get(f"{web.url}/api/dialogue/{run_id}", headers=headers) as answer:
        lines = (await answer.text()).split("\n\n")
    told = [dict(part.split(": ", 1) for part in line.split("\n")) for line in lines if "data: " in line]
    assert all(set(fields) == {"id", "data"} for fields in told)
    return [(int(fields["id"]), json.loads(fields["data"])) for fields in told]


async def test_a_debate_is_streamed_under_the_names_of_its_specification(web: Any) -> None:
    log = web.store.start(RunStarted(run_id="d-1", protocol="crux", title="?", task={}, settings={}, seed=1))
    wire: list[dict[str, Any]] = [
        {"type": "clash_start", "personas": PAIR, "aspect": "a1"},
        {"type": "crux_room_complete", "roomId": "r1"},
        {"type": "debate_complete", "shifts": []},
    ]
    for event in wire:
        log.emit(Posted.model_validate({"event": event}))
    log.emit(RunFinished(state="stopped"))
    log.close()
    told = await dialogue(web, "d-1")
    assert [event for _, event in told] == wire
    assert [number for number, _ in told] == [2, 3, 4]
    assert await dialogue(web, "d-1", **{"Last-Event-ID": "3"}) == told[2:]


async def test_the_library_lists_the_authors_that_come_with_assay(web: Any) -> None:
    known = (await web.json("/api/personas"))["personas"]
    assert set(PAIR) <= {persona["id"] for persona in known}
    assert all(persona["name"] for persona in known)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"personaIds": PAIR}, "topic is missing"),
        ({"topic": "Should it?"}, "two personas or more"),
        ({"topic": "Should it?", "personaIds": PAIR[:1]}, "two personas"),
        ({"topic": "Should it?", "personaIds": [PAIR[0], PAIR[0]]}, "distinct"),
        ({"topic": "Should it?", "personaIds": ["nobody", PAIR[0]]}, "no persona called nobody"),
        ({"topic": "Should it?", "personaIds": PAIR, "aspects": "9"}, "aspects: Input should be"),
    ],
)
async def test_what_is_no_debate_is_refused_as_data(web: Any, said: dict[str, Any], why: str) -> None:
    pytest.importorskip("bm25s", reason="the extra debate is not installed")
    async with web.client.post(web.url + "/api/dialogue", json=said) as answer:
        assert answer.status == 400
        assert why in (await answer.json())["message"]


async def test_a_debate_is_started_and_streamed_until_it_is_stopped(web: Any) -> None:
    pytest.importorskip("bm25s", reason="the extra debate is not installed")
    said = {"topic": "Should software decide who waits?", "personaIds": PAIR, "model": "terminal:"}
    async with web.client.post(web.url + "/api/dialogue", json=said) as answer:
        assert answer.status == 200 and answer.headers["content-type"].startswith("text/event-stream")
        run_id = answer.headers["x-run-id"]
        opened = (await web.json(f"/runs/{run_id}/events/1"))["event"]
        assert len(opened["settings"]["options"]["panel"]) == 2 and opened["task"]["topic"] == said["topic"]
        code, _ = await web.post(f"/runs/{run_id}/stop")
        assert code == 200
        await answer.text()
    assert web.store.summary(run_id).state == "stopped"
