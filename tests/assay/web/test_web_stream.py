"""Live, reload and replay are one path: whatever breaks in between, a reader ends with what a fresh page shows."""

from __future__ import annotations

import asyncio
import json
import socket
from itertools import pairwise
from typing import Any

import pytest

from assay.registry import read_run
from assay.terms import Terms
from assay.web.serving import listening
from llm_runtime.events import CallStarted, Event, RunFinished, RunStarted
from llm_runtime.messages import CallLabel, Message, Request
from llm_runtime.store import open_store
from llm_runtime.testing import LoopbackServer


def opening(name: str = "other-1", protocol: str = "weather") -> RunStarted:
    return RunStarted(run_id=name, protocol=protocol, title="Rain?", task={}, settings={}, seed=1)


def question(number: int) -> Event:
    request = Request("m", (Message("user", f"question {number}"),), CallLabel("weather", "ask", f"{number}:seat"))
    return CallStarted.of(request, {}, lambda *_: False)


async def test_the_id_of_each_event_is_its_number_in_the_log(web: Any, council: Any) -> None:
    run_id = await council()
    told = [(number, data) async for kind, number, data in web.stream(run_id) if kind == "event"]
    records = list(web.store.records(run_id))
    assert [number for number, _ in told] == [record.seq for record in records]
    assert [data["event"] for _, data in told] == [json.loads(record.body) for record in records]


async def test_a_reader_that_comes_back_gets_what_it_has_not(web: Any, council: Any) -> None:
    run_id = await council()
    length = web.store.summary(run_id).events
    for last in (0, 1, length // 2, length - 1, length):
        numbers = [number async for kind, number, _ in web.stream(run_id, last=last) if kind == "event"]
        assert numbers == list(range(last + 1, length + 1))
        lines = [number async for kind, number, _ in web.stream(run_id, "view=story", last=last) if kind == "log"]
        assert lines == numbers


async def test_a_run_that_another_process_writes_arrives_as_it_is_written(web: Any, tmp_path: Any) -> None:
    elsewhere = open_store(tmp_path / "runs.db")
    log = elsewhere.start(opening())
    stream = web.stream("other-1")
    assert (await anext(stream))[2]["event"]["type"] == "run.started"
    for number in range(1, 4):
        log.emit(question(number))
        log.emit(RunFinished(state="stopped")) if number == 3 else None
        log.close() if number == 3 else None
        if number < 3:
            log.emit(question(100 + number))
    seen = [data["event"]["type"] async for kind, _, data in stream if kind == "event"]
    assert seen == ["call.started"] * 5 + ["run.finished"]
    elsewhere.close()


@pytest.mark.hastened
async def test_a_page_that_lost_its_connection_anywhere_ends_as_a_fresh_one(web: Any, tmp_path: Any) -> None:
    elsewhere = open_store(tmp_path / "runs.db")
    log = elsewhere.start(opening())
    for view in ("timeline", "events", "story"):
        shown: dict[str, str] = {}
        last: int | None = None
        for number in range(1, 4):
            log.emit(question(number + 10 * len(view)))
            log.emit(question(number + 10 * len(view) + 500))
            stream = web.stream("other-1", f"view={view}", last=last)
            async for kind, seq, data in stream:
                last = seq if kind == "log" else last
                if kind == "page":
                    shown.update(data["parts"])
                    shown = {name: shown[name] for name in shown if name in data["order"] or name in HEAD}
                    if data["seq"] == log.length:
                        break
            await stream.aclose()
        assert shown == web.site.renderer.render(web.site.hub.watch("other-1"), view).parts.pieces
    log.close()
    elsewhere.close()


HEAD = ("masthead", "now", "asks", "contents")


async def test_only_what_changed_is_sent(web: Any, tmp_path: Any) -> None:
    elsewhere = open_store(tmp_path / "runs.db")
    log = elsewhere.start(opening())
    log.emit(question(1))
    await log.emit(RunFinished(state="finished", result={}))
    whole = [data async for kind, _, data in web.stream("other-1", "view=timeline") if kind == "page"]
    assert {"masthead", "overview", "p-1"} <= set(whole[0]["parts"])
    _, page = await web.get("/runs/other-1/timeline")
    drawn = page.partition('data-drawn="')[2].partition('"')[0]
    query = f"view=timeline&after={log.length}&drawn={drawn}"
    assert [kind async for kind, _, _ in web.stream("other-1", query)] == ["end"]
    assert [kind async for kind, _, _ in web.stream("other-1", query, last=log.length)] == ["page", "end"]
    log.close()
    elsewhere.close()


async def test_a_run_that_nobody_writes_any_more_is_shown_as_interrupted(web: Any, tmp_path: Any) -> None:
    elsewhere = open_store(tmp_path / "runs.db")
    log = elsewhere.start(opening())
    log.emit(question(1))
    _, page = await web.get("/runs/other-1")
    assert "at work" in page or "ask" in page
    log.close()
    _, page = await web.get("/runs/other-1")
    assert "interrupted" in page and "/runs/other-1/resume" in page
    elsewhere.close()


async def test_a_call_that_nobody_waits_for_any_more_is_not_in_flight(web: Any) -> None:
    log = web.store.start(opening())
    log.emit(question(1))
    assert (await web.get("/runs/other-1/timeline"))[1].count("in flight") == 4
    log.close()
    _, page = await web.get("/runs/other-1/timeline")
    assert "interrupted" in page and "in flight" not in page and "no answer" in page


async def test_many_readers_are_drawn_for_once(web: Any, council: Any) -> None:
    run_id = await council()
    watch = web.site.hub.watch(run_id)
    first, second = (web.site.renderer.render(watch, "story") for _ in range(2))
    assert first is second
    watch.touch()
    assert web.site.renderer.render(watch, "story") is not first


async def test_steps_and_times_of_a_list_of_events_are_in_order(web: Any, council: Any) -> None:
    run_id = await council()
    lines = [data async for kind, _, data in web.stream(run_id, "view=events") if kind == "log"]
    assert all(a["at"] <= b["at"] and a["seq"] + 1 == b["seq"] for a, b in pairwise(lines))
    assert any(line["step"].startswith("council configured") for line in lines)
    assert any(line["about"] == "position · pragmatist · 1" for line in lines)


@pytest.mark.hastened
async def test_a_page_gets_the_words_of_an_answer_before_the_answer_is_whole(web: Any) -> None:
    answer = "Use SQLite <b>until it hurts."
    async with LoopbackServer(answer, piece=6, pace=0.2) as server:
        task = read_run("crucible.council", {"query": "Which database?"}, {})
        run_id = await web.site.runs.start(task, Terms(model=f"{server.url}/v1#tiny"))
        told: list[tuple[str, Any]] = []
        # A run that failed may be resumed, so its stream stays open.
        async for kind, _, data in web.stream(run_id, "view=story"):
            told.append((kind, data))
            if kind == "words" and not data and any(words for name, words in told if name == "words"):
                break
    written = [data[0] for kind, data in told if kind == "words" and data and data[0]["text"]]
    assert {(call["name"], call["stage"]) for call in written} == {("triage", "writing")}
    assert all(answer.startswith(call["text"]) for call in written)
    assert any(call["text"] != answer for call in written)


async def test_a_page_does_not_wait_for_its_reader_to_acknowledge_the_head() -> None:
    """What is sent in two parts is sent at once; else each page takes 40 ms longer."""
    at_once: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def met(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accepted = writer.get_extra_info("socket")
        at_once.set_result(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    with listening("127.0.0.1", 0) as listener:
        async with await asyncio.start_server(met, sock=listener):
            _, visitor = await asyncio.open_connection(*listener.getsockname())
            assert await at_once
            visitor.close()
            await visitor.wait_closed()
