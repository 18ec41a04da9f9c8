"""Runs that pages start, stop, resume and fork, and people who take a seat in them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from tests.crucible.records import objection
from tests.extent import PATIENCE

from assay.launch import Followers, Launcher
from assay.protocols.fire_circle.task import Options
from assay.registry import prepared, read_run
from assay.terms import Terms
from assay.web.forms import read_form, seed_of
from assay.web.questions import Questions
from llm_runtime.errors import ConfigurationError, ServerFault
from llm_runtime.events import EndpointPaused, Event, RunFinished
from llm_runtime.keys import Key
from llm_runtime.messages import CallLabel, Message, Request
from llm_runtime.settings import ConfigFile, Settings
from llm_runtime.store import RunStore
from llm_runtime.testing import LoopbackServer, Received
from llm_runtime.wrappers.accounts import Caps

from .conftest import council_answer, served

DOUBTS = ("I doubt that one disk is enough for them.", "Who restarts it at night? I doubt that they know.")


def filled(ask: dict[str, Any], doubt: str = DOUBTS[0]) -> str:
    return objection(ask["messages"][-1][1], doubt)


@pytest.fixture
async def web(store: RunStore, models: LoopbackServer) -> AsyncIterator[Any]:
    """The application with a provider that it can reach."""
    keys = {"openrouter": Key(SecretStr("sk-canary-0123456789"), "given")}
    settings = Settings(keys, {"openrouter": f"{models.url}/v1"})
    async with served(store, lambda: settings) as running:
        yield running
    store.close()


async def test_a_run_is_started_and_arrives(web: Any) -> None:
    code, told = await web.post("/runs", query="Which database?", budget=1)
    assert code == 201
    types = [data["event"]["type"] async for kind, _, data in web.stream(told["run_id"]) if kind == "event"]
    assert types[0] == "run.started" and types[-1] == "run.finished"
    assert (await web.json(told["page"]))["result"]["final_response"].startswith("**Use SQLite**")
    assert "sk-canary" not in (await web.get(f"/runs/{told['run_id']}/export.jsonl"))[1]


async def test_two_runs_of_one_server_keep_the_limit_of_a_provider_together(store: RunStore) -> None:
    running = most = 0

    async def answer(received: Received) -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _ in range(20):
            await asyncio.sleep(0)  # so that others could come meanwhile
        running -= 1
        return council_answer(received)

    async with LoopbackServer(answer) as models:
        limits = ConfigFile.model_validate({"limits": {"openrouter": {"in_flight": 2}}})
        keys = {"openrouter": Key(SecretStr("sk-canary-0123456789"), "given")}
        settings = Settings(keys, {"openrouter": f"{models.url}/v1"}, config=limits)
        async with served(store, lambda: settings) as web:
            told = [(await web.post("/runs", query=query))[1]["run_id"] for query in ("Which database?", "Which disk?")]
            for run_id in told:
                await web.state(run_id, "finished")
    assert most == 2
    store.close()


async def test_a_run_that_has_ended_hears_of_no_pause_that_another_brings_about(
    store: RunStore, models: LoopbackServer
) -> None:
    keys = {"openrouter": Key(SecretStr("sk-canary-0123456789"), "given")}
    launcher, ended = Launcher(store, lambda: Settings(keys, {"openrouter": f"{models.url}/v1"})), asyncio.Event()

    def heard(event: Event) -> None:
        if isinstance(event, RunFinished):
            ended.set()

    run = read_run("crucible.council", {"query": "Which database?"})
    running = await launcher.start(run, Terms(), followers=Followers(listeners=[heard]))
    await ended.wait()  # its log is being closed
    [outage] = launcher.shared.outages.values()
    for _ in range(5):
        outage.end(ServerFault("down", status=503))
    assert (await running.outcome()).state == "finished"
    events = [event for _, event in store.events(running.run_id)]
    assert isinstance(events[-1], RunFinished) and not any(isinstance(event, EndpointPaused) for event in events)
    store.close()


async def test_a_form_of_a_page_leads_to_the_run_and_a_wrong_one_back_to_itself(web: Any) -> None:
    async with web.client.post(
        web.url + "/runs", data={"query": "Which\r\ndatabase?", "seats": ""}, allow_redirects=False
    ) as answer:
        assert answer.status == 303
        run_id = answer.headers["location"].removeprefix("/runs/")
    await web.state(run_id, "finished")
    assert (await web.json(f"/runs/{run_id}/events/1"))["event"]["task"] == {"query": "Which\ndatabase?"}
    async with web.client.post(web.url + "/runs", data={"query": "Which?", "budget": "much"}) as answer:
        page = await answer.text()
    assert answer.status == 422 and "budget: Input should be a valid number" in page and ">Which?</textarea>" in page


async def test_no_model_is_said_in_one_line_and_nothing_is_stored(store: RunStore) -> None:
    async with served(store, lambda: Settings(environment={"ASSAY_LOCAL_SERVERS": ""})) as bare:
        code, said = await bare.post("/runs", query="Which database?")
        assert code == 400 and said["error"] == "NoModelError"
        assert (await bare.json("/runs"))["runs"] == []
    store.close()


async def test_a_person_takes_a_seat_and_the_run_goes_on_with_the_answer(web: Any) -> None:
    _, told = await web.post("/runs", query="Which database?", seats={"red_team": "terminal:"})
    run_id = told["run_id"]
    answered = 0
    async for kind, _, data in web.stream(run_id, "view=story"):
        if kind == "page" and "Your turn" in data["parts"].get("asks", ""):
            (ask,) = (await web.json(f"/runs/{run_id}/asks"))["asks"]
            assert ask["title"].startswith("critique") and ask["messages"]
            answered += 1
            code, _ = await web.post(
                f"/runs/{run_id}/answers", name=ask["name"], text=filled(ask, DOUBTS[answered - 1])
            )
            assert code == 200
            code, _ = await web.post(f"/runs/{run_id}/answers", name=ask["name"], text=filled(ask))
            assert code == 400
    assert answered == 2
    _, page = await web.get(f"/runs/{run_id}")
    assert all(doubt in page for doubt in DOUBTS)
    reply = [
        data["event"]["reply"]
        async for _, _, data in web.stream(run_id)
        if "event" in data and data["event"]["type"] == "call.finished" and "doubt" in data["event"]["reply"]["text"]
    ]
    assert {(r["provider"], r["cost"]) for r in reply} == {("terminal", 0)}


async def test_a_turn_is_shown_at_once_however_much_the_page_was_sent_before(
    web: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.web.rendering._PARTS_A_S", 1e-9)
    _, told = await web.post("/runs", query="Which database?", seats={"red_team": "terminal:"})
    run_id, answered = told["run_id"], set[str]()
    async with asyncio.timeout(PATIENCE):
        async for kind, _, data in web.stream(run_id, "view=story"):
            if kind == "page" and "Your turn" in data["parts"].get("asks", ""):
                (ask,) = (await web.json(f"/runs/{run_id}/asks"))["asks"]
                answered.add(ask["name"])
                await web.post(f"/runs/{run_id}/answers", name=ask["name"], text=filled(ask, DOUBTS[len(answered) - 1]))
    assert len(answered) == 2 and (await web.json(f"/runs/{run_id}"))["run"]["state"] == "finished"


async def test_a_question_that_has_its_answer_is_not_shown_again() -> None:
    questions = Questions(lambda _: None)
    request = Request("terminal:", (Message("user", "Which?"),), CallLabel("weather", "ask"))
    asking = asyncio.ensure_future(questions.person("w-1")(request))
    await asyncio.sleep(0)
    (question,) = questions.of_run("w-1")
    questions.answer("w-1", question.name, "That one.")
    assert questions.of_run("w-1") == []
    assert (await asking).text == "That one."


async def test_a_stopped_run_offers_to_go_on_while_its_log_is_still_being_signed(
    web: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, told = await web.post("/runs", query="Which?", model="terminal:")
    run_id = told["run_id"]
    await web.post(f"/runs/{run_id}/stop")
    monkeypatch.setattr(web.site.runs, "owns", lambda _: True)
    _, page = await web.get(f"/runs/{run_id}")
    assert f"/runs/{run_id}/resume" in page and f"/runs/{run_id}/stop" not in page


async def test_a_question_that_came_after_the_page_was_drawn_is_not_missed(web: Any) -> None:
    _, told = await web.post("/runs", query="Which?", model="terminal:")
    run_id = told["run_id"]
    async for kind, _, data in web.stream(run_id, "view=story"):
        if kind == "page" and "Your turn" in data["parts"].get("asks", ""):
            length = data["seq"]
            break
    stale = f"view=story&after={length}&drawn={'0' * 32}"
    async for kind, _, data in web.stream(run_id, stale):
        if kind == "page":
            assert "Your turn" in data["parts"]["asks"]
            break


async def test_a_blank_answer_is_none(web: Any) -> None:
    _, told = await web.post("/runs", query="Which?", model="terminal:")
    run_id = told["run_id"]
    async for kind, _, data in web.stream(run_id, "view=story"):
        if kind == "page" and "Your turn" in data["parts"].get("asks", ""):
            break
    code, said = await web.post(f"/runs/{run_id}/answers", name="q1", text=" \n")
    assert code == 400 and "blank" in said["message"]
    assert len((await web.json(f"/runs/{run_id}/asks"))["asks"]) == 1


async def test_a_run_is_stopped_and_resumed_without_asking_again(web: Any, models: LoopbackServer) -> None:
    _, told = await web.post("/runs", query="Which database?", seats={"red_team": "terminal:"})
    run_id = told["run_id"]
    async for kind, _, data in web.stream(run_id, "view=story"):
        if kind == "page" and "Your turn" in data["parts"].get("asks", ""):
            break
    before = len(models.requests)
    code, said = await web.post(f"/runs/{run_id}/stop")
    assert (code, said["state"]) == (200, "stopped")
    code, said = await web.post(f"/runs/{run_id}/stop")
    assert code == 400 and "not carried out by this server" in said["message"]
    code, _ = await web.post(f"/runs/{run_id}/resume", seats={"red_team": "openrouter:loopback-model"})
    assert code == 201
    await web.state(run_id, "finished")
    assert len(models.requests) == 9 and before == 3
    code, said = await web.post(f"/runs/{run_id}/resume")
    assert code == 400 and "fork" in said["message"]


async def test_a_fork_shares_the_answers_up_to_its_event(web: Any, models: LoopbackServer) -> None:
    _, told = await web.post("/runs", query="Which database?")
    await web.state(told["run_id"], "finished")
    asked = len(models.requests)
    tree = await web.json(f"/runs/{told['run_id']}/timeline")
    at = next(p for p in tree["phases"] if p["phase"] == "critique")["seats"][0]["entries"][0]["seq"] - 1
    code, fork = await web.post(f"/runs/{told['run_id']}/fork", at=at)
    assert code == 201 and fork["run_id"] != told["run_id"]
    await web.state(fork["run_id"], "finished")
    assert len(models.requests) == asked + 6
    opened = (await web.json(f"/runs/{fork['run_id']}/events/1"))["event"]
    assert (opened["parent"], opened["forked_at"]) == (told["run_id"], at)
    code, said = await web.post(f"/runs/{told['run_id']}/fork", at=99_999)
    assert code == 400 and "no event" in said["message"]


@pytest.mark.hastened
async def test_a_letter_in_a_mailbox_is_answered_from_the_page(web: Any, tmp_path: Path) -> None:
    box = tmp_path / "letters"
    _, told = await web.post("/runs", query="Which database?", seats={"red_team": f"mailbox:{box}"})
    run_id = told["run_id"]
    stray = {"request": {"label": {"phase": "other"}, "messages": []}}
    box.mkdir(exist_ok=True)
    (box / "0900-stray.request.json").write_text(json.dumps(stray))
    (box / "0901-link.request.json").symlink_to(tmp_path / "elsewhere")
    answered: list[str] = []
    async for kind, _, data in web.stream(run_id, "view=story"):
        if kind == "page" and "Your turn" in data["parts"].get("asks", ""):
            (ask,) = (await web.json(f"/runs/{run_id}/asks"))["asks"]
            answered.append(ask["name"])
            code, _ = await web.post(
                f"/runs/{run_id}/answers", name=ask["name"], text=filled(ask, DOUBTS[len(answered) - 1])
            )
            assert code == 200
    assert len(answered) == 2 and all(name.startswith("letter-") for name in answered)
    assert web.store.summary(run_id).state == "finished"
    assert DOUBTS[0] in (await web.get(f"/runs/{run_id}"))[1]
    assert not list(box.glob("0900*reply*"))


async def test_the_end_of_the_server_leaves_runs_that_can_be_resumed(store: RunStore, models: LoopbackServer) -> None:
    keys = {"openrouter": Key(SecretStr("sk-canary-0123456789"), "given")}
    settings = Settings(keys, {"openrouter": f"{models.url}/v1"})
    async with served(store, lambda: settings) as first:
        _, told = await first.post("/runs", query="Which?", seats={"red_team": "terminal:"})
        async for kind, _, data in first.stream(told["run_id"], "view=story"):
            if kind == "page" and "Your turn" in data["parts"].get("asks", ""):
                break
    assert store.summary(told["run_id"]).state == "stopped"
    store.close()


def test_what_a_form_may_hold() -> None:
    _, terms = read_form(
        {"query": "?", "seats": "red_team = terminal:\n\n position=ollama:qwen3", "budget": "0.50", "max_calls": "40"},
        strict=False,
    )
    assert terms.seats == {"red_team": "terminal:", "position": "ollama:qwen3"}
    assert terms.caps == Caps(cost=500_000, calls=40)
    run, terms = read_form(
        {"kind": "crucible.council", "query": " Why?\n", "context": '{"a": 1}', "delta": "similarity"}, strict=False
    )
    assert terms.caps == Caps() and run.title == "Why?"
    task, options = run.data()
    assert task == {"query": " Why?\n", "context": {"a": 1}} and options["delta"] == "similarity"


def test_a_circle_with_a_person_in_it_waits_a_day() -> None:
    filled = {"kind": "fire_circle", "user": "Ignore all that.", "models": "a/b\nterminal:\n", "system": ""}
    run = prepared(read_form(filled, strict=False)[0])
    task, options = run.data()
    assert task == {"user": "Ignore all that."} and options["models"] == ["a/b", "terminal:"]
    assert isinstance(run.options, Options)
    circle = run.options.circle()
    assert circle is not None
    assert circle.timeout_per_round == circle.base_config.timeout_seconds == 86_400
    with pytest.raises(ConfigurationError):
        prepared(read_form({"kind": "fire_circle", "user": "x", "models": "only-one"}, strict=False)[0])


@pytest.mark.parametrize(
    ("fields", "refusal"),
    [
        ({}, "query is missing"),
        ({"query": " "}, "QUERY is empty|query is empty"),
        ({"query": ["a"]}, "valid string"),
        ({"query": "x" * 300_000}, "longer than"),
        ({"query": "x", "context": "[1]"}, "context: .* table|context: .* object"),
        ({"query": "x", "context": "{"}, "not JSON"),
        ({"query": "x", "context": "[" * 100_000}, "not JSON"),
        ({"query": "x", "delta": "dance"}, "delta: Input should be 'conclusions', 'judge' or"),
        ({"query": "x", "seats": "red_team"}, "ROLE=MODEL"),
        ({"query": "x", "budget": "nan"}, "budget: "),
        ({"query": "x", "budget": -1}, "budget: "),
        ({"query": "x", "max_calls": 1.5}, "max_calls: "),
        ({"query": "x", "max_tokens": 0}, "max_tokens: "),
        ({"query": "x", "effort": "little"}, "effort: Input should be 'none', 'minimal', 'low'"),
        ({"query": "x", "deadline": {}}, "deadline: "),
        ({"query": "x", "colour": "red"}, "no field is called colour"),
    ],
)
@pytest.mark.parametrize("strict", [False, True])
def test_what_a_form_may_not_hold(fields: dict[str, Any], refusal: str, strict: bool) -> None:
    with pytest.raises(ConfigurationError, match=refusal):
        read_form(fields, strict=strict)


@pytest.mark.parametrize("fields", [{"max_calls": True}, {"max_calls": "3"}, {"budget": "0.5"}])
def test_a_program_has_to_say_numbers_as_numbers(fields: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="valid"):
        read_form({"query": "x", **fields}, strict=True)


@pytest.mark.parametrize("value", [0, "0", " 7 ", 2**53 - 1, "9007199254740991"])
def test_a_seed_is_a_whole_number(value: object) -> None:
    assert seed_of({"seed": value}) == int(str(value))


@pytest.mark.parametrize("value", [-1, 1.5, True, "x", "²", " ", 2**53, "9" * 17, "9" * 5_000])
def test_what_is_no_seed_is_refused(value: object) -> None:
    with pytest.raises(ConfigurationError, match=r"^seed"):
        seed_of({"seed": value})
