"""Writing beside an event loop: what is awaited is on disk, many runs share a commit, faults find their way."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from llm_runtime.errors import StoreBusy
from llm_runtime.events import BudgetMoved, CallFinished, CallStarted, Event, RunFinished, RunStarted, UnknownEvent
from llm_runtime.messages import CallLabel, Message, Reply, Request
from llm_runtime.price import Price
from llm_runtime.providers.scripted import scripted
from llm_runtime.store import RunStore, SqliteStore
from llm_runtime.store.anchor import Head, SignedHead
from llm_runtime.store.committing import Committer
from llm_runtime.store.signing import KeySigner
from llm_runtime.store.verify import verify
from llm_runtime.wrappers.accounts import Budget, Caps
from llm_runtime.wrappers.budgeted import budgeted
from llm_runtime.wrappers.recording import recording

Started = Callable[..., RunStarted]
Call = Callable[..., tuple[CallStarted, CallFinished]]


@pytest.fixture
def onlooker(store: SqliteStore, store_path: Path) -> Iterator[SqliteStore]:
    """The same file, seen from outside: nothing of it but what is on disk."""
    with closing(SqliteStore(store_path)) as opened:
        yield opened


def kinds(store: RunStore, run_id: str = "run-1") -> list[type[Event]]:
    return [type(event) for _, event in store.events(run_id)]


async def test_what_is_awaited_is_on_disk_with_all_before_it(
    store: SqliteStore, onlooker: SqliteStore, started: Started, call: Call
) -> None:
    log = store.start(started())
    asked, answered = call(1)
    log.emit(asked)
    await log.emit(answered)
    assert kinds(onlooker) == [RunStarted, CallStarted, CallFinished]


async def test_a_hold_is_on_disk_before_the_call_is_sent_and_the_answer_before_it_is_passed_on(
    store: SqliteStore, onlooker: SqliteStore, started: Started
) -> None:
    log = store.start(started())
    at_sending: list[type[Event]] = []

    def model(request: Request) -> str:
        at_sending.extend(kinds(onlooker))
        return "yes"

    budget = Budget(Caps(calls=3), emit=log.emit)
    ask = recording(budgeted(scripted(model), budget, lambda name: Price(1, 1)), log.emit)
    await ask(Request("a/b", (Message("user", "Is it so?"),), CallLabel("p", "position")))

    assert at_sending == [RunStarted, CallStarted, BudgetMoved]
    assert kinds(onlooker) == [*at_sending, BudgetMoved, CallFinished]


async def test_a_hold_that_cannot_be_written_sends_nothing_and_holds_nothing(
    store: SqliteStore, store_path: Path, started: Started
) -> None:
    log = store.start(started())
    store.writer.execute("PRAGMA busy_timeout = 0")
    asked: list[Request] = []
    budget = Budget(Caps(calls=1), emit=log.emit)
    ask = budgeted(scripted(lambda request: asked.append(request) or "yes"), budget, lambda name: Price(1, 1))
    request = Request("a/b", (Message("user", "Is it so?"),), CallLabel("p", "position"))
    with closing(sqlite3.connect(store_path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy):
            await ask(request)
        other.execute("ROLLBACK")
    assert not asked
    assert (await ask(request)).text == "yes"


async def test_many_runs_written_at_once_are_all_whole(any_store: RunStore, started: Started, call: Call) -> None:
    async def one(number: int) -> None:
        log = any_store.start(started(f"run-{number}"))
        for place in range(20):
            asked, answered = call(place, text="x" * 50 * number)
            log.emit(asked)
            await log.emit(answered)
        log.emit(RunFinished(state="finished"))
        await log.aclose()

    await asyncio.gather(*(one(number) for number in range(12)))
    assert {run.calls for run in any_store.runs(state="finished")} == {20}
    assert all(verify(any_store, f"run-{number}").ok for number in range(12))


async def test_a_run_taken_away_does_not_harm_those_written_with_it(
    store: SqliteStore, store_path: Path, started: Started, call: Call
) -> None:
    logs = [store.start(started(name)) for name in ("one", "gone", "two")]
    with closing(sqlite3.connect(store_path)) as other, other:
        other.execute("DELETE FROM runs WHERE run_id = 'gone'")
    outcomes = await asyncio.gather(*(log.emit(call(1)[0]) for log in logs), return_exceptions=True)
    assert isinstance(outcomes[1], StoreBusy)
    assert outcomes[0] is outcomes[2] is None
    with pytest.raises(StoreBusy, match="deleted"):
        await logs[1].aclose()
    for name in ("one", "two"):
        assert kinds(store, name) == [RunStarted, CallStarted]


async def test_a_fault_reaches_who_waits_and_nothing_is_lost_by_it(
    store: SqliteStore, store_path: Path, started: Started, call: Call
) -> None:
    log = store.start(started())
    store.writer.execute("PRAGMA busy_timeout = 0")
    asked, answered = call(1)
    with closing(sqlite3.connect(store_path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        log.emit(asked)
        waiting = [log.emit(answered), log.emit(call(2)[0])]
        assert [type(fault) for fault in await asyncio.gather(*waiting, return_exceptions=True)] == [StoreBusy] * 2
        with pytest.raises(StoreBusy):
            log.close()
        other.execute("ROLLBACK")
    log = store.reopen("run-1")
    assert kinds(store) == [RunStarted]
    await log.emit(asked)
    await log.aclose()
    assert verify(store, "run-1").ok


async def test_a_fault_that_nobody_waited_for_reaches_the_next_event(
    store: SqliteStore, store_path: Path, started: Started
) -> None:
    log = store.start(started())
    store.writer.execute("PRAGMA busy_timeout = 0")
    said = 0
    with closing(sqlite3.connect(store_path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy):
            while True:
                said += 1
                log.emit(UnknownEvent(name="said", data={"n": said}))
                await asyncio.sleep(0)
        other.execute("ROLLBACK")
    for _ in range(2):
        with suppress(StoreBusy):  # of a write that was under way when the fault was told
            await log
    await log.emit(RunFinished(state="finished"))
    # the event that met the fault is kept, as those before it are
    kept = [event.data["n"] for _, event in store.events("run-1") if isinstance(event, UnknownEvent)]
    assert kept == [*range(1, said + 1)]
    await log.aclose()
    assert verify(store, "run-1").ok


class Log:
    """A log with more rows than are written at once."""

    def __init__(self) -> None:
        self.rows: list[Any] = list(range(300))
        self.fault: Exception | None = None


def test_where_rows_of_a_log_are_missing_none_follow() -> None:
    down, written = [StoreBusy("held for a moment")], list[Any]()

    def append(rows: list[Any]) -> None:
        if down:
            raise down.pop()
        written.extend(rows)

    committer, log = Committer(append, lambda: False), Log()
    with pytest.raises(StoreBusy):
        committer.now(log)
    assert written == [] and len(log.rows) == 300
    committer.now(log)
    assert written == list(range(300)) and log.rows == []


async def test_who_stops_waiting_does_not_stop_the_writing(
    store: SqliteStore, onlooker: SqliteStore, started: Started
) -> None:
    log = store.start(started())

    async def paid(request: Request) -> Reply:
        asking.cancel()
        return await scripted(lambda _: "paid for")(request)

    ask = recording(paid, log.emit)
    asking = asyncio.ensure_future(ask(Request("a/b", (Message("user", "?"),), CallLabel("p", "position"))))
    with pytest.raises(asyncio.CancelledError):
        await asking
    await log
    assert kinds(onlooker) == [RunStarted, CallStarted, CallFinished]


class SlowSigner(KeySigner):
    """Signs only when the event loop has had its turn."""

    turn = threading.Event()

    def sign(self, head: Head) -> SignedHead:
        assert self.turn.wait(30)
        return super().sign(head)


async def test_the_event_loop_goes_on_while_a_head_is_signed(store_path: Path, started: Started) -> None:
    signer = SlowSigner(store_path.parent / "slow.key")
    with closing(SqliteStore(store_path, signer=signer)) as store:
        log = store.start(started())
        log.emit(RunFinished(state="finished"))
        asyncio.get_running_loop().call_soon(signer.turn.set)
        await asyncio.gather(log.aclose(), log.aclose())
        assert verify(store, "run-1").ok


def test_one_store_serves_several_event_loops_and_leaves_no_thread(
    any_store: RunStore, started: Started, call: Call
) -> None:
    async def run(name: str) -> None:
        log = any_store.start(started(name))
        for number in range(10):
            for event in call(number):
                await log.emit(event)
        await log.aclose()

    before = {*threading.enumerate()}
    asyncio.run(run("first"))
    loops = [threading.Thread(target=lambda name=name: asyncio.run(run(name))) for name in ("second", "third")]
    for loop in loops:
        loop.start()
    for loop in loops:
        loop.join()
    assert {run.calls for run in any_store.runs()} == {10}
    any_store.close()
    assert "run store" not in {thread.name for thread in {*threading.enumerate()} - before}
