"""The run store, whatever database stands behind it: appends are atomic, readers follow while a run writes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import ClassVar

from llm_runtime.errors import RecordsLost, RunNotFound, StoreDamaged, StoreError, StoreUnwritable
from llm_runtime.events import GENESIS, Event, Record, RunRecovered, RunStarted, link
from llm_runtime.store.anchor import STEP, Head, SignedHead
from llm_runtime.store.committing import Committer, Overtaken, Row
from llm_runtime.store.database import Database
from llm_runtime.store.durability import Durability, must_flush
from llm_runtime.store.heads import Heads
from llm_runtime.store.ids import valid_run_id
from llm_runtime.store.packing import FIRST, Packer, Unpacker
from llm_runtime.store.reading import read_event
from llm_runtime.store.run_log import RunLog, record_row
from llm_runtime.store.summary import RunState, RunSummary
from llm_runtime.store.tally import Tally, counts
from llm_runtime.store.verify import Verification, verify

#: Records, and runs, that are read at once.
_BATCH = 256
_PAGE = 64
_SUMS = "ending, calls, input_tokens, output_tokens, cost, cost_unknown, unknown"


class RunStore(ABC):
    """Where runs are kept. Reading is safe from any thread; a log belongs to the thread that uses it.

    Args:
        place: what messages call it.
        clock: milliseconds since the Unix epoch, for the time of each record.
        durability: what waits for the disk.

    Attributes:
        heads: the signed heads of its logs.
        reader: the database to read in.
        writer: the one to write in; where it is another, a reader never sees a transaction that is still open.
    """

    #: The last record of each of the runs ``r``, as ``l``: a summary is its sums.
    last_records: ClassVar[str]
    #: The records of a run behind one of them (values: number of the run, place), and what orders them.
    behind: ClassVar[str]
    in_order: ClassVar[str]
    #: A record by its run's number, its place, its time and its digest.
    this_one: ClassVar[str]

    heads: Heads
    reader: Database
    writer: Database

    def __init__(self, place: str, clock: Callable[[], int], durability: Durability) -> None:
        self.durability: Durability = durability
        self._place = place
        self._clock = clock
        #: Why the store was opened for reading alone, where it was.
        self._unwritable = ""
        self._logs: dict[str, RunLog] = {}
        self._packers: dict[int, Packer] = {}
        self._committer = Committer(self._append)

    @abstractmethod
    def _insert(self, rows: list[Row], *, flush: bool) -> int:
        """Insert rows, all or none, and return how many; fewer where a run or a place is not theirs any more."""

    @abstractmethod
    def _take(self, run_id: str) -> Callable[[], object]:
        """Hold a run, and return what lets it go. Raises :class:`~llm_runtime.errors.StoreBusy`."""

    @abstractmethod
    def _held(self, run_id: str) -> bool:
        """Tell whether a live process, this one included, holds the run."""

    @abstractmethod
    def _name_holder(self, run: int) -> None:
        """Note in the row of a new run who holds it, where rows say that."""

    def _check_writable(self) -> None:
        if self._unwritable:
            raise StoreUnwritable(self._unwritable)

    def _text(self, text: str) -> str:
        """Return a text as the database can hold it."""
        return text

    def start(self, started: RunStarted) -> RunLog:
        """Open a new run, whose first event is ``started``.

        Raises:
            ValueError: its id is not one (:func:`~llm_runtime.store.ids.valid_run_id`).
            StoreError: a run by that id exists, or the store cannot be written.
        """
        run_id = started.run_id
        if not valid_run_id(run_id):
            raise ValueError(f"not a run id: {run_id[:80]!r}; 1 to 64 of a-z 0-9 _ -")
        self._check_writable()
        release = self._take(run_id)
        try:
            record, tally = link(GENESIS, 1, self._clock(), started), Tally()
            with self.writer.transaction():
                run = self._insert_run(run_id, started, record.at)
                self._name_holder(run)
                self._insert_packed([record_row(run, record, tally)], flush=True)
            return self._log(run, run_id, record.digest[:STEP], record.digest, tally, release)
        except BaseException:
            release()
            raise

    def reopen(self, run_id: str) -> RunLog:
        """Go on with a run.

        Raises:
            RunNotFound: there is none by that id.
            StoreBusy: another live process, or another log of this one, holds it.
            RecordsLost: its end is gone; :meth:`recover` it first.
            StoreDamaged: its log is not the one that was written.
        """
        return self._reopen(run_id, lossy=False)[0]

    def recover(self, run_id: str) -> Verification:
        """Let a run go on from what a power cut or a restored copy left of it; its log says so from then on.

        Returns:
            What was lost.

        Raises:
            RunNotFound, StoreBusy, StoreDamaged: as for :meth:`reopen`.
            StoreError: nothing is lost, or nothing is left.
        """
        log, verification = self._reopen(run_id, lossy=True)
        try:
            signed, _ = self.heads.load(run_id) or (None, b"")
            if not verification.lost or signed is None:
                raise StoreError(f"run {run_id} has lost nothing; go on with: assay runs resume {run_id}")
            vouched = signed.head
            log.emit(RunRecovered(lost=verification.lost, length=vouched.length, digest=vouched.digest.hex()))
        finally:
            log.close()
        return verification

    def _reopen(self, run_id: str, *, lossy: bool) -> tuple[RunLog, Verification]:
        run = self._run(run_id)
        self._check_writable()
        release = self._take(run_id)
        try:
            verification = verify(self, run_id)
            if verification.lost and not (lossy and verification.length):
                raise _lost(verification)
            if not verification.intact and not verification.lost:
                broken = next(finding for finding in verification.findings if finding.kind != "unanchored")
                raise StoreDamaged(f"run {run_id} cannot go on, its log was changed ({broken}); start a new run")
            steps = self.reader.execute(
                f"SELECT digest FROM records WHERE {self.behind} ORDER BY {self.in_order}", (run, 0)
            )
            trail = b"".join(digest[:STEP] for (digest,) in steps)
            last = f"WHERE {self.behind} ORDER BY {self.in_order} DESC LIMIT 1"
            row = self.reader.execute(f"SELECT seq, digest, {_SUMS} FROM records {last}", (run, 0))[0]
            _, digest, ending, calls, tokens_in, tokens_out, cost, unpriced, unknown = row
            tally = Tally(ending, calls, tokens_in, tokens_out, cost, bool(unpriced), unknown)
            return self._log(run, run_id, trail, digest, tally, release), verification
        except BaseException:
            release()
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
        """Return runs, newest first.

        Args:
            protocol: only those of this kind, or of one of these.
            search: only those whose title or id contains this text, in either case (ASCII).
            state: only those in this state.
            limit: at most so many.
            before: only those older than the run of this id: the last one of the page before.
        """
        conditions: list[str] = []
        values: list[object] = []
        if protocol is not None:
            names = [protocol] if isinstance(protocol, str) else list(protocol)
            conditions.append(f"r.protocol IN ({', '.join('?' * len(names))})")
            values += names
        if search:
            conditions.append("(instr(lower(r.title), lower(?)) > 0 OR instr(r.run_id, lower(?)) > 0)")
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
            rows = self._summaries(f"{where} ORDER BY r.started_at DESC, r.run DESC LIMIT ?", (*bound, _PAGE))
            runs += [summary for summary in rows if state is None or summary.state == state]
            if len(rows) < _PAGE:
                break
            before = rows[-1].run_id
        return runs[:limit]

    def summary(self, run_id: str) -> RunSummary:
        """Return one run's line. Raises :class:`~llm_runtime.errors.RunNotFound`."""
        self._write_out(run_id)
        rows = [] if "\0" in run_id else self._summaries("WHERE r.run_id = ?", (run_id,))
        if not rows:
            raise _not_found(run_id)
        return rows[0]

    def records(self, run_id: str, after: int = 0, limit: int | None = None) -> Iterator[Record]:
        """Yield the log from ``seq > after`` on, at most ``limit`` records, in constant memory.

        Another process may be writing: what it has appended when the iterator gets there is seen.
        """
        run = self._run(run_id)
        self._write_out(run_id)
        query = f"SELECT seq, at, body, digest FROM records WHERE {self.behind} ORDER BY {self.in_order} LIMIT ?"
        unpacker = Unpacker()
        left = limit
        while left is None or left > 0:
            count = _BATCH if left is None else min(left, _BATCH)
            rows = self.reader.execute(query, (run, after, count))
            for seq, at, stored, digest in rows:
                if unpacker.lacks(stored):
                    self._read_before(run, seq, unpacker)
                yield Record(seq, at, unpacker.unpack(stored), digest)
            if len(rows) < count:
                return
            after = rows[-1][0]
            left = None if left is None else left - count

    def _read_before(self, run: int, seq: int, unpacker: Unpacker) -> None:
        """Unpack what the record at a place refers to: all from where its stream begins."""
        of_run = f"FROM records WHERE {self.behind} AND seq < ?"
        begins = f"SELECT seq {of_run} AND substr(body, 1, 1) = ? ORDER BY {self.in_order} DESC LIMIT 1"
        for (first,) in self.reader.execute(begins, (run, 0, seq, FIRST)):
            query = f"SELECT body {of_run} ORDER BY {self.in_order}"
            for (stored,) in self.reader.execute(query, (run, first - 1, seq)):
                unpacker.unpack(stored)

    def events(self, run_id: str, after: int = 0) -> Iterator[tuple[Record, Event]]:
        """Return the same, with each record's event."""
        for record in self.records(run_id, after):
            yield record, read_event(record)

    def find(self, prefix: str) -> str:
        """Return the id of the one run whose id begins with ``prefix``; of the newest for ``"latest"``.

        Raises:
            RunNotFound: there is none, or there are several.
        """
        if prefix == "latest":
            newest = self.runs(limit=1)
            if not newest:
                raise RunNotFound(f"there are no runs yet in {self._place}")
            return newest[0].run_id
        # A run that is gone altogether has its head, and can be asked about.
        query = (
            "SELECT run_id FROM (SELECT run_id FROM runs UNION SELECT run_id FROM heads) AS known "
            "WHERE substr(run_id, 1, ?) = ? ORDER BY CASE WHEN run_id = ? THEN 0 ELSE 1 END, run_id LIMIT 3"
        )
        rows = [] if "\0" in prefix else self.reader.execute(query, (len(prefix), prefix, prefix))
        ids = [str(row[0]) for row in rows]
        if not ids or not prefix:
            raise _not_found(prefix)
        if len(ids) > 1 and ids[0] != prefix:
            raise RunNotFound(f"several runs begin with {prefix}: {', '.join(ids[:2])}, ...; give more of the id")
        return ids[0]

    def adopt(
        self, run_id: str, records: Iterable[Record], signed: SignedHead | None = None, *, vouch: bool = False
    ) -> None:
        """Take over a whole log as it is: all of it, or nothing where ``records`` raises.

        Args:
            run_id: its name here.
            records: the log; the first one holds a ``run.started``.
            signed: what of it is vouched for.
            vouch: sign that again with this store's key.
        """
        if not valid_run_id(run_id):
            raise StoreDamaged(f"not a run id: {run_id[:80]!r}; 1 to 64 of a-z 0-9 _ -")
        self._check_writable()
        run, tally, trail, head = 0, Tally(), bytearray(), signed.head if signed else None
        with self.writer.transaction():
            for record in records:
                event = read_event(record)
                if run == 0:
                    if not isinstance(event, RunStarted):
                        raise StoreDamaged("the log does not begin with run.started")
                    run = self._insert_run(run_id, event, record.at)
                if counts(record.body):
                    tally = tally.after(event)
                self._insert_packed([record_row(run, record, tally)], flush=True)
                if head and record.seq <= head.length:
                    trail += record.digest[:STEP]
            if run == 0:
                raise StoreDamaged("the log is empty")
            if head and vouch:
                self.heads.sign(Head(run_id, head.length, head.digest), bytes(trail))
            elif signed:
                self.heads.keep(run_id, signed, bytes(trail) if signed.head.trail else b"")
        self._packers.pop(run, None)

    def delete(self, run_id: str) -> None:
        """Remove a run, its head and its tags. Raises ``RunNotFound``, or ``StoreBusy`` while it is written."""
        self._check_writable()
        if self.heads.load(run_id) is not None and not self._exists(run_id):
            self.heads.remove(run_id)
            return
        run = self._run(run_id)
        release = self._take(run_id)
        try:
            with self.writer.transaction():
                self.writer.execute(f"DELETE FROM records WHERE {self.behind}", (run, 0))
                self.writer.execute("DELETE FROM runs WHERE run = ?", (run,))
                self.writer.execute("DELETE FROM tags WHERE run_id = ?", (run_id,))
                self.heads.remove(run_id)
        finally:
            release()

    def close(self) -> None:
        """Let go of the store; logs still open are closed first."""
        with ExitStack() as stack:
            for close in (self.reader.close, self.writer.close, self._committer.close):
                stack.callback(close)
            for log in self._logs.values():
                stack.callback(log.close)

    def _insert_run(self, run_id: str, started: RunStarted, at: int) -> int:
        made = self.writer.execute(
            "INSERT INTO runs (run_id, protocol, title, origin, parent, started_at) VALUES (?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (run_id) DO NOTHING RETURNING run",
            (run_id, started.protocol, self._text(started.title), started.origin, started.parent, at),
        )
        if not made:
            raise StoreError(f"there is a run {run_id} already; give this one another id")
        return int(made[0][0])

    def _log(
        self, run: int, run_id: str, trail: bytes, digest: bytes, tally: Tally, release: Callable[[], object]
    ) -> RunLog:
        def closed() -> None:
            self._logs.pop(run_id, None)
            self._packers.pop(run, None)
            release()

        log = RunLog(run, run_id, trail, digest, tally, self._committer, self._clock, self.heads, closed)
        self._logs[run_id] = log
        return log

    def _write_out(self, run_id: str) -> None:
        """Let whoever reads here see all that was emitted here."""
        if log := self._logs.get(run_id):
            log.write()

    def _append(self, rows: list[Row]) -> None:
        if self._insert_packed(rows, flush=must_flush(self.durability, rows)) == len(rows):
            return
        for run, *_ in rows:
            self._packers.pop(run, None)
        if not self._hold(rows):
            raise Overtaken

    def _insert_packed(self, rows: list[Row], *, flush: bool) -> int:
        packed = [(*row[:-1], self._packers.setdefault(row[0], Packer()).pack(row[-1])) for row in rows]
        try:
            return self._insert(packed, flush=flush)
        except BaseException:
            # Nobody knows what of it is there to refer to.
            for run, *_ in rows:
                self._packers.pop(run, None)
            raise

    def _hold(self, rows: list[Row]) -> bool:
        """Tell whether the records are there. A digest tells: nobody else can have written the same."""
        query = f"SELECT 1 FROM records WHERE {self.this_one}"
        return all(self.writer.execute(query, row[:4]) for row in rows)

    def _exists(self, run_id: str) -> bool:
        return "\0" not in run_id and bool(self.reader.execute("SELECT 1 FROM runs WHERE run_id = ?", (run_id,)))

    def _run(self, run_id: str) -> int:
        if not self._exists(run_id):
            raise _not_found(run_id)
        return int(self.reader.execute("SELECT run FROM runs WHERE run_id = ?", (run_id,))[0][0])

    def _summaries(self, which: str, values: Sequence[object]) -> list[RunSummary]:
        rows = self.reader.execute(
            "SELECT r.run_id, r.protocol, r.title, coalesce(l.ending, 'open'), r.origin, r.started_at, "
            "coalesce(l.at, r.started_at), r.parent, coalesce(l.seq, 0), coalesce(l.calls, 0), "
            "coalesce(l.input_tokens, 0), coalesce(l.output_tokens, 0), coalesce(l.cost, 0), l.cost_unknown, "
            f"coalesce(l.unknown, 0) FROM runs r {self.last_records} {which}",
            values,
        )
        return [self._summary(RunSummary(*row)) for row in rows]

    def _summary(self, row: RunSummary) -> RunSummary:
        state: RunState = row.state
        if state not in ("finished", "stopped", "failed"):
            state = "running" if self._held(row.run_id) else "interrupted"
        return replace(row, state=state, cost_unknown=bool(row.cost_unknown))


def _not_found(run_id: str) -> RunNotFound:
    return RunNotFound(f"there is no run {run_id[:80]!r}; list the runs to see their ids")


def _lost(found: Verification) -> StoreError:
    left, all_of_it = found.length, found.length + found.lost
    if not left:
        return RecordsLost(
            f"run {found.run_id} is gone, all {all_of_it} records of it, by a power cut or in a restored copy; "
            f"restore another copy, or forget it with: assay runs delete {found.run_id}"
        )
    return RecordsLost(
        f"run {found.run_id} lost its last {found.lost} records of {all_of_it}, by a power cut or in a restored "
        f"copy, and what is left was not changed; to go on from it: assay runs recover {found.run_id}"
    )
