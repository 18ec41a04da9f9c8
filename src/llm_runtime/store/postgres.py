"""The run store in PostgreSQL: one store for the workers of many machines."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from llm_runtime.clock import now_ms
from llm_runtime.errors import RunNotFound, StoreBusy, StoreDamaged, StoreError
from llm_runtime.events import GENESIS, Event, Record, RunStarted, link
from llm_runtime.store.anchor import Head, Heads
from llm_runtime.store.committing import Committer, Overtaken, Row
from llm_runtime.store.ids import valid_run_id
from llm_runtime.store.interface import RunState, RunSummary
from llm_runtime.store.postgres_connection import LOCK_CLASS, PostgresDatabase, StoreUnreachable
from llm_runtime.store.postgres_schema import migrate
from llm_runtime.store.reading import read_event
from llm_runtime.store.run_log import BatchingLog, record_row
from llm_runtime.store.tally import Tally, counts
from llm_runtime.store.verify import verify

_BATCH = 256
_PAGE = 64
_COLUMNS = "run, seq, at, digest, ending, calls, input_tokens, output_tokens, cost, cost_unknown, unknown, body"
_INSERT = f"INSERT INTO records ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_SUMMARY = """
    SELECT r.run, r.run_id, r.protocol, r.title, r.origin, r.parent, r.started_at,
           l.at, l.seq, l.ending, l.calls, l.input_tokens, l.output_tokens, l.cost, l.cost_unknown, l.unknown
    FROM runs r LEFT JOIN LATERAL (SELECT * FROM records WHERE run = r.run ORDER BY seq DESC LIMIT 1) l ON true
"""


class PostgresStore:
    """A :class:`~llm_runtime.store.interface.RunStore` in a PostgreSQL database.

    Who writes a run holds an advisory lock, which the server takes away with the connection of whoever dies. Signed
    heads stand in a folder of this machine: elsewhere the same run reads as not signed for.

    Args:
        url: ``postgresql://...``.
        clock: milliseconds since the Unix epoch, for the time of each record.
        heads: where heads are kept; a folder for each database, in Assay's data folder, if left out.

    Raises:
        StoreUnwritable: the server cannot be reached.
        StoreError: the tables were written by a newer version.
    """

    def __init__(self, url: str, *, clock: Callable[[], int] = now_ms, heads: Heads | None = None) -> None:
        self.url = url
        self._clock = clock
        self._heads = heads or _heads_of(url)
        self._logs: dict[str, BatchingLog] = {}
        self._committer = Committer(self._append)
        self._database = PostgresDatabase(url, on_connect=self._take_again)
        try:
            migrate(self._database)
        except BaseException:
            self._database.close()
            raise

    @property
    def heads(self) -> Heads:
        return self._heads

    def start(self, started: RunStarted) -> BatchingLog:
        run_id = started.run_id
        if not valid_run_id(run_id):
            raise ValueError(f"not a run id: {run_id[:80]!r}; 1 to 64 of a-z 0-9 _ -")
        self._take(run_id)
        try:
            record, tally = link(GENESIS, 1, self._clock(), started), Tally()
            with self._database.transaction():
                run = self._insert_run(run_id, started, record.at)
                self._database.execute(_INSERT, record_row(run, record, tally))
            return self._log(run, run_id, record.seq, record.digest, tally)
        except BaseException:
            self._release(run_id)
            raise

    def reopen(self, run_id: str) -> BatchingLog:
        run = self._run(run_id)
        self._take(run_id)
        try:
            verification = verify(self, run_id)
            if not verification.intact:
                broken = next(finding for finding in verification.findings if finding.kind != "unanchored")
                raise StoreDamaged(f"run {run_id} cannot go on, its log was changed ({broken}); start a new run")
            seq, digest, *sums = self._database.execute(
                "SELECT seq, digest, ending, calls, input_tokens, output_tokens, cost, cost_unknown, unknown "
                "FROM records WHERE run = ? ORDER BY seq DESC LIMIT 1",
                (run,),
            )[0]
            return self._log(run, run_id, seq, digest, Tally(*sums))
        except BaseException:
            self._release(run_id)
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
            conditions.append("(strpos(lower(r.title), lower(?)) > 0 OR strpos(r.run_id, lower(?)) > 0)")
            values += [search, search]
        if state is not None:
            conditions.append("l.ending = ?")
            values.append("open" if state in ("running", "interrupted") else state)
        runs: list[RunSummary] = []
        while len(runs) < limit:
            # A page at a time: whether a run is held is not known to the table.
            paged, bound = list(conditions), list(values)
            if before is not None:
                paged.append("(r.started_at, r.run) < (SELECT started_at, run FROM runs WHERE run_id = ?)")
                bound.append(before)
            where = f"WHERE {' AND '.join(paged)}" if paged else ""
            query = f"{_SUMMARY} {where} ORDER BY r.started_at DESC, r.run DESC LIMIT ?"
            rows = self._database.execute(query, (*bound, _PAGE))
            summaries = [self._summarise(row) for row in rows]
            runs += [summary for summary in summaries if state is None or summary.state == state]
            if len(rows) < _PAGE:
                break
            before = summaries[-1].run_id
        return runs[:limit]

    def summary(self, run_id: str) -> RunSummary:
        self._write_out(run_id)
        rows = self._database.execute(f"{_SUMMARY} WHERE r.run_id = ?", (run_id,)) if "\0" not in run_id else []
        if not rows:
            raise _not_found(run_id)
        return self._summarise(rows[0])

    def records(self, run_id: str, after: int = 0, limit: int | None = None) -> Iterator[Record]:
        run = self._run(run_id)
        self._write_out(run_id)
        left = limit
        while left is None or left > 0:
            count = _BATCH if left is None else min(left, _BATCH)
            rows = self._database.execute(
                "SELECT seq, at, body, digest FROM records WHERE run = ? AND seq > ? ORDER BY seq LIMIT ?",
                (run, after, count),
            )
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
                raise RunNotFound("there are no runs yet in this database")
            return newest[0].run_id
        rows = self._database.execute(
            "SELECT run_id FROM runs WHERE left(run_id, ?) = ? ORDER BY run_id = ? DESC, run_id LIMIT 3",
            (len(prefix), prefix, prefix),
        )
        ids = [str(row[0]) for row in rows]
        if not ids or not prefix:
            raise _not_found(prefix)
        if len(ids) > 1 and ids[0] != prefix:
            raise RunNotFound(f"several runs begin with {prefix}: {', '.join(ids[:2])}, ...; give more of the id")
        return ids[0]

    def adopt(self, run_id: str, records: Iterable[Record], head: Head | None = None) -> None:
        if not valid_run_id(run_id):
            raise StoreDamaged(f"not a run id: {run_id[:80]!r}; 1 to 64 of a-z 0-9 _ -")
        run, tally = 0, Tally()
        with self._database.transaction():
            for record in records:
                event = read_event(record)
                if run == 0:
                    if not isinstance(event, RunStarted):
                        raise StoreDamaged("the log does not begin with run.started")
                    run = self._insert_run(run_id, event, record.at)
                if counts(record.body):
                    tally = tally.after(event)
                self._database.execute(_INSERT, record_row(run, record, tally))
            if run == 0:
                raise StoreDamaged("the log is empty")
            if head is not None:
                # Before the commit: a run that is there has its head; a head without a run is only a file.
                self._heads.sign(Head(run_id, head.length, head.digest))

    def delete(self, run_id: str) -> None:
        run = self._run(run_id)
        with self._holding(run_id):
            self._database.execute("DELETE FROM runs WHERE run = ?", (run,))
            self._heads.remove(run_id)

    def close(self) -> None:
        with ExitStack() as stack:
            stack.callback(self._database.close)
            stack.callback(self._committer.close)
            for log in self._logs.values():
                stack.callback(log.close)

    def _insert_run(self, run_id: str, started: RunStarted, at: int) -> int:
        made = self._database.execute(
            "INSERT INTO runs (run_id, protocol, title, origin, parent, started_at) VALUES (?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (run_id) DO NOTHING RETURNING run",
            (run_id, started.protocol, started.title.replace("\0", "\ufffd"), started.origin, started.parent, at),
        )
        if not made:
            raise StoreError(f"there is a run {run_id} already; give this one another id")
        return int(made[0][0])

    def _log(self, run: int, run_id: str, length: int, digest: bytes, tally: Tally) -> BatchingLog:
        log = BatchingLog(
            run, run_id, length, digest, tally, self._committer, self._clock, self._heads, self._closed
        )
        self._logs[run_id] = log
        return log

    def _write_out(self, run_id: str) -> None:
        """Let whoever reads here see all that was emitted here."""
        if log := self._logs.get(run_id):
            log.write()

    def _closed(self, log: BatchingLog) -> None:
        self._logs.pop(log.run_id, None)
        self._release(log.run_id)

    def _append(self, rows: list[Row]) -> None:
        import psycopg

        try:
            try:
                self._insert(rows)
            except StoreUnreachable:
                # It may have been committed.
                if not self._hold(rows):
                    self._insert(rows)
        except psycopg.errors.IntegrityError:
            if not self._hold(rows):
                raise Overtaken from None

    def _insert(self, rows: list[Row]) -> None:
        # One statement commits by itself: a transaction of its own would cost two round trips more.
        values = ", ".join(["(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"] * len(rows))
        self._database.execute(
            f"INSERT INTO records ({_COLUMNS}) VALUES {values}", [value for row in rows for value in row]
        )

    def _hold(self, rows: list[Row]) -> bool:
        """Tell whether the records are there. A digest tells: nobody else can have written the same."""
        query = "SELECT 1 FROM records WHERE run = ? AND seq = ? AND at = ? AND digest = ?"
        return all(self._database.execute(query, row[:4]) for row in rows)

    def _run(self, run_id: str) -> int:
        rows = (
            self._database.execute("SELECT run FROM runs WHERE run_id = ?", (run_id,)) if "\0" not in run_id else []
        )
        if not rows:
            raise _not_found(run_id)
        return int(rows[0][0])

    def _take(self, run_id: str) -> None:
        """Hold a run. The server lets one connection take a lock twice, so what is open here is looked up first."""
        free = run_id not in self._logs and self._try_lock(run_id)
        if not free:
            raise StoreBusy(f"run {run_id} is being written by another process; wait for it, or stop it first")

    def _try_lock(self, run_id: str) -> bool:
        return bool(self._database.execute("SELECT pg_try_advisory_lock(?, ?)", (LOCK_CLASS, _key(run_id)))[0][0])

    def _release(self, run_id: str) -> None:
        if self._database.connected:
            # With the connection the locks went, too.
            self._database.execute("SELECT pg_advisory_unlock(?, ?)", (LOCK_CLASS, _key(run_id)))

    @contextmanager
    def _holding(self, run_id: str) -> Generator[None]:
        self._take(run_id)
        try:
            yield
        finally:
            self._release(run_id)

    def _take_again(self) -> None:
        """Take the lock again: a lost connection ends it. The records' key still keeps a second writer out."""
        for run_id in tuple(self._logs):
            self._try_lock(run_id)

    def _held(self, run_id: str) -> bool:
        if run_id in self._logs:
            return True
        return bool(
            self._database.execute(
                "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND classid = ? AND objid = ? "
                "AND objsubid = 2 AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))",
                (LOCK_CLASS, _key(run_id) & 0xFFFFFFFF),
            )[0][0]
        )

    def _summarise(self, row: tuple[Any, ...]) -> RunSummary:
        _, run_id, protocol, title, origin, parent, started_at, *last = row
        at, seq, ending, calls, tokens_in, tokens_out, cost, unpriced, unknown = last
        state: RunState
        if ending in ("finished", "stopped", "failed"):
            state = ending
        else:
            state = "running" if self._held(run_id) else "interrupted"
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


def _key(run_id: str) -> int:
    """Return a run's advisory lock: 32 signed bits of its digest. Runs that share them are not written at once."""
    return int.from_bytes(hashlib.sha256(run_id.encode()).digest()[:4], "big", signed=True)


def _heads_of(url: str) -> Heads:
    from urllib.parse import urlsplit

    from llm_runtime.settings import data_dir

    parts = urlsplit(url)
    place = f"{parts.hostname}:{parts.port}{parts.path}?{parts.query}"
    folder = data_dir() / "postgresql" / hashlib.sha256(place.encode()).hexdigest()[:16]
    return Heads(folder / "heads", folder / "signing.key")


def _not_found(run_id: str) -> RunNotFound:
    return RunNotFound(f"there is no run {run_id[:80]!r}; list the runs to see their ids")
