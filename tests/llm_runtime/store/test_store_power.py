"""A power cut takes the end of what was not flushed, a restored copy what came after it: losses, not changes."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from llm_runtime.errors import RecordsLost, StoreDamaged, StoreError
from llm_runtime.events import (
    GENESIS,
    CallFailed,
    CallFinished,
    CallStarted,
    RunFinished,
    RunRecovered,
    RunStarted,
    link,
)
from llm_runtime.replay import Recording
from llm_runtime.store import SqliteStore
from llm_runtime.store.durability import Durability, must_flush
from llm_runtime.store.run_log import record_row
from llm_runtime.store.tally import Tally
from llm_runtime.store.verify import verify
from llm_runtime.wrappers.accounts import Account, moved

Started = Callable[..., RunStarted]
Call = Callable[..., tuple[CallStarted, CallFinished]]

CUTS = 60


def a_morning(store: SqliteStore, started: Started, call: Call) -> None:
    """Six runs, of which every third is stopped in between and goes on."""
    for number in range(6):
        log = store.start(started(f"run-{number}"))
        for turn in range(4):
            for event in call(turn, text="word " * random.Random(turn).randrange(400)):
                log.emit(event)
            if turn == 1 and number % 3 == 0:
                log.close()
                log = store.reopen(f"run-{number}")
        log.emit(RunFinished(state="finished"))
        log.close()


def after_a_cut(folder: Path, there: Path, at: int) -> Path:
    """What the disk holds where only ``at`` bytes of the log of late writes reached it."""
    shutil.copytree(folder, there)
    (there / "runs.db-shm").unlink()
    with (there / "runs.db-wal").open("r+b") as log:
        log.truncate(at)
    return there / "runs.db"


@pytest.mark.parametrize(
    ("durability", "flushed"),
    [
        ("sync", {"run.started", "call.started", "call.finished", "call.failed", "budget.moved", "run.finished"}),
        ("paid", {"run.started", "call.finished", "call.failed", "budget.moved", "run.finished"}),
        ("exit", {"run.started", "budget.moved", "run.finished"}),
    ],
)
def test_what_was_paid_for_waits_for_the_disk_and_money_at_every_level(
    started: Started, call: Call, durability: Durability, flushed: set[str]
) -> None:
    failed = CallFailed(digest="d", occurrence=1, error="ServerFault", message="down")
    moves = moved(Account())
    events = (started(), *call(1), failed, moves, RunFinished(state="finished"))
    rows = {event.type: record_row(1, link(GENESIS, 1, 0, event), Tally()) for event in events}
    assert {kind for kind, row in rows.items() if must_flush(durability, [row])} == flushed
    assert must_flush(durability, list(rows.values()))


def test_a_power_cut_at_any_place_leaves_runs_that_go_on(
    store: SqliteStore, store_path: Path, tmp_path: Path, started: Started, call: Call
) -> None:
    store.writer.execute("PRAGMA wal_autocheckpoint = 0")
    a_morning(store, started, call)
    whole = {run.run_id: list(store.records(run.run_id)) for run in store.runs()}
    size = Path(f"{store_path}-wal").stat().st_size
    dice = random.Random(15)
    gone_on = 0
    for cut in range(CUTS):
        place = after_a_cut(store_path.parent, tmp_path / f"cut-{cut}", dice.randrange(size))
        with closing(SqliteStore(place)) as left:
            for run in left.runs():
                records = list(left.records(run.run_id))
                assert records == whole[run.run_id][: len(records)]
                verification = verify(left, run.run_id)
                assert verification.intact and not verification.lost
                if run.state != "finished":
                    log = left.reopen(run.run_id)
                    answers = Recording.from_events(event for _, event in left.events(run.run_id))
                    for event in call(5)[len(answers) == 0 :]:
                        log.emit(event)
                    log.close()
                    gone_on += 1
                assert verify(left, run.run_id).intact
    assert gone_on > CUTS // 4


@pytest.fixture
def shorter(store: SqliteStore, store_path: Path, finished_run: str) -> str:
    """The finished run without its last five records, while its head says all twelve."""
    with closing(sqlite3.connect(store_path)) as connection, connection:
        connection.execute("DELETE FROM records WHERE seq > 7")
    return finished_run


def test_a_log_that_lost_its_end_is_a_loss_and_goes_on_once_that_is_accepted(
    store: SqliteStore, shorter: str, call: Call
) -> None:
    verification = verify(store, shorter)
    assert (verification.intact, verification.lost, verification.length) == (False, 5, 7)
    with pytest.raises(RecordsLost, match="lost its last 5 records of 12") as lost:
        store.reopen(shorter)
    assert "assay runs recover done" in lost.value.told

    assert store.recover(shorter).lost == 5

    assert verify(store, shorter).ok
    assert store.summary(shorter).state == "interrupted"
    log = store.reopen(shorter)
    for event in call(4):
        log.emit(event)
    log.close()
    recovered = [event for _, event in store.events(shorter) if isinstance(event, RunRecovered)]
    assert [(event.lost, event.length) for event in recovered] == [(5, 12)]
    assert verify(store, shorter).ok


def test_a_changed_log_is_never_recovered(store: SqliteStore, store_path: Path, shorter: str) -> None:
    with closing(sqlite3.connect(store_path)) as connection, connection:
        connection.execute(
            "UPDATE records SET body = CAST(replace(CAST(body AS TEXT), 'an answer', 'a lie') AS BLOB) WHERE seq=3"
        )
    for go_on in (store.recover, store.reopen):
        with pytest.raises(StoreDamaged, match="its log was changed"):
            go_on(shorter)


def test_nothing_is_recovered_of_a_run_that_lost_nothing_or_all(
    store: SqliteStore, store_path: Path, finished_run: str
) -> None:
    with pytest.raises(StoreError, match="has lost nothing"):
        store.recover(finished_run)
    with closing(sqlite3.connect(store_path)) as connection, connection:
        connection.execute("DELETE FROM records")
    with pytest.raises(RecordsLost, match="all 12 records"):
        store.recover(finished_run)
    with closing(sqlite3.connect(store_path)) as connection, connection:
        connection.execute("DELETE FROM runs")
    assert verify(store, store.find("done")).lost == 12
    store.delete(finished_run)
    assert list(store.heads.runs()) == []


def test_a_copy_that_is_restored_goes_on_from_where_it_was_made(
    store: SqliteStore, store_path: Path, tmp_path: Path, started: Started, call: Call
) -> None:
    log = store.start(started())
    for event in call(1):
        log.emit(event)
    log.close()
    with closing(sqlite3.connect(store_path)) as here, closing(sqlite3.connect(tmp_path / "copy.db")) as copy:
        here.backup(copy)
    log = store.reopen("run-1")
    for event in call(2):
        log.emit(event)
    log.emit(RunFinished(state="finished"))
    log.close()
    store.close()
    for side_file in store_path.parent.glob("runs.db-*"):
        side_file.unlink()
    shutil.copy(tmp_path / "copy.db", store_path)
    with closing(SqliteStore(store_path)) as restored:
        assert verify(restored, "run-1").ok
        restored.reopen("run-1").close()
