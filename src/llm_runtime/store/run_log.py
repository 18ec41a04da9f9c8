"""The writer of one run in any store: the hot path of recording."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

from llm_runtime.events import Event, Record, RunFinished, link
from llm_runtime.store.anchor import STEP, Head
from llm_runtime.store.committing import Committer, Row
from llm_runtime.store.tally import Tally


def record_row(run: int, record: Record, tally: Tally) -> Row:
    """Return the row of a record."""
    return (run, record.seq, record.at, record.digest, *tally, record.body)


@dataclass(eq=False, repr=False)
class RunLog:
    """The one writer of a run; the stores make them. It holds the run for as long as it lives.

    Where an event loop runs, an event waits up to 20 ms, to be committed together with others, of this run and of
    any other; what :meth:`emit` returns, awaited, has it on disk. Without an event loop it is there when
    :meth:`emit` returns.

    Args:
        run, run_id: the run, by number and by name.
        trail: the first 16 bytes of each record's digest.
        digest, tally: where it stands.
        committer: writes the rows.
        clock: milliseconds since the Unix epoch.
        sign: signs and keeps its end, with the trail.
        on_close: told once, when it is closed.

    Attributes:
        run_id: its name.
        digest: of the last record.
        rows: what is not on disk yet, oldest first.
        fault: why the last of them could not be written, where nobody waited who could have been told.
    """

    run: int
    run_id: str
    trail: bytearray
    digest: bytes
    tally: Tally
    committer: Committer
    clock: Callable[[], int]
    sign: Callable[[Head, bytes], object]
    on_close: Callable[[], None]
    rows: list[Row] = field(default_factory=list[Row], init=False)
    fault: Exception | None = field(default=None, init=False)
    _anchored: int = field(default=0, init=False)
    _closing: threading.Lock = field(default_factory=threading.Lock, init=False)
    _closed: bool = field(default=False, init=False)

    @property
    def length(self) -> int:
        """Records in the log."""
        return len(self.trail) // STEP

    def emit(self, event: Event) -> RunLog:
        """Append ``event``. What this returns, awaited, has it on disk: killing the process no longer loses it.

        In an event loop, what is not awaited is written some milliseconds later, together with others; events are
        on disk in order, an answer never without its call. Without a running event loop it is there on return.

        Raises, at once or where it is awaited:
            StoreError: it, or one before it, could not be written yet. In an event loop it is kept nonetheless, and
                the next write takes along what waits; without one it is not.
            ValueError: the log is closed.
        """
        if self._closed:
            raise ValueError(f"the log of run {self.run_id} is closed")
        record = link(self.digest, len(self.trail) // STEP + 1, self.clock(), event)
        tally = self.tally.after(event)
        self.rows.append(record_row(self.run, record, tally))
        waits = self.committer.late(self)
        if not waits:
            try:
                self.write()
            except BaseException:
                self.rows.pop()
                raise
        self.trail += record.digest[:STEP]
        self.digest, self.tally = record.digest, tally
        if type(event) is RunFinished and not waits:
            self._anchor()
        # After it was taken: an answer that is paid for is not to be lost by a fault of those before it.
        self._raise_fault()
        return self

    def __await__(self) -> Generator[Any, None, None]:
        """Wait until all that was emitted is on disk. Raises :class:`~llm_runtime.errors.StoreError`."""
        self._raise_fault()
        if self.rows:
            yield from self.committer.done(self).__await__()

    def write(self) -> None:
        """Write what waits now, in this thread."""
        if self.rows:
            self.committer.now(self)
            self.fault = None

    def close(self) -> None:
        """Write what waits, sign the head and let the run go. A second call does nothing.

        Raises:
            StoreError: something could not be written; the run is let go all the same.
        """
        # Whoever closes it while another thread does has it closed on return.
        with self._closing:
            if self._closed:
                return
            self._closed = True
            try:
                self.write()
                self._anchor()
            finally:
                # What could not be written must not be when somebody goes on with the run.
                self.rows.clear()
                self.on_close()

    async def aclose(self) -> None:
        """Do what :meth:`close` does, without stopping the event loop for it."""
        await asyncio.to_thread(self.close)

    def _raise_fault(self) -> None:
        """Raise what a write met that nobody waited for; its rows stay, and the next write takes them along."""
        fault, self.fault = self.fault, None
        if fault is not None:
            raise fault

    def _anchor(self) -> None:
        if self._anchored != self.length:
            self.sign(Head(self.run_id, self.length, self.digest), bytes(self.trail))
            self._anchored = self.length
