"""Chat programs ask councils as if they were models: what they get, and what it costs them."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from .conftest import Programs

QUESTION = "Which database should a team of three run?"


async def streamed(programs: Programs, body: dict[str, Any], key: str = "") -> list[Any]:
    """The chunks of a stream; the last one is ``"[DONE]"``."""
    headers = {"authorization": f"Bearer {key}"} if key else {}
    async with programs.web.client.post(f"{programs.url}/chat/completions", json=body, headers=headers) as answer:
        assert answer.status == 200 and answer.headers["content-type"].startswith("text/event-stream")
        lines = [line.decode().strip() async for line in answer.content]
    data = [line.removeprefix("data: ") for line in lines if line.startswith("data: ")]
    return [one if one == "[DONE]" else json.loads(one) for one in data]


def body(text: str = QUESTION, **more: Any) -> dict[str, Any]:
    return {"model": "assay/crucible", "messages": [{"role": "user", "content": text}], **more}


async def test_the_models_are_the_runs_that_answer_text(programs: Programs) -> None:
    async with programs.web.client.get(f"{programs.url}/models") as answer:
        told = await answer.json()
    assert told["object"] == "list"
    ids = [model["id"] for model in told["data"]]
    assert ids == ["assay/crucible", "assay/circle", "assay/debate", "assay/direct"]
    async with programs.web.client.get(f"{programs.url}/models/assay/circle") as answer:
        assert (await answer.json())["owned_by"] == "assay"


async def test_a_council_answers_a_chat_and_tells_its_run_and_its_cost(programs: Programs) -> None:
    code, told = await programs.chat(QUESTION)
    assert code == 200, told
    (choice,) = told["choices"]
    assert told["object"] == "chat.completion" and choice["finish_reason"] == "stop"
    assert choice["message"]["content"] == "**Use SQLite** until it hurts."
    assert "loop 1" in choice["message"]["reasoning_content"].lower()
    assert told["usage"]["total_tokens"] == told["usage"]["prompt_tokens"] + told["usage"]["completion_tokens"] > 0
    about = told["assay"]
    summary = programs.store.summary(about["run_id"])
    assert summary.state == "finished" and about["cost_usd"] == summary.cost / 1e6 > 0 and about["partial"] is False
    assert about["url"] == f"{programs.web.url}/runs/{about['run_id']}"
    assert (await programs.web.get(f"/runs/{about['run_id']}"))[0] == 200


async def test_a_stream_shows_progress_as_reasoning_and_then_the_answer(programs: Programs) -> None:
    *chunks, last = await streamed(programs, body(stream=True, stream_options={"include_usage": True}))
    assert last == "[DONE]"
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks if chunk["choices"]]
    assert deltas[0] == {"role": "assistant", "content": ""}
    reasoning = "".join(delta.get("reasoning_content", "") for delta in deltas)
    assert reasoning and reasoning == "".join(delta.get("reasoning", "") for delta in deltas)
    assert "".join(delta.get("content", "") for delta in deltas) == "**Use SQLite** until it hurts."
    ended = next(chunk for chunk in chunks if chunk["choices"] and chunk["choices"][0]["finish_reason"])
    assert programs.store.summary(ended["assay"]["run_id"]).state == "finished"
    assert chunks[-1]["choices"] == [] and chunks[-1]["usage"]["total_tokens"] > 0
    assert len({chunk["id"] for chunk in chunks}) == 1


async def test_what_was_said_before_reaches_every_seat_and_the_last_message_is_the_question(programs: Programs) -> None:
    turns = [
        {"role": "system", "content": "Answer as a MARKER-SYSTEM would."},
        {"role": "user", "content": "We are three."},
        {"role": "assistant", "content": "MARKER-EARLIER"},
        {"role": "user", "content": [{"type": "text", "text": QUESTION}]},
    ]
    code, told = await programs.send({"model": "crucible", "messages": turns})
    assert code == 200
    started = json.loads((await programs.web.get(f"/runs/{told['assay']['run_id']}/events/1.json"))[1])
    assert started["event"]["task"]["query"] == QUESTION
    shown = [one for one in programs.models.requests if "MARKER-EARLIER" in str(one.messages)]
    assert len(shown) > 4 and all("MARKER-SYSTEM" in str(one.messages) for one in shown)


async def test_a_repeated_request_attaches_to_the_council_under_way(programs: Programs) -> None:
    programs.answers.open.clear()
    first = asyncio.create_task(programs.chat(QUESTION))
    await programs.answers.asked.wait()
    again = [asyncio.create_task(programs.chat(QUESTION)), asyncio.create_task(streamed(programs, body(stream=True)))]
    other = asyncio.create_task(programs.chat("Another question?"))
    programs.answers.open.set()
    _, told = await first
    assert (await again[0])[1]["assay"]["run_id"] == told["assay"]["run_id"]
    assert (await again[1])[-2]["assay"]["run_id"] == told["assay"]["run_id"]
    assert (await other)[1]["assay"]["run_id"] != told["assay"]["run_id"]
    # An answer that has just come is given again; that of another key never is.
    assert (await programs.chat(QUESTION))[1]["assay"]["run_id"] == told["assay"]["run_id"]
    assert programs.councils() == 2
    assert (await programs.chat(QUESTION, programs.key("notes")))[1]["assay"]["run_id"] != told["assay"]["run_id"]


async def test_who_comes_back_after_all_had_left_finds_the_run_where_it_was(programs: Programs) -> None:
    programs.answers.open.clear()
    asking = asyncio.create_task(programs.chat(QUESTION))
    await programs.answers.asked.wait()
    (run,) = programs.store.runs()
    asking.cancel()
    await programs.web.state(run.run_id, "stopped")
    answered = len(programs.models.requests)
    programs.answers.open.set()
    code, told = await programs.chat(QUESTION)
    assert code == 200 and told["assay"]["run_id"] == run.run_id
    # The one call that was under way is made again, and what comes behind it; nothing that was answered.
    assert programs.councils() == 1 and len(programs.models.requests) > answered


async def test_who_returns_while_the_run_is_being_stopped_finds_it_going_on(programs: Programs) -> None:
    """However the moments fall, a client that comes back never meets the end that it caused itself."""
    programs.answers.open.clear()
    for _ in range(6):
        asking = asyncio.create_task(programs.chat(QUESTION))
        await programs.answers.asked.wait()
        asking.cancel()
        await asyncio.wait([asking])
    programs.answers.open.set()
    capped = [await programs.send(body("Why?", assay={"max_calls": 1})) for _ in range(4)]
    assert {code for code, _ in capped} == {402}, capped
    code, told = await programs.chat(QUESTION)
    assert code == 200 and programs.councils() == 2, told


async def test_a_key_for_the_background_keeps_its_runs_going(programs: Programs) -> None:
    programs.answers.open.clear()
    asking = asyncio.create_task(programs.chat(QUESTION, programs.key("night", background=True)))
    await programs.answers.asked.wait()
    asking.cancel()
    await asyncio.wait([asking])
    programs.answers.open.set()
    (run,) = programs.store.runs()
    await programs.web.state(run.run_id, "finished")


async def test_a_key_of_repetition_holds_longer_and_for_one_request(programs: Programs) -> None:
    key, other = programs.key("one"), programs.key("two")
    first = (await programs.send(body(), key, **{"Idempotency-Key": "k1"}))[1]["assay"]["run_id"]
    assert (await programs.send(body(), key, **{"Idempotency-Key": "k1"}))[1]["assay"]["run_id"] == first
    code, told = await programs.send(body("Another?"), key, **{"Idempotency-Key": "k1"})
    assert code == 422 and told["error"]["code"] == "idempotency_key_reused"
    # Whoever forges one sees nothing of what another key asked.
    assert (await programs.send(body(), other, **{"Idempotency-Key": "k1"}))[1]["assay"]["run_id"] != first
    assert (await programs.send(body(), key, **{"Idempotency-Key": "k" * 256}))[0] == 400


async def test_a_failed_seat_stands_in_the_first_line(programs: Programs) -> None:
    programs.answers.fails = "You run databases."
    code, told = await programs.chat(QUESTION)
    assert code == 200 and told["assay"]["partial"] is True, told
    assert "pragmatist" in told["choices"][0]["message"]["content"].splitlines()[0]


@pytest.mark.parametrize("bound", [{"max_calls": 2}, {"budget": 0.000001}])
async def test_a_cap_is_402_which_no_client_tries_again_and_the_run_is_kept(
    programs: Programs, bound: dict[str, Any]
) -> None:
    code, told = await programs.send(body(assay=bound))
    assert (
        code == 402 and told["error"]["type"] == "insufficient_quota" and told["error"]["message"].startswith("budget")
    )
    assert programs.store.summary(told["assay"]["run_id"]).state == "stopped"
    *_, why, done = await streamed(programs, body(assay=bound, stream=True))
    assert why["error"]["code"] == "budget_exceeded" and done == "[DONE]"
