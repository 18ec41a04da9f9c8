"""Disks fill up, folders are read-only, files are not what they seem: one line each, and nothing lost."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from tests.extent import PATIENCE
from tests.llm_runtime.store.postgres_server import PostgresServer

from llm_runtime.errors import StoreBusy, StoreDamaged, StoreError, StoreUnwritable
from llm_runtime.events import CallFinished, CallStarted, RunStarted, UnknownEvent
from llm_runtime.store import SqliteStore
from llm_runtime.store.postgres import PostgresStore
from llm_runtime.store.postgres_connection import PostgresDatabase
from llm_runtime.store.verify import verify

Started = Callable[..., RunStarted]
Call = Callable[..., tuple[CallStarted, CallFinished]]


def one_line(error: BaseException, path: Path) -> bool:
    text = str(error)
    return str(path) in text and "\n" not in text and ";" in text


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    path = tmp_path / "file" / "runs.db"
    with pytest.raises(StoreUnwritable) as caught:
        SqliteStore(path)
    assert one_line(caught.value, path)


def test_a_folder_in_place_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(StoreUnwritable) as caught:
        SqliteStore(tmp_path)
    assert one_line(caught.value, tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes to read-only folders")
def test_a_read_only_folder(tmp_path: Path) -> None:
    folder = tmp_path / "shut"
    folder.mkdir(mode=0o500)
    with pytest.raises(StoreUnwritable) as caught:
        SqliteStore(folder / "runs.db")
    assert one_line(caught.value, folder / "runs.db")


READ = """
import io, sys
from pathlib import Path
from llm_runtime.errors import StoreUnwritable
from llm_runtime.events import RunStarted
from llm_runtime.store import SqliteStore
from llm_runtime.store.transfer import export_run, import_run
from llm_runtime.store.verify import verify

store = SqliteStore(Path(sys.argv[1]))
run_id = store.find("latest")
out = io.BytesIO()
print(len(store.runs()), store.summary(run_id).events, export_run(store, run_id, out), verify(store, run_id).ok)
out.seek(0)
for write in (
    lambda: store.start(RunStarted(run_id="n", protocol="p", title="t", task={}, settings={}, seed=1)),
    lambda: store.reopen(run_id),
    lambda: store.delete(run_id),
    lambda: import_run(store, out, as_id="copy"),
):
    try:
        write()
    except StoreUnwritable as shut:
        print(shut)
store.close()
"""


@pytest.mark.needs("setpriv")
@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="becoming an ordinary user takes root")
@pytest.mark.parametrize("written_meanwhile", [False, True])
def test_a_store_that_cannot_be_written_is_read(started: Started, call: Call, written_meanwhile: bool) -> None:
    # Not below tmp_path, which belongs to root alone.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "odd name?#%20"
        path = folder / "runs.db"
        with closing(SqliteStore(path)) as store:
            log = store.start(started())
            for event in call(1):
                log.emit(event)
            log.close()
            if not written_meanwhile:
                store.close()
            assert Path(f"{path}-wal").exists() == written_meanwhile
            for place in (Path(name), *Path(name).rglob("*")):
                os.chown(place, 1234, 1234)
                place.chmod(0o500 if place.is_dir() else 0o400)
            ordinary = ["setpriv", "--reuid", "1234", "--regid", "1234", "--clear-groups"]
            child = subprocess.run(
                [*ordinary, sys.executable, "-c", READ, str(path)], capture_output=True, text=True, timeout=PATIENCE
            )
        assert child.stderr == ""
        seen, *refusals = child.stdout.splitlines()
        assert seen == "1 3 3 True"
        assert len(refusals) == 4
        assert all(str(folder) in refusal and "writable" in refusal for refusal in refusals)


def test_a_key_that_cannot_sign(store: SqliteStore, started: Started) -> None:
    log = store.start(started())
    store.heads.own.key_file.mkdir()
    with pytest.raises(StoreUnwritable, match="make it readable"):
        log.close()
    store.heads.own.key_file.rmdir()
    # the run was let go all the same, and loses nothing but its signature until it is closed again
    assert store.summary("run-1").state == "interrupted"
    store.reopen("run-1").close()
    assert verify(store, "run-1").ok


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Dear diary, " * 500)
    with pytest.raises(StoreDamaged, match="not a run store") as caught:
        SqliteStore(path)
    assert one_line(caught.value, path)
    assert path.read_text().startswith("Dear diary")


def test_a_database_of_another_program(tmp_path: Path) -> None:
    path = tmp_path / "places.sqlite"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE bookmarks (url)")
    with pytest.raises(StoreDamaged, match="another program"):
        SqliteStore(path)


def test_a_store_of_a_newer_version(store: SqliteStore, store_path: Path) -> None:
    with closing(sqlite3.connect(store_path)) as newer:
        newer.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreError, match="newer version") as caught:
        SqliteStore(store_path)
    assert one_line(caught.value, store_path)


def test_opening_twice_migrates_once(store: SqliteStore, store_path: Path, finished_run: str) -> None:
    with closing(SqliteStore(store_path)) as again:
        assert again.find("latest") == finished_run


def test_a_damaged_page(store: SqliteStore, store_path: Path, started: Started, call: Call) -> None:
    log = store.start(started())
    for number in range(800):
        log.emit(call(number)[0])
    log.close()
    store.close()
    raw = bytearray(store_path.read_bytes())
    middle = len(raw) // 2 // 8192 * 8192
    raw[middle : middle + 8192] = b"\xff" * 8192
    store_path.write_bytes(raw)
    with closing(SqliteStore(store_path)) as damaged, pytest.raises(StoreDamaged) as caught:
        for _ in damaged.events("run-1"):
            pass
    assert one_line(caught.value, store_path)


def test_another_program_that_locks_the_file(
    store: SqliteStore, store_path: Path, started: Started, call: Call
) -> None:
    log = store.start(started())
    # As long as a server that is away is waited for.
    assert store.writer.execute("PRAGMA busy_timeout") == [(30_000,)]
    store.writer.execute("PRAGMA busy_timeout = 0")
    with closing(sqlite3.connect(store_path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy) as caught:
            log.emit(call(1)[0])
        assert one_line(caught.value, store_path)
        other.execute("ROLLBACK")
    log.emit(call(1)[0])
    log.close()
    assert verify(store, "run-1").ok


def test_a_run_deleted_under_its_writer(store: SqliteStore, store_path: Path, started: Started, call: Call) -> None:
    log = store.start(started())
    with closing(sqlite3.connect(store_path)) as other, other:
        other.execute("DELETE FROM runs")
    with pytest.raises(StoreBusy, match="deleted"):
        log.emit(call(1)[0])


FILL = """
import resource, sys
from pathlib import Path
from llm_runtime.errors import StoreUnwritable
from llm_runtime.events import RunStarted, UnknownEvent
from llm_runtime.store import SqliteStore

store = SqliteStore(Path(sys.argv[1]))
log = store.start(RunStarted(run_id="full", protocol="p", title="t", task={}, settings={}, seed=1))
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
try:
    while True:
        log.emit(UnknownEvent(name="filler", data={"text": "x" * 3000}))
except StoreUnwritable as full:
    print(log.length)
    print(full)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
log.emit(UnknownEvent(name="after", data={}))
log.close()
store.close()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the limit on file sizes is a Unix one")
def test_a_full_disk(store_path: Path) -> None:
    child = subprocess.run(
        [sys.executable, "-c", FILL, str(store_path)], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    length, message = child.stdout.splitlines()
    assert str(store_path) in message
    with closing(SqliteStore(store_path)) as store:
        # every event that was acknowledged is there, the refused one is not, and the run went on afterwards
        assert store.summary("full").events == int(length) + 1
        assert verify(store, "full").ok


@pytest.mark.postgres
def test_what_a_server_that_falls_had_not_flushed_is_put_again(started: Started, call: Call) -> None:
    """Nobody pays for the start of a call, so it is not flushed; the answer after it leaves no gap all the same."""
    server = PostgresServer(lazy=True)
    try:
        with closing(PostgresStore(server.url())) as store:
            logs = [store.start(started(f"run-{n}")) for n in range(3)]
            for n, log in enumerate(logs):
                log.emit(call(n)[0])
            server.kill()
            server.start()
            for n, log in enumerate(logs):
                log.emit(call(n)[1])
                log.close()
            assert [len([*store.records(log.run_id)]) for log in logs] == [3] * 3
            assert all(verify(store, log.run_id).ok for log in logs)
    finally:
        server.remove()


@pytest.mark.postgres
def test_a_run_begins_goes_on_and_ends_though_the_server_falls_before_each(started: Started, call: Call) -> None:
    server = PostgresServer()

    def fall() -> None:
        server.kill()
        server.start()

    try:
        with closing(PostgresStore(server.url())) as store:
            store.start(started("before")).close()
            fall()
            log = store.start(started("run"))
            fall()
            log.emit(call(1)[0])
            fall()
            log.close()
            fall()
            log = store.reopen("run")
            fall()
            log.close()
            assert verify(store, "run").ok and len([*store.records("run")]) == 2
            fall()
            store.reopen("run").close()
    finally:
        server.remove()


def test_a_store_that_is_moved_under_a_run_says_so_and_no_key_is_made_where_it_was(
    store: SqliteStore, store_path: Path, started: Started, call: Call
) -> None:
    log = store.start(started())
    log.emit(call(1)[0])
    moved = store_path.parent.rename(store_path.parent.with_name("moved"))
    log.emit(call(1)[1])
    with pytest.raises(StoreUnwritable, match=r"was moved away under a run, .* move it back$") as told:
        log.close()
    assert told.value.exit_code == 5 and "\n" not in str(told.value) and not store_path.parent.exists()
    store.close()
    with closing(SqliteStore(moved / store_path.name)) as there:
        assert len(list(there.records("run-1"))) == 3


def test_a_folder_is_no_store_and_an_empty_file_is_an_empty_one(tmp_path: Path) -> None:
    with pytest.raises(StoreUnwritable, match=r"name a file \(no folder\) that is writable$"):
        SqliteStore(tmp_path)
    # As SQLite has it: mktemp leaves one, and so does a first start that was killed.
    (tmp_path / "empty").touch()
    with closing(SqliteStore(tmp_path / "empty")) as made:
        assert made.runs() == []


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store waits for a server that is away no time at all, in place of half a minute."""
    impatiently = partial(PostgresDatabase, patience=0.0)
    monkeypatch.setattr("llm_runtime.store.postgres.PostgresDatabase", impatiently)


@pytest.mark.postgres
@pytest.mark.usefixtures("impatient")
def test_what_is_tried_again_while_the_server_is_away_is_there_once(started: Started, call: Call) -> None:
    server = PostgresServer()
    try:
        with closing(PostgresStore(server.url())) as store:
            log = store.start(started("run"))
            log.emit(call(1)[0])
            server.kill()
            for event in (call(1)[1], call(1)[1], call(2)[0]):
                with pytest.raises(StoreUnwritable):
                    log.emit(event)
            server.start()
            store.owner.beat()
            log.emit(call(1)[1])
            log.close()
            assert len([*store.records("run")]) == 3 and verify(store, "run").ok
    finally:
        server.remove()


@pytest.mark.postgres
@pytest.mark.usefixtures("impatient")
async def test_an_answer_is_kept_though_those_before_it_could_not_be_written(started: Started, call: Call) -> None:
    server = PostgresServer()
    try:
        with closing(PostgresStore(server.url())) as store:
            log = store.start(started("run"))
            for event in (call(1)[0], call(2)[0]):
                await log.emit(event)
            server.kill()
            # What nobody waits for is written late; its fault is told to the next that emits.
            count = 3
            with pytest.raises(StoreUnwritable):
                while True:
                    count += 1
                    log.emit(UnknownEvent(name="said", data={}))
                    await asyncio.sleep(0)
            server.start()
            await log.aclose()
            assert len([*store.records("run")]) == count and verify(store, "run").ok
    finally:
        server.remove()
