"""What the pages show, and that each is there as data too."""

from __future__ import annotations

import io
import json
import re
import zipfile
from contextlib import closing
from html import unescape
from pathlib import Path
from typing import Any, BinaryIO, cast

import pytest

from assay.demo import import_played
from assay.registry import story_of
from assay.report.html import story_html
from assay.web.calls import CallLog, place_words
from assay.web.forms import forms
from assay.web.rendering import VIEWS
from llm_runtime.events import (
    CallFinished,
    CallRetried,
    CallsQueued,
    CallStarted,
    EndpointPaused,
    RunFinished,
    RunResumed,
    RunStarted,
)
from llm_runtime.messages import CallLabel, Message, Reply, Request, Usage
from llm_runtime.store import open_store
from llm_runtime.store.transfer import import_run


async def test_the_list_is_searched_filtered_and_paged(web: Any, council: Any) -> None:
    for number in range(42):
        log = web.store.start(
            RunStarted(
                run_id=f"r-{number:02}", protocol="weather", title=f"Rain {number}", task={}, settings={}, seed=1
            )
        )
        log.emit(RunFinished(state="failed" if number % 2 else "finished"))
        log.close()
    await council(query="Which <b>database</b>?")
    first = await web.json("/runs")
    assert len(first["runs"]) == 40 and first["runs"][0]["title"] == "Which <b>database</b>?"
    second = await web.json(first["next"])
    ids = [run["run_id"] for page in (first, second) for run in page["runs"]]
    assert len(ids) == len(set(ids)) == 43 and second["next"] is None
    assert [run["title"] for run in (await web.json("/runs?search=rain+31"))["runs"]] == ["Rain 31"]
    assert {run["state"] for run in (await web.json("/runs?state=failed"))["runs"]} == {"failed"}
    assert [run["protocol"] for run in (await web.json("/runs?protocol=crucible"))["runs"]] == ["crucible.council"]
    _, page = await web.get("/runs?search=database")
    assert "Which &lt;b&gt;database&lt;/b&gt;?" in page and "Rain" not in page
    code, _ = await web.get("/runs?state=dancing")
    assert code == 400


async def rains(web: Any, many: int) -> None:
    for number in range(many):
        run = RunStarted(
            run_id=f"r-{number:02}", protocol="weather", title=f"Rain {number}", task={}, settings={}, seed=1
        )
        log = web.store.start(run)
        log.emit(RunFinished(state="finished"))
        log.close()


async def test_a_list_says_how_many_there_are_and_does_something_to_those_that_are_chosen(
    web: Any, tmp_path: Path
) -> None:
    await rains(web, 45)
    _, page = await web.get("/runs")
    assert '<small id="many">45</small>' in page and "all 45" in page
    _, page = await web.get("/runs?search=rain+4")
    assert '<small id="many">6 found</small>' in page, "Rain 4 and 40 to 44"
    assert (await web.post("/runs/chosen", do="tag", run="r-01 r-02", add="wet cold"))[0] == 200
    assert (await web.post("/runs/chosen", do="tag", all="1", search="rain 4", add="four", remove="cold"))[1] == {
        "done": 6
    }
    assert [run["run_id"] for run in (await web.json("/runs?tag=cold"))["runs"]] == ["r-02", "r-01"]
    assert len((await web.json("/runs?tag=four"))["runs"]) == 6
    async with web.client.post(f"{web.url}/runs/chosen", data={"do": "export", "run": ["r-01", "r-02"]}) as answer:
        held = zipfile.ZipFile(io.BytesIO(await answer.read()))
    assert held.namelist() == ["r-01.jsonl", "r-02.jsonl"]
    with held.open("r-01.jsonl") as file, closing(open_store(tmp_path / "other.db")) as other:
        assert import_run(other, cast("BinaryIO", file)) == "r-01", "each is what `assay runs import` takes"
    under_way = web.store.start(
        RunStarted(run_id="w-1", protocol="weather", title="Rain?", task={}, settings={}, seed=1)
    )
    code, answer = await web.post("/runs/chosen", do="delete", run="r-01 w-1")
    assert code == 409 and "under way" in answer["message"], "what is carried out stays"
    assert await web.post("/runs/chosen", do="delete", all="1", tag="four") == (200, {"done": 6})
    assert [run["title"] for run in (await web.json("/runs?search=rain+4"))["runs"]] == []
    assert len((await web.json("/runs?protocol=weather"))["runs"]) == 39
    under_way.close()
    for wrong in ({"do": "tag"}, {"do": "burn", "run": "r-02"}, {"do": "tag", "run": "r-02", "add": "not a:tag"}):
        assert (await web.post("/runs/chosen", **wrong))[0] == 400
    assert (await web.post("/runs/chosen", do="tag", run="nobody", add="x"))[0] == 404


async def test_a_list_says_what_came_of_a_run_and_who_was_asked(web: Any, council: Any) -> None:
    await council(synthesis="**SQLite**, until it hurts.\n\nThen something else.")
    stopped = RunStarted(run_id="w-1", protocol="weather", title="Rain", task={}, settings={}, seed=1)
    log = web.store.start(stopped)
    log.emit(RunFinished(state="failed", message="the sky fell"))
    log.close()
    runs = {run["run_id"]: run for run in (await web.json("/runs"))["runs"]}
    assert runs["council-1"]["outcome"].startswith("SQLite, until it hurts.")
    assert runs["council-1"]["models"] == "scripted:vendor/model-1" and runs["w-1"]["outcome"] == "the sky fell"
    for path in ("/", "/runs"):
        _, page = await web.get(path)
        assert "until it hurts" in page and "vendor/model-1" in page and "the sky fell" in page


async def test_a_run_page_shows_the_story_of_the_report(web: Any, council: Any) -> None:
    run_id = await council()
    _, page = await web.get(f"/runs/{run_id}")
    report = story_html(story_of(web.store.records(run_id)))
    for text in ("synthesis answers.", "Loop 1", "Configuration", "Be" if "Be" in report else "You run databases."):
        assert text in page and text in report
    data = await web.json(f"/runs/{run_id}")
    assert data["run"]["state"] == "finished" and data["result"]["final_response"] == "synthesis answers."
    assert data["story"]["sections"][0]["heading"] == "Answer"


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        ("trial", "mockllm/written-by-hand passed 2 of 4"),
        ("build", "built · 11 of 11 claims hold"),
        ("debate", "Is a refusal that nobody decided a wrong in itself"),
    ],
)
async def test_every_recorded_log_has_an_outcome(web: Any, name: str, outcome: str) -> None:
    import_played(web.store, name, "played")
    (run,) = (await web.json("/runs"))["runs"]
    assert run["outcome"].startswith(outcome)


async def test_a_question_on_the_first_page_goes_on_to_its_form(web: Any) -> None:
    _, page = await web.get("/")
    assert 'formaction="/new"' in page and 'name="text"' in page
    _, form = await web.get("/new?text=Which+%3Cb%3E%3F")
    assert "Which &lt;b&gt;?</textarea>" in form


async def test_forms_speak_of_lines_and_not_of_options_of_the_command_line(web: Any) -> None:
    for run in forms():
        _, page = await web.get(f"/new?kind={run.name}")
        assert "(repeatable)" not in page and not re.search(r"[ >]--[a-z]", page), run.name
        labels = re.findall(r"<label><span>([^<]+)</span>", page)
        assert len(labels) == len(set(labels)), run.name


async def test_a_seat_has_one_colour_on_every_page(web: Any) -> None:
    _, told = await web.post("/play", name="council", speed=0)
    await web.state(told["run_id"], "finished")
    _, story = await web.get(f"/runs/{told['run_id']}")
    _, timeline = await web.get(f"/runs/{told['run_id']}/timeline")
    voices = dict(re.findall(r'class="voice (\w+)"[^>]*><summary><span class="name" dir="auto">([^<]+)', story))
    assert len(voices) >= 4
    for colour, name in voices.items():
        tip = re.search(rf'<rect[^>]*class="{colour}[ "][^>]*><title>{name},', timeline, re.IGNORECASE)
        assert tip, (colour, name)


async def test_the_timeline_adds_up(web: Any, council: Any) -> None:
    run_id = await council()
    data = await web.json(f"/runs/{run_id}/timeline")
    phases = data["phases"]
    for key in ("calls", "input_tokens", "output_tokens", "cost"):
        assert sum(phase[key] for phase in phases) == data["total"][key]
        assert all(sum(seat[key] for seat in phase["seats"]) == phase[key] for phase in phases)
    assert data["total"]["cost"] == 1_500 * data["total"]["calls"]
    _, page = await web.get(f"/runs/{run_id}/timeline")
    assert "100 → 10 tokens" in page and "$0.0015" in page


async def test_a_call_opens_to_its_request_and_reply_as_plain_text(web: Any, council: Any) -> None:
    run_id = await council(form="prose", position="<script>alert(1)</script> **bold**")
    tree = await web.json(f"/runs/{run_id}/timeline")
    position = next(phase for phase in tree["phases"] if phase["phase"] == "position")
    seq = position["seats"][0]["entries"][0]["seq"]
    _, fragment = await web.get(f"/runs/{run_id}/calls/{seq}", **{"X-Fragment": "1"})
    assert not fragment.startswith("<!doctype")
    assert "&lt;script&gt;alert(1)&lt;/script&gt; **bold**" in fragment and "You know databases." in fragment
    assert f"/runs/{run_id}/fork?at={seq - 1}" in fragment
    data = await web.json(f"/runs/{run_id}/calls/{seq}")
    assert data["outcome"]["reply"]["text"] == "<script>alert(1)</script> **bold**"
    code, _ = await web.get(f"/runs/{run_id}/calls/1")
    assert code == 404


async def test_events_are_listed_opened_and_given_as_data(web: Any, council: Any) -> None:
    run_id = await council()
    _, page = await web.get(f"/runs/{run_id}/events")
    assert "crucible.triaged" in page and "triage" in page
    data = await web.json(f"/runs/{run_id}/events?after=2")
    assert data["events"][0]["seq"] == 3 and data["length"] == web.store.summary(run_id).events
    one = await web.json(f"/runs/{run_id}/events/1")
    assert one["event"]["type"] == "run.started"
    code, _ = await web.get(f"/runs/{run_id}/events/9999")
    assert code == 404


async def test_exports_are_the_reports_own(web: Any, council: Any) -> None:
    run_id = await council()
    assert (await web.get(f"/runs/{run_id}/export.html"))[1] == story_html(story_of(web.store.records(run_id)))
    assert (await web.get(f"/runs/{run_id}/export.md"))[1].startswith("# Which database?")
    assert json.loads((await web.get(f"/runs/{run_id}/export.json"))[1])["result"]["final_response"]
    lines = (await web.get(f"/runs/{run_id}/export.jsonl"))[1].splitlines()
    assert json.loads(lines[0])["format"] == "assay-run" and len(lines) == web.store.summary(run_id).events + 1
    assert (await web.get(f"/runs/{run_id}/export.exe"))[0] == 404


async def test_two_runs_stand_side_by_side_with_what_is_new_marked(web: Any, council: Any) -> None:
    await council("a", synthesis="Take SQLite. It is enough.")
    await council("b", synthesis="Take PostgreSQL instead, because of the concurrent writers. It is enough.")
    _, page = await web.get("/compare?run=a&run=b")
    assert "Take SQLite." in page and "<ins>" in page and "It is enough." in page
    assert [side["run"]["run_id"] for side in (await web.json("/compare?run=a&run=b"))["runs"]] == ["a", "b"]
    _, page = await web.get("/compare?run=a")
    assert "/compare?run=a&amp;run=b" in page


async def test_a_protocol_that_nobody_taught_the_pages_is_shown_all_the_same(web: Any) -> None:
    log = web.store.start(RunStarted(run_id="w-1", protocol="weather", title="Rain?", task={}, settings={}, seed=1))
    asked = CallStarted.of(
        Request("m", (Message("user", "Rain?"),), CallLabel("weather", "forecast", "1:frog")), {}, lambda *_: False
    )
    log.emit(asked)
    async for _, _, data in web.stream("w-1"):
        if data["event"]["type"] == "call.started":
            break
    code, page = await web.get("/runs/w-1")
    assert code == 200 and "forecast · frog" in page and "1 call in flight" in page
    log.emit(CallFinished.of(asked, Reply("Yes.", "m", "p", Usage(3, 1), cost=5)))
    log.emit(RunFinished(state="finished", result={"rain": True}))
    log.close()
    assert (await web.json("/runs/w-1"))["result"] == {"rain": True}


async def test_what_waits_for_a_provider_says_so_until_it_answers(web: Any) -> None:
    label = CallLabel("weather", "forecast", "1:frog")
    log = web.store.start(RunStarted(run_id="w-1", protocol="weather", title="Rain?", task={}, settings={}, seed=1))
    asked = CallStarted.of(Request("m", (Message("user", "Rain?"),), label), {}, lambda *_: False)
    log.emit(asked)
    log.emit(CallRetried(label=str(label), attempt=1, error="RateLimited", message="slow down", wait_ms=4_000))
    log.emit(EndpointPaused(provider="acme", seconds=30, message="down"))
    log.emit(CallsQueued(provider="ollama", waiting=2))
    _, page = await web.get("/runs/w-1")
    assert "waits for the provider (rate limited), asks again <span data-until=" in page
    assert "acme failed again and again" in page and "2 calls waiting for a place at ollama" in page
    log.emit(CallsQueued(provider="ollama", waiting=0))
    log.emit(CallFinished.of(asked, Reply("Yes.", "m", "p", Usage(3, 1), cost=5)))
    _, page = await web.get("/runs/w-1")
    assert "waits for the provider" not in page and "for a place at" not in page
    log.close()


@pytest.mark.parametrize("path", ["/runs/UPPER", "/runs/..%2f..%2fetc", "/runs/none", "/nothing", "/static/app.py"])
async def test_what_is_not_there_is_said_so(web: Any, path: str) -> None:
    code, _ = await web.get(path)
    assert code == 404


async def test_the_description_names_every_address(web: Any) -> None:
    described = await web.json("/openapi.json")
    served = {(route.path, method.lower()) for route in web.client and _routes() for method in route.methods - {"HEAD"}}
    assert served == {(path, method) for path, methods in described["paths"].items() for method in methods}
    assert all(operation["summary"] for methods in described["paths"].values() for operation in methods.values())


def _routes() -> Any:
    from assay.web.routes import routes

    return routes()


def test_a_pause_between_two_sittings_takes_no_time_on_the_timeline() -> None:
    log = CallLog()
    start = RunStarted(run_id="r", protocol="weather", title="", task={}, settings={}, seed=1)
    asked = CallStarted.of(Request("m", (Message("user", "?"),), CallLabel("weather", "ask")), {}, lambda *_: False)
    log.apply(1, start, 1_000)
    log.apply(2, asked, 2_000)
    log.apply(3, RunResumed(finished_calls=0), 90_002_000)
    log.apply(4, asked, 90_002_500)
    log.apply(5, CallFinished.of(asked, Reply("!", "m", "p", Usage(1, 1))), 90_003_000)
    assert log.since_start(90_003_000) == 2_000
    found = log.at(4)
    assert found is not None and found[0].state == "done" and found[1].ended == 5


def test_a_call_is_named_by_its_place() -> None:
    assert place_words(CallLabel("crucible", "red_team", "3:red_team", 2)) == "red team · red team · 2"
    assert place_words(CallLabel("crucible", "triage")) == "triage"


async def test_a_view_that_cannot_be_drawn_says_so_and_ends_nothing_else(
    web: Any, council: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = await council()

    def broken(*_: object) -> Any:
        raise KeyError("a secret of the inside")

    monkeypatch.setitem(VIEWS, "story", broken)
    async with web.client.get(f"{web.url}/runs/{run_id}") as answer:
        code, page = answer.status, await answer.text()
        assert "content-security-policy" in answer.headers
    assert code == 500 and "a fault of Assay's own" in unescape(page) and "secret" not in page
    assert (await web.get(f"/runs/{run_id}/timeline"))[0] == 200
    kinds = [kind async for kind, _, _ in web.stream(run_id, "view=story", last=0)]
    assert kinds[-1] == "end" and "page" not in kinds


@pytest.mark.parametrize("calls", [1, 200])
async def test_in_a_list_a_resumed_run_took_what_it_worked(web: Any, monkeypatch: Any, calls: int) -> None:
    now = [1_000_000]
    monkeypatch.setattr(web.store, "_clock", lambda: now[0])
    log = web.store.start(RunStarted(run_id="w-1", protocol="weather", title="Rain?", task={}, settings={}, seed=1))
    for number in range(calls):
        asked = CallStarted.of(
            Request("m", (Message("user", f"{number}"),), CallLabel("weather", "f", "frog")), {}, lambda *_: False
        )
        log.emit(asked)
        log.emit(CallFinished.of(asked, Reply("Yes.", "m", "p", Usage(3, 1), cost=5)))
        now[0] += 0 if number else 7_000
        if number == calls // 2:
            log.emit(RunFinished(state="stopped"))
            now[0] += 7 * 3_600_000
            log.emit(RunResumed(finished_calls=number))
    now[0] += 2_000
    log.emit(RunFinished(state="finished"))
    log.close()
    for path in ("/runs", "/"):
        _, page = await web.get(path)
        assert " · 9.0 s</span>" in page and "7 h" not in page, path
    assert (await web.json("/runs"))["runs"][0]["standing"]["milliseconds"] == 9_000
