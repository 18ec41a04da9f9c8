"""What a person sees of their runs: how they stand, what they cost, how they are found."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_runtime.errors import ConfigurationError, RunNotFound, StoreBusy, StoreDamaged, StoreError
from llm_runtime.events import (
    BudgetMoved,
    CallFailed,
    CallFinished,
    CallStarted,
    Record,
    RunFinished,
    RunResumed,
    RunStarted,
    UnknownEvent,
)
from llm_runtime.messages import Reply, Usage
from llm_runtime.store import RunStore, SqliteStore, new_run_id, open_store, valid_run_id
from llm_runtime.store.verify import verify

Started = Callable[..., RunStarted]
Call = Callable[..., tuple[CallStarted, CallFinished]]


@pytest.fixture
def store(any_store: RunStore) -> RunStore:
    """What this file says holds for every kind of store."""
    return any_store


def test_a_run_reads_back_as_it_was_written(store: RunStore, started: Started, call: Call) -> None:
    log = store.start(started())
    written = [started(), *call(1), UnknownEvent(name="later.thing", data={"kept": ["as", "it", "is"]})]
    for event in written[1:]:
        log.emit(event)

    read = list(store.events("run-1"))

    assert [event for _, event in read] == written
    assert [record.seq for record, _ in read] == [1, 2, 3, 4]
    assert [record.at for record, _ in read] == [1000, 1010, 1020, 1030]
    assert (log.length, log.digest) == (4, read[-1][0].digest)


def test_records_are_read_from_any_place_on(store: RunStore, started: Started, call: Call) -> None:
    log = store.start(started())
    for number in range(300):
        log.emit(call(number)[0])

    assert [r.seq for r in store.records("run-1")] == list(range(1, 302))
    assert [r.seq for r in store.records("run-1", after=298)] == [299, 300, 301]
    assert [r.seq for r in store.records("run-1", after=10, limit=2)] == [11, 12]
    assert len(list(store.records("run-1", limit=257))) == 257
    assert list(store.records("run-1", limit=0)) == []


def test_a_reader_sees_what_was_appended_since_it_began(store: RunStore, started: Started, call: Call) -> None:
    log = store.start(started())
    for number in range(256):
        log.emit(call(number)[0])
    reader = store.records("run-1")
    next(reader)
    log.emit(call(999)[0])
    assert sum(1 for _ in reader) == 257


def test_the_state_is_what_the_log_says(store: RunStore, started: Started) -> None:
    log = store.start(started())
    assert store.summary("run-1").state == "running"
    log.close()
    assert store.summary("run-1").state == "interrupted"

    log = store.reopen("run-1")
    assert store.summary("run-1").state == "running"
    log.emit(RunFinished(state="stopped", error="BudgetExceeded"))
    assert store.summary("run-1").state == "stopped"
    log.close()

    log = store.reopen("run-1")
    log.emit(RunResumed(finished_calls=0))
    assert store.summary("run-1").state == "running"
    log.emit(RunFinished(state="finished"))
    log.close()
    assert store.summary("run-1").state == "finished"


NOTHING_HELD = {f"{kind}_{name}": 0 for kind in ("spent", "held") for name in ("cost", "tokens", "calls")}


def test_the_sums_count_what_models_were_paid_for(store: RunStore, started: Started, call: Call) -> None:
    log = store.start(started(parent="older"))
    for event in (*call(1, cost=5), *call(2, cost=7), *call(3, cost=100, replayed=True)):
        log.emit(event)
    cut = Reply("half an ans", "a/b", "scripted", Usage(10, 4), cost=2)
    log.emit(CallFailed(digest="c", occurrence=1, error="ReplyTruncated", message="cut", partial=cut.to_dict()))
    log.emit(CallFailed(digest="d", occurrence=1, error="ServerFault", message="down"))

    summary = store.summary("run-1")

    assert (summary.calls, summary.input_tokens, summary.output_tokens) == (3, 30, 10)
    assert (summary.cost, summary.cost_unknown) == (14, False)
    assert (summary.events, summary.parent, summary.origin) == (9, "older", "live")
    assert (summary.started_at, summary.updated_at) == (1000, 1080)

    failed = CallFailed(digest="e", occurrence=1, error="EmptyReply", message="nothing", cost=3)
    log.emit(failed)
    log.emit(BudgetMoved(**NOTHING_HELD, unknown_cost=40, unknown_calls=1))
    log.emit(BudgetMoved(**NOTHING_HELD, unknown_cost=50, unknown_calls=2))
    summary = store.summary("run-1")
    assert (summary.calls, summary.cost, summary.unknown) == (3, 17, 50)
    assert verify(store, "run-1").intact

    for unpriced_and_priced in (call(4, cost=None), call(5, cost=1)):
        log.emit(unpriced_and_priced[1])
        assert store.summary("run-1").cost_unknown
    assert store.summary("run-1").cost == 18


def test_sums_go_on_when_a_run_does(store: RunStore, started: Started, call: Call) -> None:
    log = store.start(started())
    log.emit(call(1)[1])
    log.close()
    log = store.reopen("run-1")
    assert log.length == 2
    log.emit(call(2)[1])
    assert store.summary("run-1").cost == 10


def test_runs_are_listed_newest_first_in_pages(store: RunStore, started: Started) -> None:
    for number in range(7):
        store.start(started(f"run-{number}")).close()
    pages = [store.runs(limit=3)]
    while pages[-1]:
        pages.append(store.runs(limit=3, before=pages[-1][-1].run_id))
    assert [[run.run_id[-1] for run in page] for page in pages] == [["6", "5", "4"], ["3", "2", "1"], ["0"], []]


def test_runs_are_picked_by_protocol_text_and_state(store: RunStore, started: Started) -> None:
    running = store.start(started("a", title="Why is 100% of it Blue?"))
    store.start(started("b", protocol="crux", title="why red")).close()
    done = store.start(started("c", title="how"))
    done.emit(RunFinished(state="finished"))
    done.close()

    def ids(**filters: object) -> str:
        return "".join(run.run_id for run in store.runs(**filters))  # pyright: ignore[reportArgumentType]

    assert ids() == "cba"
    assert ids(protocol="crux") == "b"
    assert ids(search="WHY") == "ba"
    assert ids(search="100%") == "a"
    assert ids(search="%") == "a"
    assert ids(state="running") == "a"
    assert ids(state="interrupted") == "b"
    assert ids(state="finished") == "c"
    assert ids(state="failed", search="why") == ""
    running.close()


def test_a_run_is_found_by_the_beginning_of_its_id(store: RunStore, started: Started) -> None:
    with pytest.raises(RunNotFound, match="no runs yet"):
        store.find("latest")
    for run_id in ("20260101-a", "20260101-b", "2026", "x_y"):
        store.start(started(run_id)).close()

    assert store.find("20260101-b") == "20260101-b"
    assert store.find("x") == "x_y"
    assert store.find("2026") == "2026"
    assert store.find("latest") == "x_y"
    with pytest.raises(RunNotFound, match="several"):
        store.find("20260")
    for missing in ("zzz", "", "%", "x%", "_"):
        with pytest.raises(RunNotFound, match="no run"):
            store.find(missing)


def test_one_run_has_one_writer(store: RunStore, started: Started) -> None:
    log = store.start(started())
    with pytest.raises(StoreBusy, match="stop it first"):
        store.reopen("run-1")
    with pytest.raises(StoreBusy):
        store.delete("run-1")
    log.close()
    store.reopen("run-1").close()


def test_an_id_is_given_once(store: RunStore, started: Started) -> None:
    store.start(started()).close()
    with pytest.raises(StoreError, match="already"):
        store.start(started())
    # the refused start left nothing behind that would hold the run
    store.reopen("run-1").close()


def test_a_closed_log_takes_no_more(store: RunStore, started: Started) -> None:
    log = store.start(started())
    log.close()
    log.close()
    with pytest.raises(ValueError, match="closed"):
        log.emit(RunFinished(state="finished"))


def test_an_event_that_cannot_be_written_leaves_the_log_usable(store: RunStore, started: Started, call: Call) -> None:
    log = store.start(started())
    with pytest.raises(ValueError):
        log.emit(UnknownEvent(name="x", data={"too large for JSON": 2**60}))
    log.emit(call(1)[0])
    assert [r.seq for r in store.records("run-1")] == [1, 2]


def test_a_deleted_run_is_gone_with_its_head(store: RunStore, finished_run: str) -> None:
    assert store.heads.load(finished_run) is not None
    store.delete(finished_run)
    assert store.runs() == []
    assert store.heads.load(finished_run) is None
    asks: list[Callable[[str], object]] = [store.summary, store.delete, store.reopen, lambda x: list(store.records(x))]
    for ask in asks:
        with pytest.raises(RunNotFound, match="no run"):
            ask(finished_run)


def test_adopting_is_all_or_nothing(store: RunStore, finished_run: str) -> None:
    def breaking_off() -> Iterator[Record]:
        yield from store.records(finished_run, limit=5)
        raise StoreDamaged("torn")

    with pytest.raises(StoreDamaged, match="torn"):
        store.adopt("copy", breaking_off())
    with pytest.raises(StoreDamaged, match="empty"):
        store.adopt("copy", [])
    with pytest.raises(StoreDamaged, match=r"run\.started"):
        store.adopt("copy", store.records(finished_run, after=1))
    assert [run.run_id for run in store.runs()] == [finished_run]

    store.adopt("copy", store.records(finished_run))
    assert store.summary("copy") == replace(store.summary(finished_run), run_id="copy")


def test_what_is_kept_is_its_owners_alone(store: RunStore, finished_run: str, tmp_path: Path) -> None:
    files = [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".lock"]
    assert len(files) >= (4 if isinstance(store, SqliteStore) else 1)
    assert {path.name: path.stat().st_mode & 0o077 for path in files} == {path.name: 0 for path in files}


def test_open_store_takes_a_path_or_a_url(tmp_path: Path) -> None:
    for name in (tmp_path / "a.db", str(tmp_path / "b.db"), f"sqlite:///{tmp_path / 'c.db'}"):
        open_store(name).close()
    assert {path.name for path in tmp_path.glob("*.db")} == {"a.db", "b.db", "c.db"}
    with pytest.raises(ConfigurationError, match="postgresql"):
        open_store("mysql://host/runs")


@given(now=st.integers(0, 253402300798999), seed=st.integers())
def test_new_ids_are_valid_and_sort_by_second(now: int, seed: int) -> None:
    run_id = new_run_id(now, Random(seed))
    assert valid_run_id(run_id)
    assert run_id == new_run_id(now, Random(seed))
    assert run_id < new_run_id(now + 1000, Random(0))


@pytest.mark.parametrize(
    "text", ["", "..", "a/b", "a\\b", "A", "a.b", "-a", "a" * 65, "a\n", "a\0", "latest", "nul", "ä", "a b", "١"]
)
def test_what_could_be_a_path_is_no_id(text: str, store: RunStore, started: Started) -> None:
    assert not valid_run_id(text)
    with pytest.raises(ValueError, match="not a run id"):
        store.start(started(text))


async def test_the_start_of_a_call_is_written_soon_and_before_its_answer(
    store: RunStore, started: Started, call: Call
) -> None:
    log = store.start(started())
    asked, answered = call(1)
    log.emit(asked)
    assert log.length == 2
    log.emit(answered)
    assert [event for _, event in store.events("run-1")][1:] == [asked, answered]
    log.emit(call(2)[0])
    while store.summary("run-1").events < 4:  # noqa: ASYNC110 - a file tells nobody that it has grown
        await asyncio.sleep(0.001)
    log.emit(call(3)[0])
    log.close()
    assert store.summary("run-1").events == 5
    assert verify(store, "run-1").ok


def test_how_long_nobody_carried_a_run_out_is_read_without_its_log(
    store: RunStore, started: Started, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0]
    monkeypatch.setattr(store, "_clock", lambda: now[0])
    log = store.start(started())
    resumed, hour = RunResumed(finished_calls=0), 3_600_000
    failed = CallFailed(digest=f"{2:064x}", occurrence=1, error="CallTimeout", message="slow")
    # A slow answer and a slow failure are work; what lies before going on is none, after an end and after a crash.
    waits = ((call(1)[1], hour), (failed, hour), (RunFinished(state="stopped"), 0), (resumed, 7 * hour))
    for event, wait in (*waits, (call(3)[0], 0), (resumed, 2 * hour), (resumed, 10), (call(3)[1], 50)):
        now[0] += wait
        log.emit(event)
    log.close()
    assert store.idle("run-1") == 9 * hour
    with pytest.raises(RunNotFound):
        store.idle("nobody")
