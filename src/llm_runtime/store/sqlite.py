"""The run store in one SQLite file: appends are atomic, readers follow while a run writes."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, cast

from llm_runtime.clock import now_ms
from llm_runtime.errors import RunNotFound, StoreDamaged, StoreError, StoreUnwritable
from llm_runtime.events import GENESIS, Event, Record, RunStarted, link
from llm_runtime.store.anchor import Head, Heads
from llm_runtime.store.committing import Committer, Overtaken, Row
from llm_runtime.store.faults import explained
from llm_runtime.store.ids import valid_run_id
from llm_runtime.store.interface import RunState, RunSummary
from llm_runtime.store.lock import RunLocks
from llm_runtime.store.reading import read_event
from llm_runtime.store.run_log import BatchingLog, record_row
from llm_runtime.store.schema import insert_records, migrate, read_as_newest, record_id
from llm_runtime.store.tally import Tally, counts
from llm_runtime.store.verify import verify

_BATCH = 256
_BUSY_S = 5.0

_SUMMARY = """
    SELECT r.run, r.run_id, r.protocol, r.title, r.origin, r.parent, r.started_at,
           l.at, l.seq, l.ending, l.calls, l.input_tokens, l.output_tokens, l.cost, l.cost_unknown, l.unknown
    FROM runs r LEFT JOIN records l
        ON l.id = (SELECT max(id) FROM records WHERE id BETWEEN r.run << 32 AND (r.run + 1 << 32) - 1)
"""


class SqliteStore:
    """A :class:`~llm_runtime.store.interface.RunStore` in a SQLite file in WAL mode.

    Beside the file stand ``heads/`` (signed heads), ``locks/`` and ``signing.key``. Reading is safe from any
    thread; a log belongs to the thread that uses it. A file that is there and cannot be opened for writing is
    opened for reading; whatever writes then raises :class:`~llm_runtime.errors.StoreUnwritable`.

    Args:
        path: the file; it and its folder are made where they are missing.
        clock: milliseconds since the Unix epoch, for the time of each record.
        heads: where heads are kept, if not beside the file.

    Raises:
        StoreUnwritable, StoreDamaged, StoreBusy: it cannot be opened; the message says what to do.
        StoreError: it was written by a newer version.
    """

    def __init__(self, path: Path, *, clock: Callable[[], int] = now_ms, heads: Heads | None = None) -> None:
        self.path = path
        self._clock = clock
        self._heads = heads or Heads(path.parent / "heads", path.parent / "signing.key")
        self._locks = RunLocks(path.parent / "locks")
        self._logs: dict[str, BatchingLog] = {}
        self._committer = Committer(self._append)
        # One connection writes and one reads: a reader never sees a transaction that is still open.
        self._writing = threading.Lock()
        self._unwritable = ""
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not path.exists():
                # SQLite gives its side files the mode of the file itself: prompts are their owner's alone.
                path.touch(mode=0o600)
        except OSError as fault:
            raise StoreUnwritable(
                f"the run store {path} cannot be made: {fault.strerror}; name another place"
            ) from None
        self._writer = self._connect()
        self._reader = self._connect()

    @property
    def heads(self) -> Heads:
        return self._heads

    def start(self, started: RunStarted) -> BatchingLog:
        run_id = started.run_id
        if not valid_run_id(run_id):
            raise ValueError(f"not a run id: {run_id[:80]!r}; 1 to 64 of a-z 0-9 _ -")
        self._check_writable()
        lock = self._locks.take(run_id)
        try:
            record, tally = link(GENESIS, 1, self._clock(), started), Tally()
            with self._transaction() as connection:
                run = self._insert_run(connection, run_id, started, record.at)
                insert_records(connection, [record_row(run, record, tally)])
            return self._log(run, run_id, record.seq, record.digest, tally, lock.release)
        except BaseException:
            lock.release()
            raise

    def reopen(self, run_id: str) -> BatchingLog:
        run = self._run(run_id)
        self._check_writable()
        lock = self._locks.take(run_id)
        try:
            verification = verify(self, run_id)
            if not verification.intact:
                broken = next(finding for finding in verification.findings if finding.kind != "unanchored")
                raise StoreDamaged(f"run {run_id} cannot go on, its log was changed ({broken}); start a new run")
            with explained(self.path):
                row = self._reader.execute(
                    "SELECT seq, digest, ending, calls, input_tokens, output_tokens, cost, cost_unknown, unknown "
                    "FROM records WHERE id < ? ORDER BY id DESC LIMIT 1",
                    (record_id(run + 1, 0),),
                ).fetchone()
            seq, digest, ending, calls, tokens_in, tokens_out, cost, unpriced, unknown = row
            tally = Tally(ending, calls, tokens_in, tokens_out, cost, bool(unpriced), unknown)
            return self._log(run, run_id, seq, digest, tally, lock.release)
        except BaseException:
            lock.release()
            raise

    def runs(
        self,
        *,
        protocol: str | Sequence[str] | None = None,
        search: str | None = None,
        state: RunState | None = None,
        limit: int = 50,
        before: str | None = None,
    ) -> list[RunSummary]:
        conditions: list[str] = []
        values: list[object] = []
        if protocol is not None:
            names = [protocol] if isinstance(protocol, str) else list(protocol)
            conditions.append(f"r.protocol IN ({', '.join('?' * len(names))})")
            values += names
        if search:
            conditions.append("(instr(lower(r.title), lower(?)) OR instr(r.run_id, lower(?)))")
            values += [search, search]
        if before is not None:
            conditions.append("(r.started_at, r.run) < (SELECT started_at, run FROM runs WHERE run_id = ?)")
            values.append(before)
        if state is not None:
            conditions.append("l.ending = ?")
            values.append("open" if state in ("running", "interrupted") else state)
        where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
        query = f"{_SUMMARY} {where} ORDER BY r.started_at DESC, r.run DESC"
        runs: list[RunSummary] = []
        with explained(self.path):
            for row in self._reader.execute(query, values):
                if len(runs) >= limit:
                    break
                summary = self._summarise(row)
                if state is None or summary.state == state:
                    runs.append(summary)
        return runs

    def summary(self, run_id: str) -> RunSummary:
        self._write_out(run_id)
        with explained(self.path):
            row = self._reader.execute(f"{_SUMMARY} WHERE r.run_id = ?", (run_id,)).fetchone()
        if row is None:
            raise _not_found(run_id)
        return self._summarise(row)

    def records(self, run_id: str, after: int = 0, limit: int | None = None) -> Iterator[Record]:
        run = self._run(run_id)
        self._write_out(run_id)
        left = limit
        while left is None or left > 0:
            count = _BATCH if left is None else min(left, _BATCH)
            with explained(self.path):
                rows = self._reader.execute(
                    "SELECT seq, at, body, digest FROM records WHERE id > ? AND id < ? ORDER BY id LIMIT ?",
                    (record_id(run, after), record_id(run + 1, 0), count),
                ).fetchall()
            for row in rows:
                yield Record(*row)
            if len(rows) < count:
                return
            after = rows[-1][0]
            left = None if left is None else left - count

    def events(self, run_id: str, after: int = 0) -> Iterator[tuple[Record, Event]]:
        for record in self.records(run_id, after):
            yield record, read_event(record)

    def find(self, prefix: str) -> str:
        if prefix == "latest":
            newest = self.runs(limit=1)
            if not newest:
                raise RunNotFound(f"there are no runs yet in {self.path}")
            return newest[0].run_id
        with explained(self.path):
            rows = self._reader.execute(
                "SELECT run_id FROM runs WHERE substr(run_id, 1, ?) = ? ORDER BY run_id = ? DESC, run_id LIMIT 3",
                (len(prefix), prefix, prefix),
            ).fetchall()
        ids = [str(row[0]) for row in rows]
        if not ids or not prefix:
            raise _not_found(prefix)
        if len(ids) > 1 and ids[0] != prefix:
            raise RunNotFound(f"several runs begin with {prefix}: {', '.join(ids[:2])}, ...; give more of the id")
        return ids[0]

    def adopt(self, run_id: str, records: Iterable[Record], head: Head | None = None) -> None:
        if not valid_run_id(run_id):
            raise StoreDamaged(f"not a run id: {run_id[:80]!r}; 1 to 64 of a-z 0-9 _ -")
        self._check_writable()
        run, tally = 0, Tally()
        with self._transaction() as connection:
            for record in records:
                event = read_event(record)
                if run == 0:
                    if not isinstance(event, RunStarted):
                        raise StoreDamaged("the log does not begin with run.started")
                    run = self._insert_run(connection, run_id, event, record.at)
                if counts(record.body):
                    tally = tally.after(event)
                insert_records(connection, [record_row(run, record, tally)])
            if run == 0:
                raise StoreDamaged("the log is empty")
            if head is not None:
                # Before the commit: a run that is there has its head; a head without a run is only a file.
                self._heads.sign(Head(run_id, head.length, head.digest))

    def delete(self, run_id: str) -> None:
        run = self._run(run_id)
        self._check_writable()
        with self._locks.holding(run_id):
            with self._transaction() as connection:
                bounds = (record_id(run, 0), record_id(run + 1, 0))
                connection.execute("DELETE FROM records WHERE id >= ? AND id < ?", bounds)
                connection.execute("DELETE FROM runs WHERE run = ?", (run,))
            self._heads.remove(run_id)
            self._locks.forget(run_id)

    def close(self) -> None:
        with ExitStack() as stack:
            for close in (self._reader.close, self._writer.close, self._committer.close):
                stack.callback(close)
            for log in self._logs.values():
                stack.callback(log.close)

    def _connect(self) -> sqlite3.Connection:
        try:
            return self._open("rwc", "PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL")
        except StoreUnwritable as fault:
            self._unwritable = str(fault)
        try:
            # Without a log of late writes nothing has to be coordinated, which needs a folder that is writable.
            return self._open("ro" if Path(f"{self.path}-wal").exists() else "ro&immutable=1")
        except StoreUnwritable:
            raise StoreUnwritable(self._unwritable) from None

    def _check_writable(self) -> None:
        if self._unwritable:
            raise StoreUnwritable(self._unwritable)

    def _open(self, mode: str, *pragmas: str) -> sqlite3.Connection:
        with explained(self.path):
            uri = f"{self.path.absolute().as_uri()}?mode={mode}"
            connection = sqlite3.connect(
                uri, uri=True, timeout=_BUSY_S, isolation_level=None, check_same_thread=False
            )
            try:
                for pragma in (*pragmas, "PRAGMA trusted_schema = OFF"):
                    connection.execute(pragma)
                (migrate if mode == "rwc" else read_as_newest)(connection, self.path)
            except BaseException:
                connection.close()
                raise
        return connection

    @contextmanager
    def _transaction(self) -> Generator[sqlite3.Connection]:
        with self._writing, explained(self.path):
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise

    def _insert_run(self, connection: sqlite3.Connection, run_id: str, started: RunStarted, at: int) -> int:
        values = (run_id, started.protocol, started.title, started.origin, started.parent, at)
        try:
            cursor = connection.execute(
                "INSERT INTO runs (run_id, protocol, title, origin, parent, started_at) VALUES (?, ?, ?, ?, ?, ?)",
                values,
            )
        except sqlite3.IntegrityError:
            raise StoreError(f"there is a run {run_id} already; give this one another id") from None
        return cast(int, cursor.lastrowid)

    def _log(
        self, run: int, run_id: str, length: int, digest: bytes, tally: Tally, release: Callable[[], object]
    ) -> BatchingLog:
        def closed(log: BatchingLog) -> None:
            self._logs.pop(log.run_id, None)
            release()

        log = BatchingLog(run, run_id, length, digest, tally, self._committer, self._clock, self._heads, closed)
        self._logs[run_id] = log
        return log

    def _write_out(self, run_id: str) -> None:
        """Let whoever reads here see all that was emitted here."""
        if log := self._logs.get(run_id):
            log.write()

    def _append(self, rows: list[Row]) -> None:
        with self._writing, explained(self.path):
            try:
                inserted = insert_records(self._writer, rows)
            except sqlite3.IntegrityError:
                inserted = 0
            if inserted < len(rows) and not all(self._holds(*row[:4]) for row in rows):
                raise Overtaken

    def _holds(self, run: int, seq: int, at: int, digest: bytes) -> bool:
        """Tell whether a record is there. Its digest tells: nobody else can have written the same."""
        query = "SELECT 1 FROM records WHERE id = ? AND at = ? AND digest = ?"
        return self._writer.execute(query, (record_id(run, seq), at, digest)).fetchone() is not None

    def _run(self, run_id: str) -> int:
        with explained(self.path):
            row = self._reader.execute("SELECT run FROM runs WHERE run_id = ?", (run_id,)).fetchone()
        if row is None:
            raise _not_found(run_id)
        return int(row[0])

    def _summarise(self, row: tuple[Any, ...]) -> RunSummary:
        _, run_id, protocol, title, origin, parent, started_at, *last = row
        at, seq, ending, calls, tokens_in, tokens_out, cost, unpriced, unknown = last
        state: RunState
        if ending in ("finished", "stopped", "failed"):
            state = ending
        else:
            state = "running" if self._locks.held(run_id) else "interrupted"
        return RunSummary(
            run_id=run_id,
            protocol=protocol,
            title=title,
            state=state,
            origin=origin,
            started_at=started_at,
            updated_at=at or started_at,
            parent=parent,
            events=seq or 0,
            calls=calls or 0,
            input_tokens=tokens_in or 0,
            output_tokens=tokens_out or 0,
            cost=cost or 0,
            cost_unknown=bool(unpriced),
            unknown=unknown or 0,
        )


def _not_found(run_id: str) -> RunNotFound:
    return RunNotFound(f"there is no run {run_id[:80]!r}; list the runs to see their ids")
