"""Stores that earlier versions wrote open as they are: ``first_release`` is what version 0.1.0 left on a disk."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from filelock import FileLock

from llm_runtime.errors import RecordsLost, StoreBusy, StoreError
from llm_runtime.events import CallFinished, CallStarted, RunFinished
from llm_runtime.store import SqliteStore
from llm_runtime.store.postgres import PostgresStore
from llm_runtime.store.verify import verify

Call = Callable[..., tuple[CallStarted, CallFinished]]

FIRST = Path(__file__).with_name("first_release")
RUNS = ("finished-run", "interrupted-run")


@pytest.fixture
def first(tmp_path: Path) -> Path:
    """The folder of a store of the first release."""
    folder = tmp_path / "first"
    shutil.copytree(FIRST, folder)
    with closing(sqlite3.connect(folder / "runs.db")) as made:
        made.executescript((folder / "runs.sql").read_text())
    (folder / "locks").mkdir()
    for run in RUNS:
        (folder / f"locks/{run}.lock").touch()
    return folder


def signed_by(store: SqliteStore) -> bytes:
    signed, _ = store.heads.load("finished-run") or pytest.fail()
    return signed.public_key


def test_a_store_of_the_first_release_opens_and_goes_on(first: Path, call: Call) -> None:
    with closing(SqliteStore(first / "runs.db")) as store:
        keys = [signed_by(store)]
        assert {run.run_id: (run.state, run.calls) for run in store.runs()} == {
            "finished-run": ("finished", 3),
            "interrupted-run": ("interrupted", 3),
        }
        assert verify(store, "finished-run", keys).ok
        assert verify(store, "interrupted-run", keys).anchored == 7
        log = store.reopen("interrupted-run")
        for event in call(3):
            log.emit(event)
        log.emit(RunFinished(state="finished"))
        log.close()
        assert verify(store, "interrupted-run").ok
    assert not list(first.glob("heads/*")) and not list(first.glob("locks/*"))
    with closing(SqliteStore(first / "runs.db")) as again:
        assert verify(again, "finished-run", keys).ok


@pytest.mark.needs("setpriv")
@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="becoming an ordinary user takes root")
def test_a_store_of_the_first_release_that_cannot_be_written_is_read(first: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from llm_runtime.store import SqliteStore\n"
        "from llm_runtime.store.verify import verify\n"
        "store = SqliteStore(Path(sys.argv[1]))\n"
        "print([(run.run_id, verify(store, run.run_id).intact) for run in store.runs()])\n"
    )
    ordinary = ["setpriv", "--reuid", "1234", "--regid", "1234", "--clear-groups"]
    # Not below tmp_path, which belongs to root alone.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "first"
        shutil.copytree(first, folder)
        for place in (Path(name), folder, *folder.rglob("*")):
            place.chmod(0o555 if place.is_dir() else 0o444)
        command = [*ordinary, sys.executable, "-c", program, str(folder / "runs.db")]
        child = subprocess.run(command, capture_output=True, text=True, check=False)
        assert child.stdout.strip() == "[('interrupted-run', True), ('finished-run', True)]", child.stderr
        assert len(list(folder.glob("heads/*.json"))) == 2


def test_a_power_cut_under_the_first_release_is_a_loss(first: Path) -> None:
    with closing(sqlite3.connect(first / "runs.db")) as cut, cut:
        cut.execute("DELETE FROM records WHERE run = 1 AND seq > 4")
    with closing(SqliteStore(first / "runs.db")) as store:
        assert verify(store, "finished-run").lost == 4
        with pytest.raises(RecordsLost):
            store.reopen("finished-run")
        store.recover("finished-run")
        assert verify(store, "finished-run").ok


def test_a_store_that_an_older_version_writes_now_is_left_alone(first: Path) -> None:
    with FileLock(first / "locks/interrupted-run.lock"), pytest.raises(StoreBusy, match="by an older version"):
        SqliteStore(first / "runs.db")
    with closing(SqliteStore(first / "runs.db")) as store:
        assert len(store.runs()) == 2


def test_heads_that_lay_on_this_machine_move_into_the_database(postgres_url: str, first: Path, tmp_path: Path) -> None:
    with closing(PostgresStore(postgres_url)) as store, closing(SqliteStore(first / "runs.db")) as old:
        store.adopt("finished-run", old.records("finished-run"))
        folder = store.heads.own.key_file.parent / "heads"
    shutil.copytree(FIRST / "heads", folder)
    with closing(PostgresStore(postgres_url)) as store:
        signed, _ = store.heads.load("finished-run") or pytest.fail()
        assert verify(store, "finished-run", [signed.public_key]).ok
    assert [file.stem for file in folder.iterdir()] == ["interrupted-run"]


def test_a_store_of_a_later_version_is_refused_on_both(store: SqliteStore, store_path: Path, postgres_url: str) -> None:
    with closing(PostgresStore(postgres_url)) as later:
        later.writer.execute("INSERT INTO run_migrations VALUES (99, 'of a later version')")
    with pytest.raises(StoreError, match="newer version"):
        PostgresStore(postgres_url)
