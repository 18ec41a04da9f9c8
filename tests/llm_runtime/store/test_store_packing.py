"""What a run says again is stored once, and reads as it was written: from any place, and after any change."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.extent import examples

from llm_runtime.errors import StoreError
from llm_runtime.events import CallFinished, CallStarted, RunStarted, UnknownEvent
from llm_runtime.store import RunStore, SqliteStore
from llm_runtime.store.packing import Packer, Unpacker
from llm_runtime.store.verify import verify

Started = Callable[..., RunStarted]
Call = Callable[..., tuple[CallStarted, CallFinished]]

PROMPT = " ".join(f"rule {number}: say what you know, and how;" for number in range(300))


def bodies(store: RunStore, run_id: str) -> list[bytes]:
    return [record.body for record in store.records(run_id)]


def talk(store: RunStore, started: Started, call: Call, calls: int = 60) -> list[bytes]:
    """A run whose requests repeat each other; long enough for several streams."""
    log = store.start(started())
    written: list[bytes] = []
    for number in range(calls):
        _, finished = call(number, text=f"{PROMPT} That is {number}.")
        request = {"n": number, "system": PROMPT, "history": [f"That is {n}." for n in range(number)]}
        for event in (CallStarted(request=request, digest=f"{number:064x}", occurrence=1), finished):
            log.emit(event)
            written.append(event.canonical())
    log.close()
    return written


def test_what_repeats_is_stored_once_and_reads_as_it_was(any_store: RunStore, started: Started, call: Call) -> None:
    written = talk(any_store, started, call)
    assert bodies(any_store, "run-1")[1:] == written
    assert verify(any_store, "run-1").ok
    stored = any_store.reader.execute("SELECT sum(length(body)) FROM records")[0][0]
    assert stored < sum(map(len, written)) / 20


def test_a_run_that_an_older_version_packed_is_read_and_gone_on_with(
    store: SqliteStore, started: Started, call: Call
) -> None:
    written = talk(store, started, call, calls=4)
    deflate = zlib.compressobj(5, zlib.DEFLATED, -zlib.MAX_WBITS)
    mark = b"\x01"
    for seq, body in enumerate(written, start=2):
        if len(body) >= 512:
            packed = deflate.compress(body) + deflate.flush(zlib.Z_SYNC_FLUSH)
            store.writer.execute("UPDATE records SET body = ? WHERE id & 4294967295 = ?", (mark + packed[:-4], seq))
            mark = b"\x02"
    log = store.reopen("run-1")
    event = UnknownEvent(name="any", data={"text": PROMPT})
    log.emit(event)
    log.close()
    assert bodies(store, "run-1")[1:] == [*written, event.canonical()] and verify(store, "run-1").ok
    assert [record.body for record in store.records("run-1", after=len(written), limit=1)] == [written[-1]]
    assert store.repack("run-1") > 0 and verify(store, "run-1").ok


def test_what_unpacks_into_more_than_any_event_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = Packer().pack(b"{" + b"0" * 2**20)
    assert Unpacker().unpack(stored) == b"{" + b"0" * 2**20
    monkeypatch.setattr("llm_runtime.store.packing._MOST", 2**19)
    assert Unpacker().unpack(stored) == stored


def test_a_reader_may_begin_anywhere(any_store: RunStore, started: Started, call: Call) -> None:
    whole = [RunStarted, *talk(any_store, started, call)]
    for after in range(0, len(whole), 7):
        (record,) = any_store.records("run-1", after=after, limit=1)
        assert record.seq == after + 1
        assert after == 0 or record.body == whole[after]


def test_a_run_that_goes_on_begins_a_stream_of_its_own(any_store: RunStore, started: Started, call: Call) -> None:
    written = talk(any_store, started, call, calls=2)
    for number in range(3):
        log = any_store.reopen("run-1")
        event = UnknownEvent(name="any", data={"n": number, "text": PROMPT})
        log.emit(event)
        written.append(event.canonical())
        log.close()
    assert bodies(any_store, "run-1")[1:] == written
    assert verify(any_store, "run-1").ok


def test_after_a_write_that_failed_what_follows_refers_to_nothing_of_it(
    store: SqliteStore, store_path: Path, started: Started
) -> None:
    log = store.start(started())
    texts = [f"{PROMPT} {number}" for number in range(4)]
    store.writer.execute("PRAGMA busy_timeout = 0")
    for number, text in enumerate(texts):
        event = UnknownEvent(name="any", data={"text": text})
        if number % 2:
            with closing(sqlite3.connect(store_path, isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                with pytest.raises(StoreError):
                    log.emit(event)
        log.emit(event)
    log.close()
    assert [event.data["text"] for _, event in store.events("run-1", after=1) if isinstance(event, UnknownEvent)] == (
        texts
    )
    assert verify(store, "run-1").ok


@settings(max_examples=examples(60))
@given(data=st.data())
def test_no_flipped_bit_of_a_packed_body_escapes(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("packed")
    ticks = count()
    with closing(SqliteStore(folder / "runs.db", clock=lambda: next(ticks))) as store:
        log = store.start(RunStarted(run_id="r", protocol="p", title="t", task={}, settings={}, seed=1))
        for number in range(4):
            log.emit(UnknownEvent(name="any", data={"n": number, "text": PROMPT}))
        log.close()
        seq = data.draw(st.integers(2, 5))
        with closing(sqlite3.connect(store.path)) as c, c:
            raw = bytearray(c.execute("SELECT body FROM records WHERE seq = ?", (seq,)).fetchone()[0])
            bit = data.draw(st.integers(0, 8 * len(raw) - 1))
            raw[bit // 8] ^= 1 << bit % 8
            c.execute("UPDATE records SET body = ? WHERE seq = ?", (bytes(raw), seq))
        verification = verify(store, "r")
        # Some bits of a packed body say nothing: what is read is then what was written.
        same = [record.body for record in store.records("r")] == list(_as_written(verification.length))
        assert verification.intact == same
        assert verification.intact or verification.findings[0].seq <= seq


def _as_written(length: int) -> Iterator[bytes]:
    yield RunStarted(run_id="r", protocol="p", title="t", task={}, settings={}, seed=1).canonical()
    for number in range(length - 1):
        yield UnknownEvent(name="any", data={"n": number, "text": PROMPT}).canonical()
