"""Every way a log can be changed behind the store's back, and that each is noticed."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Collection
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.extent import examples

from llm_runtime.errors import RunNotFound, StoreDamaged
from llm_runtime.events import GENESIS, CallFinished, CallStarted, RunFinished, RunStarted, chain_digest
from llm_runtime.store import SqliteStore
from llm_runtime.store.anchor import Head, SignedHead
from llm_runtime.store.signing import KeySigner
from llm_runtime.store.verify import verify

Attack = Callable[[sqlite3.Connection], object]


def tamper(path: Path, attack: Attack) -> None:
    """Do what somebody with the file and the sqlite3 program can do."""
    with closing(sqlite3.connect(path)) as connection, connection:
        attack(connection)


def renumber(connection: sqlite3.Connection, from_seq: int, by: int) -> None:
    # A record's place is in its id, and two rows may not meet on the way: far off first, then back.
    connection.execute("UPDATE records SET id = -id WHERE seq >= ?", (from_seq,))
    connection.execute("UPDATE records SET id = ? - id WHERE id < 0", (by,))


def edit(seq: int) -> Attack:
    """Say something else in record ``seq``, in the form of an event all the same."""

    def attack(c: sqlite3.Connection) -> None:
        row = c.execute("SELECT CAST(body AS TEXT) FROM records WHERE seq = ?", (seq,)).fetchone()
        body = row[0] if row else ""
        other = body.replace("answer", "answer, or not").replace('"title":"', '"title":"So, ')
        other = re.sub('"(n+)":', r'"n\1":', other.replace('"message":""', '"message":"all is well"'))
        assert other != body or not row
        c.execute("UPDATE records SET body = ? WHERE seq = ?", (other.encode(), seq))

    return attack


def delete(seq: int) -> Attack:
    return lambda c: c.execute("DELETE FROM records WHERE seq = ?", (seq,))


def delete_and_renumber(seq: int) -> Attack:
    def attack(c: sqlite3.Connection) -> None:
        delete(seq)(c)
        renumber(c, seq, -1)

    return attack


def insert(seq: int) -> Attack:
    def attack(c: sqlite3.Connection) -> None:
        renumber(c, seq, 1)
        kept = "at, ending, calls, input_tokens, output_tokens, cost, cost_unknown, unknown, body"
        c.execute(
            f"INSERT INTO records (id, digest, {kept}) SELECT id + 1, randomblob(32), {kept} "
            "FROM records WHERE seq = ?",
            (seq - 1,),
        )

    return attack


def swap(one: int, other: int) -> Attack:
    def attack(c: sqlite3.Connection) -> None:
        for before, after in ((one, 0), (other, one), (0, other)):
            c.execute("UPDATE records SET id = id - seq + ? WHERE seq = ?", (after, before))

    return attack


def sql(*statements: str) -> Attack:
    return lambda c: [c.execute(statement) for statement in statements]


def truncate(keep: int) -> Attack:
    return lambda c: c.execute("DELETE FROM records WHERE seq > ?", (keep,))


def both(one: Attack, other: Attack) -> Attack:
    return lambda c: (one(c), other(c))


def rewrite_from(seq: int) -> Attack:
    """Change record ``seq`` and compute the chain anew from there, as whoever knows the algorithm can."""

    def attack(c: sqlite3.Connection) -> None:
        edit(seq)(c)
        previous = GENESIS
        for number, at, body in c.execute("SELECT seq, at, body FROM records ORDER BY seq").fetchall():
            previous = chain_digest(previous, number, at, body)
            c.execute("UPDATE records SET digest = ? WHERE seq = ?", (previous, number))

    return attack


def found(store: SqliteStore, run_id: str, keys: Collection[bytes] = ()) -> set[tuple[int, str]]:
    verification = verify(store, run_id, keys)
    assert not verification.ok
    return {(finding.seq, finding.kind) for finding in verification.findings}


def test_an_untouched_run_verifies(store: SqliteStore, finished_run: str) -> None:
    verification = verify(store, finished_run)
    assert verification.ok and verification.intact
    assert (verification.length, verification.anchored, verification.findings) == (12, 12, ())


@pytest.mark.parametrize(
    ("attack", "seq", "kind"),
    [
        (edit(1), 1, "edited"),
        (edit(5), 5, "edited"),
        (edit(12), 12, "edited"),
        (sql("UPDATE records SET at = at + 1 WHERE seq = 5"), 5, "edited"),
        (sql("UPDATE records SET digest = zeroblob(32) WHERE seq = 5"), 5, "edited"),
        (sql("UPDATE records SET cost = 0 WHERE seq = 12"), 12, "edited"),
        (sql("UPDATE records SET ending = 'failed' WHERE seq = 12"), 12, "edited"),
        (delete(1), 1, "deleted"),
        (delete(5), 5, "deleted"),
        (delete_and_renumber(5), 5, "deleted"),
        (insert(5), 5, "inserted"),
        (swap(5, 6), 5, "reordered"),
        (swap(5, 9), 9, "reordered"),
        (truncate(11), 12, "lost"),
        (truncate(1), 2, "lost"),
        (delete(12), 12, "lost"),
        (truncate(0), 0, "emptied"),
        (sql("UPDATE runs SET title = 'Who?'"), 1, "edited"),
        (sql("UPDATE runs SET protocol = 'crux'"), 1, "edited"),
        (sql("UPDATE runs SET origin = 'demo'"), 1, "edited"),
        (sql("DELETE FROM records", "DELETE FROM runs"), 0, "emptied"),
        (rewrite_from(1), 1, "rewritten"),
        (rewrite_from(5), 5, "rewritten"),
        (both(rewrite_from(5), truncate(9)), 5, "rewritten"),
        (both(rewrite_from(5), truncate(9)), 10, "truncated"),
        (both(edit(5), truncate(9)), 10, "truncated"),
        (both(delete_and_renumber(5), truncate(9)), 10, "truncated"),
        (rewrite_from(12), 12, "rewritten"),
    ],
)
def test_every_change_is_reported_where_it_is(
    store: SqliteStore, store_path: Path, finished_run: str, attack: Attack, seq: int, kind: str
) -> None:
    tamper(store_path, attack)
    assert (seq, kind) in found(store, finished_run)


@pytest.mark.parametrize("attack", [truncate(7), truncate(1), rewrite_from(5)])
def test_the_chain_alone_does_not_see_what_the_head_sees(
    store: SqliteStore, store_path: Path, finished_run: str, attack: Attack
) -> None:
    tamper(store_path, attack)
    store.heads.remove(finished_run)
    previous = GENESIS
    for record in store.records(finished_run):
        assert record.digest == chain_digest(previous, record.seq, record.at, record.body)
        previous = record.digest
    assert {kind for _, kind in found(store, finished_run)} == {"unanchored"}


def test_the_chain_alone_does_not_see_that_all_is_gone(store: SqliteStore, store_path: Path, finished_run: str) -> None:
    tamper(store_path, sql("DELETE FROM records", "DELETE FROM runs"))
    store.heads.remove(finished_run)
    with pytest.raises(RunNotFound):
        verify(store, finished_run)


def test_a_second_change_does_not_hide_behind_the_first(
    store: SqliteStore, store_path: Path, finished_run: str
) -> None:
    tamper(store_path, lambda c: (edit(3)(c), edit(8)(c), delete(10)(c), delete(12)(c)))
    assert {(3, "edited"), (8, "edited"), (10, "deleted"), (12, "truncated")} <= found(store, finished_run)


ATTACKS: dict[str, Callable[[int], Attack]] = {
    "edit": edit,
    "delete": delete,
    "delete and renumber": delete_and_renumber,
    "insert": insert,
    "swap": lambda seq: swap(seq, seq + 3),
    "truncate": truncate,
    "rewrite": rewrite_from,
}


@settings(max_examples=examples(60))
@given(steps=st.lists(st.tuples(st.sampled_from(sorted(ATTACKS)), st.integers(2, 8)), min_size=1, max_size=3))
def test_no_series_of_changes_escapes(tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]) -> None:
    folder = tmp_path_factory.mktemp("series")
    with closing(SqliteStore(folder / "runs.db", clock=lambda: 0)) as store:
        log = store.start(RunStarted(run_id="r", protocol="crux", title="t", task={}, settings={}, seed=1))
        for number in range(11):
            log.emit(CallStarted(digest=str(number), occurrence=1, request={"n": number}))
        log.close()
        written = list(store.records("r"))
        for name, seq in steps:
            tamper(folder / "runs.db", ATTACKS[name](seq))
        # swaps may undo each other; nothing else does
        assert verify(store, "r").intact == (list(store.records("r")) == written)


@settings(max_examples=examples(60))
@given(data=st.data())
def test_no_flipped_bit_escapes(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("flip")
    with closing(SqliteStore(folder / "runs.db", clock=lambda: 0)) as store:
        log = store.start(RunStarted(run_id="r", protocol="crux", title="t", task={}, settings={}, seed=1, version="9"))
        log.emit(CallStarted(digest="d", occurrence=1, request={"n": 1}))
        log.close()
        seq = data.draw(st.integers(1, 2))
        column = data.draw(st.sampled_from(["body", "digest"]))

        def flip(c: sqlite3.Connection) -> None:
            raw = bytearray(c.execute(f"SELECT {column} FROM records WHERE seq = ?", (seq,)).fetchone()[0])
            bit = data.draw(st.integers(0, 8 * len(raw) - 1))
            raw[bit // 8] ^= 1 << bit % 8
            c.execute(f"UPDATE records SET {column} = ? WHERE seq = ?", (bytes(raw), seq))

        tamper(folder / "runs.db", flip)
        assert not verify(store, "r").intact


def test_a_run_that_is_not_closed_is_intact_and_not_yet_signed_for(
    store: SqliteStore, started: Callable[..., RunStarted], call: Callable[..., tuple[CallStarted, CallFinished]]
) -> None:
    log = store.start(started())
    verification = verify(store, "run-1")
    assert (verification.ok, verification.intact, verification.anchored) == (False, True, 0)
    log.close()
    log = store.reopen("run-1")
    log.emit(call(1)[0])
    verification = verify(store, "run-1")
    assert (verification.intact, verification.anchored) == (True, 1)
    assert found(store, "run-1") == {(2, "unanchored")}
    log.close()
    assert verify(store, "run-1").ok


def test_a_run_is_signed_for_when_it_finishes(store: SqliteStore, started: Callable[..., RunStarted]) -> None:
    log = store.start(started())
    log.emit(RunFinished(state="finished"))
    assert verify(store, "run-1").ok
    log.close()


def test_a_head_with_another_key_or_of_another_run_does_not_vouch(
    store: SqliteStore, tmp_path: Path, finished_run: str
) -> None:
    genuine, trail = store.heads.load(finished_run) or pytest.fail()
    forger = KeySigner(tmp_path / "other.key")
    store.heads.keep(finished_run, forger.sign(genuine.head), trail)
    assert found(store, finished_run) == {(1, "unanchored")}
    assert forger.public_key.hex()[:8] in str(verify(store, finished_run).findings[0])
    assert verify(store, finished_run, [forger.public_key]).ok

    elsewhere = store.heads.sign(Head("other-run", 12, genuine.head.digest), trail)
    store.heads.keep(finished_run, elsewhere, trail)
    assert (0, "bad signature") in found(store, finished_run)

    store.heads.sign(genuine.head, trail)
    assert verify(store, finished_run).ok
    assert found(store, finished_run, [forger.public_key]) == {(1, "unanchored")}


def test_a_head_of_the_first_kind_tells_that_a_log_was_rewritten_and_not_where(
    store: SqliteStore, store_path: Path, finished_run: str
) -> None:
    genuine, _ = store.heads.load(finished_run) or pytest.fail()
    store.heads.keep(finished_run, store.heads.own.sign(replace(genuine.head, trail=b"")), b"")
    assert verify(store, finished_run).ok
    tamper(store_path, rewrite_from(5))
    assert found(store, finished_run) == {(12, "rewritten")}


def test_a_head_that_its_own_key_did_not_sign_is_a_bad_signature(store: SqliteStore, finished_run: str) -> None:
    genuine, trail = store.heads.load(finished_run) or pytest.fail()
    for public_key in (genuine.public_key, bytes(32)):
        store.heads.keep(finished_run, SignedHead(genuine.head, bytes(64), public_key), trail)
        assert (0, "bad signature") in found(store, finished_run)


def test_looking_makes_no_key(store: SqliteStore, finished_run: str) -> None:
    store.heads.own.key_file.unlink()
    with closing(SqliteStore(store.path)) as keyless:
        verification = verify(keyless, finished_run)
    assert verification.intact and not verification.ok
    assert not store.heads.own.exists


@pytest.mark.parametrize("column", ["length", "digest", "trail", "signature", "name"])
def test_a_head_with_rubbish_in_it_is_reported(
    store: SqliteStore, store_path: Path, finished_run: str, column: str
) -> None:
    rubbish = {"length": "-1", "name": "char(0)"}.get(column, "x'00ff'")
    tamper(store_path, sql(f"UPDATE heads SET {column} = {rubbish}"))
    assert (0, "bad signature") in found(store, finished_run)


@pytest.mark.parametrize("attack", [edit(5), rewrite_from(5), both(rewrite_from(2), truncate(3))])
def test_a_changed_run_is_not_gone_on_with(
    store: SqliteStore, store_path: Path, finished_run: str, attack: Attack
) -> None:
    tamper(store_path, attack)
    with pytest.raises(StoreDamaged, match="cannot go on"):
        store.reopen(finished_run)
    assert store.summary(finished_run).state != "running"


def test_the_key_is_made_once_and_only_its_owner_reads_it(store: SqliteStore, finished_run: str) -> None:
    key_file = store.heads.own.key_file
    assert key_file.stat().st_mode & 0o777 == 0o600
    assert KeySigner(key_file).public_key == store.heads.signer.public_key
    key_file.write_text("not a key")
    with pytest.raises(StoreDamaged, match=r"signing\.key"):
        _ = KeySigner(key_file).public_key
