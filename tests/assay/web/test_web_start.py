"""The start page and its recordings, played through the real engines; the debate API from start to end."""

from __future__ import annotations

import asyncio
import html
import json
from pathlib import Path
from typing import Any

import pytest
from tests.extent import PATIENCE

from assay.demo import demos
from llm_runtime.errors import MissingExtraError
from llm_runtime.events import UnknownEvent


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


async def play(web: Any, name: str) -> str:
    code, told = await web.post("/play", name=name, speed=0)
    assert code == 201, told
    return told["run_id"]


async def test_whoever_comes_in_meets_the_five_protocols(web: Any) -> None:
    _, page = await web.get("/")
    for protocol, _ in demos().values():
        assert protocol.title in page and html.escape(protocol.about, quote=False) in page
    assert page.count('action="/play"') == 5 and "Latest runs" not in page
    told = await web.json("/")
    assert [each["name"] for each in told["recordings"]] == ["council", "circle", "trial", "build", "debate"]
    assert all(each["run"] is None for each in told["recordings"])


@pytest.mark.parametrize("name", ["council", "circle"])
async def test_a_recording_is_played_marked_and_then_offered_to_be_looked_at(web: Any, name: str) -> None:
    run_id = await play(web, name)
    await web.state(run_id, "finished")
    assert web.store.summary(run_id).origin == "demo"
    _, page = await web.get("/")
    assert f'href="/runs/{run_id}"' in page and "Look at the recording" in page and "Play it again" in page
    _, runs = await web.get("/runs")
    assert '<span class="tag">recording</span>' in runs


async def test_a_recording_that_was_stopped_is_played_again_and_not_resumed(web: Any) -> None:
    code, told = await web.post("/play", name="council", speed=1)
    run_id = told["run_id"]
    code, _ = await web.post(f"/runs/{run_id}/stop")
    assert code == 200
    code, told = await web.post(f"/runs/{run_id}/resume")
    assert code == 400 and "play it again" in told["message"]
    _, page = await web.get(f"/runs/{run_id}")
    assert "Resume" not in page


async def test_what_is_no_recording_is_refused(web: Any) -> None:
    for said in ({"name": "opera"}, {}, {"name": "council", "speed": "fast"}, {"name": "council", "speed": -1}):
        code, _ = await web.post("/play", **said)
        assert code == 400


async def test_a_whole_debate_is_streamed_to_its_end_and_mapped(web: Any) -> None:
    pytest.importorskip("bm25s", reason="the extra debate is not installed")
    async with web.client.post(web.url + "/api/dialogue", json={"recording": True, "speed": 0}) as answer:
        assert answer.status == 200
        run_id = answer.headers["x-run-id"]
        async with asyncio.timeout(PATIENCE):
            text = await answer.text()
    told = [json.loads(line.removeprefix("data: ")) for line in text.split("\n") if line.startswith("data: ")]
    kinds = [event["type"] for event in told]
    assert kinds[0] == "debate_start" and kinds[-1] == "debate_complete"
    assert {"round_start", "message_posted", "crux_room_spawning", "crux_message", "crux_card_posted"} <= set(kinds)
    assert web.store.summary(run_id).state == "finished"
    found = await web.json(f"/api/dialogue/{run_id}/map")
    cards = [event["card"]["id"] for event in told if event["type"] == "crux_card_posted"]
    assert [card["id"] for card in found["cards"]] == cards and found["state"] == "finished"
    assert found["shifts"] == told[-1]["shifts"]


async def test_only_a_debate_has_a_map(web: Any, council: Any) -> None:
    code, _ = await web.get(f"/api/dialogue/{await council()}/map")
    assert code == 400


@pytest.mark.box
async def test_a_trial_is_played_and_told_without_its_logs(web: Any, tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai", reason="the extra eval is not installed")
    from ai_crucible.bundle import verify_bundle
    from ai_crucible.puzzle_box import CannotIsolate, probe

    try:
        await probe()
    except CannotIsolate as why:
        pytest.skip(f"no box here: {why}")
    run_id = await play(web, "trial")
    await web.state(run_id, "finished")
    story = (await web.json(f"/runs/{run_id}"))["story"]
    headings = [section["heading"] for section in story["sections"]]
    assert headings[0] == "How reliable" and "Attestation" in headings
    assert story["facts"][0] == {"label": "Attempts", "value": "6"}
    async with web.client.get(f"{web.url}/runs/{run_id}/file") as answer:
        (tmp_path / "trial.assay").write_bytes(await answer.read())
    proved = verify_bundle(tmp_path / "trial.assay")
    assert proved.ok and [trial.trial for trial in proved.trials] == [run_id]


@pytest.mark.parametrize("name", ["trial", "build", "debate"])
async def test_who_lacks_an_optional_part_looks_at_what_was_played_beforehand(
    web: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = MissingExtraError("this recording", "some-extra")
    for module in ("demo", "web.beginning"):
        monkeypatch.setattr(f"assay.{module}.missing", lambda asked: fault if asked == name else None)
    _, page = await web.get("/")
    assert "It was played beforehand" in page and "[some-extra]" in page
    run_id = await play(web, name)
    summary = web.store.summary(run_id)
    assert (summary.state, summary.origin) == ("finished", "demo")
    story = (await web.json(f"/runs/{run_id}"))["story"]
    assert len(story["sections"]) > 5 and story["tone"] == ("warning" if name == "debate" else "good")
    records = next(s for s in story["sections"] if s["heading"] in ("Provenance", "How it was measured"))
    assert "Not understood" not in json.dumps(records)
    unknown = {event.name for _, event in web.store.events(run_id) if isinstance(event, UnknownEvent)}
    assert not unknown, "make recordings plays it anew"


async def test_a_trial_is_shown_as_it_was_elsewhere_where_there_is_no_box(
    web: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("inspect_ai", reason="the extra eval is not installed")
    from ai_crucible.puzzle_box import CannotIsolate

    def need_box(root: str = "") -> None:
        raise CannotIsolate("no bubblewrap on this machine")

    monkeypatch.setattr("assay.protocols.ai_crucible.demo.need_box", need_box)
    run_id = await play(web, "trial")
    assert web.store.summary(run_id).state == "finished"
    status, said = await web.get(f"/runs/{run_id}/file", accept="application/json")
    assert status == 400 and "no trial" in said, "its logs are where it was made"


async def test_a_trial_is_refused_in_words_before_anything_is_stored(web: Any) -> None:
    pytest.importorskip("inspect_ai", reason="the extra eval is not installed")
    for said, why in (
        ({"puzzles": "all"}, "no model"),
        ({"puzzles": "no-such-puzzle", "model": "ollama/x"}, "no puzzle"),
        ({"puzzles": "all", "model": "ollama/x", "k": "many"}, "k: Input should be a valid integer"),
        ({"puzzles": "all", "model": "ollama/x", "deadline": 5}, "deadline: a trial is not bounded so; use budget"),
    ):
        code, told = await web.post("/runs", protocol="trial", **said)
        assert code in (400, 500) and why in told["message"], told
    assert not (await web.json("/runs"))["runs"]
