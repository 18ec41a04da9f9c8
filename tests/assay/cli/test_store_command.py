"""`assay store`: a store is copied, checked, pruned and made smaller while it is in use."""

from __future__ import annotations

import io
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.llm_runtime.store.postgres_server import PostgresServer

from llm_runtime.events import CallStarted, RunFinished, RunStarted
from llm_runtime.store import SqliteStore
from llm_runtime.store.transfer import export_run, import_run
from llm_runtime.testing import LoopbackServer

Assay = Any


@pytest.fixture
async def kept(assay: Assay) -> str:
    """A finished council in the user's store."""
    done = await assay("demo", "--speed", "0", "-q")
    assert done.code == 0, done.err
    return (await assay("runs", "list", "--json")).json["runs"][0]["run_id"]


@pytest.fixture
def open_run(tmp_path: Path, kept: str) -> Iterator[SqliteStore]:
    """The user's store in a process that writes a run, last long ago."""
    ticks = iter(range(1, 1000))
    with closing(SqliteStore(tmp_path / "data/runs.db", clock=lambda: next(ticks))) as store:
        log = store.start(RunStarted(run_id="busy", protocol="p", title="t", task={}, settings={}, seed=1))
        log.emit(CallStarted(digest="d", occurrence=1, request={}))
        yield store


async def test_a_copy_made_in_use_is_a_whole_store(
    assay: Assay, kept: str, open_run: SqliteStore, tmp_path: Path
) -> None:
    done = await assay("store", "backup", "copies/monday.db")
    assert done.code == 0, done.err
    for store in ({}, {"ASSAY_STORE": "copies/monday.db"}):
        listed = (await assay("runs", "list", "--json", **store)).json["runs"]
        assert [(run["run_id"], run["state"]) for run in listed] == [
            (kept, "finished"),
            ("busy", "interrupted" if store else "running"),
        ]
    key = open_run.heads.signer.public_key.hex()
    verified = await assay("store", "verify", "--all", "--key", key, "--store", "copies/monday.db")
    assert verified.code == 0 and "2 runs: 1 not signed yet, 1 signed" in verified.out


async def test_a_copy_over_anything_is_one_line(assay: Assay, kept: str, tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(tmp_path / "data/runs.db")
    os.link(tmp_path / "data/runs.db", tmp_path / "twin.db")
    for target in ("data/runs.db", "link.db", "twin.db", ".", "data/signing.key"):
        done = await assay("store", "backup", target)
        assert done.code == 2 and len(done.err.splitlines()) == 1 and target in done.err
    assert (await assay("store", "backup", "data/runs.db/x")).code == 5
    assert (await assay("runs", "verify", "--all")).code == 0


async def test_batches_are_copied_with_their_store(assay: Assay, kept: str, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "data/runs-batches.db")) as beside, beside:
        beside.execute("CREATE TABLE purses (purse TEXT, spent INTEGER)")
        beside.execute("INSERT INTO purses VALUES ('team', 12)")
    assert (await assay("store", "backup", "copy.db")).code == 0
    with closing(sqlite3.connect(tmp_path / "copy-batches.db")) as copy:
        assert copy.execute("SELECT * FROM purses").fetchall() == [("team", 12)]


@pytest.mark.postgres
async def test_a_store_goes_to_postgresql_and_back(assay: Assay, kept: str, tmp_path: Path) -> None:
    server = PostgresServer()
    try:
        url = server.new_database("copied")
        assert "copied 1 run\n" in (await assay("store", "backup", url)).err
        assert "copied 0 runs" in (await assay("store", "backup", url)).err
        assert (await assay("store", "backup", url, "--store", url)).code == 2
        key = (await assay("runs", "verify", "--all", "--store", url, "--json")).json["other_keys"][0]
        assert (await assay("runs", "verify", "--all", "--store", url, "--key", key)).code == 0
        assert (await assay("store", "compact", "--store", url)).code == 0
        assert (await assay("store", "backup", "back.db", "--store", url)).code == 0
        assert (await assay("store", "prune", "--older", "0h", "--yes", "--store", url)).code == 0
        assert "none yet" in (await assay("store", "doctor", "--store", url)).out
    finally:
        server.remove()
    assert (await assay("runs", "verify", kept, "--store", "back.db", "--key", key)).code == 0


async def test_old_runs_go_and_those_under_way_or_with_a_tag_stay(
    assay: Assay, kept: str, open_run: SqliteStore
) -> None:
    old = open_run.start(RunStarted(run_id="old", protocol="p", title="t", task={}, settings={}, seed=1))
    old.emit(RunFinished(state="finished"))
    old.close()
    for arguments in (("--older", "soon"), ("--older", "9d", "--keep", "nobody")):
        assert (await assay("store", "prune", *arguments)).code == 2
    assert (await assay("runs", "tag", "old", "paper")).out == "run old: paper\n"
    spared = await assay("store", "prune", "--older", "90d", "--keep", "paper", "--yes")
    assert spared.code == 0 and "1 runs are that old and under way; they stay" in spared.err
    assert (await assay("runs", "tag", "old", "--remove", "paper")).out == "run old: no tags\n"
    assert (await assay("store", "prune", "--older", "90d", stdin="n\n")).code == 130
    listed = await assay("store", "prune", "--older", "90d", "--dry-run")
    assert listed.out.split() == ["old", "t"]
    assert "deleted 1 run\n" in (await assay("store", "prune", "--older", "90d", "--yes")).err
    assert {run.run_id for run in open_run.runs()} == {kept, "busy"}
    assert (await assay("runs", "verify", "--all")).code == 0


async def test_what_an_older_version_wrote_becomes_smaller_and_stays_the_same(
    assay: Assay, kept: str, tmp_path: Path
) -> None:
    place = tmp_path / "data/runs.db"
    with closing(SqliteStore(place)) as store:
        records = list(store.records(kept))
        for record in records:
            store.writer.execute("UPDATE records SET body = ? WHERE seq = ?", (record.body, record.seq))
        plain = store.size()
    done = await assay("store", "compact")
    assert done.code == 0
    with closing(SqliteStore(place)) as store:
        assert list(store.records(kept)) == records
        assert store.size() < plain / 2
    assert "1 runs: 1 signed" in (await assay("runs", "verify", "--all")).out


async def test_a_council_of_fifteen_calls_takes_at_most_45_kilobytes(kept: str, tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "data/runs.db")) as store:
        file, before = io.BytesIO(), 0
        export_run(store, kept, file)
        for number in range(12):
            file.seek(0)
            import_run(store, file, as_id=f"copy-{number}")
            if number == 1:
                store.give_back()
                before = store.size()
        store.give_back()
        assert store.summary(kept).calls == 15 and (store.size() - before) / 10 < 45_000


async def test_the_doctor_says_what_is_damaged_lost_and_signed_by_two(
    assay: Assay, kept: str, server: LoopbackServer, tmp_path: Path
) -> None:
    assert (await assay("ask", "Which database?", "-q", server=server, ASSAY_SIGNING_KEY="07" * 32)).code == 0
    done = await assay("store", "doctor")
    assert done.code == 0 and "signers" in done.out and "(1 run)" in done.out and "2 finished" in done.out
    with closing(sqlite3.connect(tmp_path / "data/runs.db")) as connection, connection:
        connection.execute("DELETE FROM runs WHERE run_id = ?", (kept,))
    lost = await assay("store", "doctor")
    assert lost.code == 1 and f"run {kept} is gone" in lost.out
    raw = bytearray((tmp_path / "data/runs.db").read_bytes())
    raw[len(raw) // 2 : len(raw) // 2 + 20_000] = b"\xff" * 20_000
    (tmp_path / "data/runs.db").write_bytes(raw)
    damaged = await assay("store", "verify", "--all")
    assert damaged.code in (1, 5) and "Traceback" not in damaged.err
    assert (await assay("store", "doctor")).code == 1


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:secret@localhost:1:bad/db",
        "postgresql://u:secret@127.0.0.1:99999/db",
        "postgresql://u:secret@127.0.0.1:port/db",
        "postgresql://u:secret@[bad/db",
        "postgresql://u:secret@127.0.0.1:1/db?nonsense=1",
        "mysql://u:secret@h/db",
    ],
)
async def test_an_address_that_leads_nowhere_is_one_line(assay: Assay, url: str) -> None:
    done = await assay("runs", "list", "--store", url)
    assert done.code in (2, 5) and len(done.err.splitlines()) == 1 and ";" in done.err and "secret" not in done.err


async def test_a_store_that_is_not_there_is_neither_sound_nor_made(assay: Assay, tmp_path: Path) -> None:
    for command in (("store", "verify"), ("runs", "list"), ("runs", "verify", "latest")):
        done = await assay(*command, "--store", "typo.db")
        assert done.code == 2 and "there is no store at typo.db" in done.err, done.err
    assert not (tmp_path / "typo.db").exists()


async def test_a_report_that_would_lie_where_a_folder_lies_is_refused_before_the_run(
    assay: Assay, tmp_path: Path
) -> None:
    (tmp_path / "r.html").mkdir()
    done = await assay("ask", "Is it?", "--model", "http://127.0.0.1:1/v1#m", "--out", "r.html")
    assert done.code == 2 and "it is a folder" in done.err, done.err
