"""The run store, whatever database stands behind it: appends are atomic, readers follow while a run writes."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable
from contextlib import ExitStack, contextmanager

from llm_runtime.errors import RecordsLost, StoreBusy, StoreDamaged, StoreError, StoreUnwritable
from llm_runtime.events import GENESIS, Record, RunRecovered, RunStarted, link
from llm_runtime.store.anchor import STEP, Head, SignedHead
from llm_runtime.store.committing import Committer, Overtaken, Row
from llm_runtime.store.database import SQL, Database
from llm_runtime.store.durability import Durability, must_flush
from llm_runtime.store.heads import Heads
from llm_runtime.store.ids import valid_run_id
from llm_runtime.store.ownership import Owner
from llm_runtime.store.packing import Packer
from llm_runtime.store.reading import read_event
from llm_runtime.store.run_log import RunLog, record_row
from llm_runtime.store.run_reader import RunReader
from llm_runtime.store.tally import Tally, counts
from llm_runtime.store.verify import Verification, verify
from llm_runtime.undoing import undone

_SUMS = "ending, calls, input_tokens, output_tokens, cost, cost_unknown, unknown"


class RunStore(RunReader):
    """Where runs are kept. Reading is safe from any thread; a log belongs to the thread that uses it.

    Args:
        place: what messages call it.
        clock: milliseconds since the Unix epoch, for the time of each record.
        durability: what waits for the disk.

    Attributes:
        heads: the signed heads of its logs.
        owner: what is open here is held by it.
        writer: the database to write in; where ``reader`` is another, nobody reads what is not committed.
    """

    heads: Heads
    writer: Database
    owner: Owner

    def __init__(self, place: str, clock: Callable[[], int], durability: Durability) -> None:
        self.durability: Durability = durability
        super().__init__(place)
        self._clock = clock
        #: Why the store was opened for reading alone, where it was.
        self._unwritable = ""
        self._logs: dict[str, RunLog] = {}
        self._taken: set[str] = set()
        self._taking = threading.Lock()
        self._packers: defaultdict[int, Packer] = defaultdict(Packer)
        self._committer = Committer(self._append, lambda: len(self._logs) > 1)

    @abstractmethod
    def _insert(self, rows: list[Row], holder: str, *, flush: bool) -> int:
        """Insert the rows of runs that ``holder`` holds, and return how many; none where a place is taken."""

    @abstractmethod
    def put_words(self, run: int, text: str) -> None:
        """Have a run found by the words of a text, in place of those before."""

    @abstractmethod
    def size(self) -> int:
        """Return the bytes that it takes on the disk."""

    @abstractmethod
    def faults(self) -> list[str]:
        """Return what the database finds wrong with its own file, one line each."""

    @abstractmethod
    def give_back(self) -> None:
        """Give room that nothing stands in any more back to the disk, while others use the store.

        Raises:
            StoreBusy: that takes nobody else to use it this time.
        """

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
        record, tally = link(GENESIS, 1, self._clock(), started), Tally()
        holder = self.owner.live()
        with self.writer.transaction():
            run = self._insert_run(run_id, started, record.at, holder)
            self._insert_packed([record_row(run, record, tally)], holder, flush=True)
        self._taken.add(run_id)
        return self._log(run, run_id, record.digest[:STEP], record.digest, tally)

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
                raise StoreError(f"run {run_id} has lost nothing", advice=f"go on with: assay runs resume {run_id}")
            vouched = signed.head
            log.emit(RunRecovered(lost=verification.lost, length=vouched.length, digest=vouched.digest.hex()))
        finally:
            log.close()
        return verification

    def _reopen(self, run_id: str, *, lossy: bool) -> tuple[RunLog, Verification]:
        run = self._run(run_id)
        self._check_writable()
        self._take(run_id)
        with undone(self._release, run_id):
            verification = verify(self, run_id)
            if verification.lost and not (lossy and verification.length):
                raise _lost(verification)
            if not verification.intact and not verification.lost:
                broken = next(finding for finding in verification.findings if finding.kind != "unanchored")
                raise StoreDamaged(f"run {run_id} cannot go on, its log was changed ({broken}); start a new run")
            steps = self.reader.execute(
                f"SELECT digest FROM records WHERE {self.behind} ORDER BY {self.in_order}", (run, 0)
            )
            last = f"WHERE {self.behind} ORDER BY {self.in_order} DESC LIMIT 1"
            row = self.reader.execute(f"SELECT seq, digest, {_SUMS} FROM records {last}", (run, 0))[0]
            _, digest, ending, calls, tokens_in, tokens_out, cost, unpriced, unknown = row
            tally = Tally(ending, calls, tokens_in, tokens_out, cost, bool(unpriced), unknown)
            return self._log(run, run_id, b"".join(step[:STEP] for (step,) in steps), digest, tally), verification

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
                self._insert_packed([record_row(run, record, tally)], "", flush=True)
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
        with self._changing(run_id):
            self.writer.execute(f"DELETE FROM records WHERE {self.behind}", (run, 0))
            self.writer.execute("DELETE FROM runs WHERE run = ?", (run,))
            for table in ("tags", "notes"):
                self.writer.execute(f"DELETE FROM {table} WHERE run_id = ?", (run_id,))
            self.put_words(run, "")
            self.writer.execute("DELETE FROM searched WHERE run = ?", (run,))
            self.heads.remove(run_id)

    def repack(self, run_id: str) -> int:
        """Store a run as today's version would, and return the bytes that this saves; its records stay the same.

        Raises:
            RunNotFound, StoreBusy: as for :meth:`reopen`.
        """
        run = self._run(run_id)
        self._check_writable()
        saved, packer = 0, Packer()
        with self._changing(run_id):
            of_run = f"FROM records WHERE {self.behind} ORDER BY {self.in_order}"
            stored = self.writer.execute(f"SELECT body {of_run}", (run, 0))
            for (before,), record in zip(stored, list(self.records(run_id)), strict=True):
                body = packer.pack(record.body)
                saved += len(before) - len(body)
                if body != before:
                    place = (run, record.seq, record.at, record.digest)
                    self.writer.execute(f"UPDATE records SET body = ? WHERE {self.this_one}", (body, *place))
        return saved

    def close(self) -> None:
        """Let go of the store; logs still open are closed first."""
        with ExitStack() as stack:
            for close in (self.reader.close, self.writer.close, self.owner.close, self._committer.close):
                stack.callback(close)
            for log in self._logs.values():
                stack.callback(log.close)

    def _take(self, run_id: str) -> None:
        """Hold a run. Raises :class:`~llm_runtime.errors.StoreBusy`."""
        mine, busy = self.owner.live(), f"run {run_id} is being written by another process"
        with self._taking:
            if run_id in self._taken:
                raise StoreBusy(f"{busy}; wait for it, or stop it first")
            self._taken.add(run_id)
        with undone(self._taken.discard, run_id):
            for (before,) in self.writer.execute("SELECT holder FROM runs WHERE run_id = ?", (run_id,)):
                # Whoever took it in between has put another name there.
                hold = "UPDATE runs SET holder = ? WHERE run_id = ? AND holder IN (?, ?) RETURNING 1"
                free = before in ("", mine) or self.owner.gone(before)
                if not (free and self.writer.execute(hold, (mine, run_id, before, mine), repeatable=True)):
                    raise StoreBusy(f"{busy}; wait for it, or stop it first")

    def _release(self, run_id: str) -> None:
        self._taken.discard(run_id)
        free = "UPDATE runs SET holder = '' WHERE run_id = ? AND holder = ?"
        self.writer.execute(free, (run_id, self.owner.name), flush=False, repeatable=True)

    def _is_mine(self, run_id: str) -> bool:
        mine = f"SELECT 1 FROM runs WHERE run_id = ? AND holder = ? {self.writer.keep_still}"
        return bool(self.writer.execute(mine, (run_id, self.owner.name)))

    @contextmanager
    def _changing(self, run_id: str) -> Generator[None]:
        """Take a run and change it in one transaction, unless another has it by then."""
        self._take(run_id)
        try:
            with self.writer.transaction():
                if not self._is_mine(run_id):
                    raise Overtaken
                yield
        finally:
            self._release(run_id)

    def _held(self, run_id: str) -> bool:
        query = "SELECT process, beat, assay_now() FROM runs JOIN owners ON name = holder WHERE run_id = ?"
        rows = self.reader.execute(f"{query} AND name <> ?", (run_id, self.owner.name))
        return run_id in self._logs or any(self.owner.alive(*row) for row in rows)

    def _tell_the_late(self) -> None:
        """Let each log here know whose run another has taken over: it takes no more events."""
        for run_id, log in tuple(self._logs.items()):
            if not self._is_mine(run_id):
                log.fault = Overtaken()

    def _insert_run(self, run_id: str, started: RunStarted, at: int, holder: str = "") -> int:
        title, origin, parent = self._text(started.title), started.origin, started.parent
        made = self.writer.execute(SQL["insert_run"], (run_id, started.protocol, title, origin, parent, at, holder))
        if not made:
            raise StoreError(f"there is a run {run_id} already; give this one another id")
        return int(made[0][0])

    def _log(self, run: int, run_id: str, trail: bytes, digest: bytes, tally: Tally) -> RunLog:
        def closed() -> None:
            self._logs.pop(run_id, None)
            self._packers.pop(run, None)
            self._release(run_id)

        def sign(head: Head, trail: bytes) -> None:
            self.heads.sign(head, trail, self.owner.stay())

        log = RunLog(run, run_id, bytearray(trail), digest, tally, self._committer, self._clock, sign, closed)
        self._logs[run_id] = log
        return log

    def _write_out(self, run_id: str) -> None:
        """Let whoever reads here see all that was emitted here."""
        if log := self._logs.get(run_id):
            log.write()

    def _append(self, rows: list[Row]) -> None:
        if self._insert_packed(rows, self.owner.name, flush=must_flush(self.durability, rows)) == len(rows):
            return
        for run, *_ in rows:
            self._packers.pop(run, None)
        if not self._hold(rows):
            raise Overtaken

    def _insert_packed(self, rows: list[Row], holder: str, *, flush: bool) -> int:
        packed = [(*row[:-1], self._packers[row[0]].pack(row[-1])) for row in rows]
        try:
            return self._insert(packed, holder, flush=flush)
        except BaseException:
            # Nobody knows what of it is there to refer to.
            for run, *_ in rows:
                self._packers.pop(run, None)
            raise

    def _hold(self, rows: list[Row]) -> bool:
        """Tell whether the records are there. A digest tells: nobody else can have written the same."""
        return all(self.writer.execute(f"SELECT 1 FROM records WHERE {self.this_one}", row[:4]) for row in rows)


def _lost(verification: Verification) -> StoreError:
    run, left, all_of_it = verification.run_id, verification.length, verification.length + verification.lost
    if not left:
        return RecordsLost(
            f"run {run} is gone, all {all_of_it} records of it, by a power cut or in a restored copy; "
            "restore another copy, or forget it",
            advice=f"with: assay runs delete {run}",
        )
    return RecordsLost(
        f"run {run} lost its last {verification.lost} records of {all_of_it}, by a power cut or in a restored "
        "copy, and what is left was not changed",
        advice=f"to go on from it: assay runs recover {run}",
    )
