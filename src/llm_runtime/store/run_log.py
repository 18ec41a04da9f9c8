"""The writer of one run in any store: the hot path of recording."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeAlias

from llm_runtime.errors import StoreError
from llm_runtime.events import CallStarted, Event, Record, RunFinished, link
from llm_runtime.store.anchor import Head, Heads
from llm_runtime.store.tally import Tally

Row: TypeAlias = tuple[Any, ...]
"""A record as every store keeps it: run, place, time, digest, the sums up to and including it, body."""

#: Seconds that the start of a call may wait for company, and how many of them wait at the most.
_LAG_S = 0.005
_MOST_WAITING = 64


def record_row(run: int, record: Record, tally: Tally) -> Row:
    """Return the row of a record."""
    return (run, record.seq, record.at, record.digest, *tally, record.body)


class BatchingLog:
    """A :class:`~llm_runtime.store.interface.RunLog`; the stores make them.

    Where an event loop runs, a ``call.started`` waits up to 5 ms, to be written together with what follows it:
    half of all events are such, and a transaction costs more than a row. All other events are on disk, with
    whatever waited, when :meth:`emit` returns.

    Args:
        run, run_id: the run, by number and by name.
        length, digest, tally: where it stands.
        append: writes rows, all or none.
        clock: milliseconds since the Unix epoch.
        heads: where its end is signed.
        closed: told once, when it is closed.
    """

    def __init__(
        self,
        run: int,
        run_id: str,
        length: int,
        digest: bytes,
        tally: Tally,
        append: Callable[[list[Row]], None],
        clock: Callable[[], int],
        heads: Heads,
        closed: Callable[[BatchingLog], None],
    ) -> None:
        self._run = run
        self._run_id = run_id
        self._length = length
        self._digest = digest
        self._tally = tally
        self._append = append
        self._clock = clock
        self._heads = heads
        self._anchored = 0
        self._waiting: list[Row] = []
        self._timed: asyncio.AbstractEventLoop | None = None
        self._on_close = closed
        self._closed = False

    @property
    def run_id(self) -> str:
        return self._run_id

    @property
    def length(self) -> int:
        return self._length

    @property
    def digest(self) -> bytes:
        return self._digest

    def emit(self, event: Event) -> None:
        if self._closed:
            raise ValueError(f"the log of run {self._run_id} is closed")
        record = link(self._digest, self._length + 1, self._clock(), event)
        tally = self._tally.after(event)
        self._waiting.append(record_row(self._run, record, tally))
        if type(event) is not CallStarted or not self._can_wait():
            try:
                self._write()
            except BaseException:
                self._waiting.pop()
                raise
        self._length, self._digest, self._tally = record.seq, record.digest, tally
        if type(event) is RunFinished:
            self._anchor()

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        try:
            self._write()
            self._anchor()
        finally:
            self._on_close(self)

    def _write(self) -> None:
        if self._waiting:
            self._append(self._waiting)
            self._waiting = []

    def _can_wait(self) -> bool:
        """Tell whether the last row may wait, which it may where something will write it before long."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return False
        if self._timed is not loop:
            self._timed = loop
            loop.call_later(_LAG_S, self._write_late)
        return len(self._waiting) < _MOST_WAITING

    def _write_late(self) -> None:
        self._timed = None
        if not self._closed:
            # A fault met here has nobody to go to: the rows stay, and the next event meets it and raises it.
            with suppress(StoreError):
                self._write()

    def _anchor(self) -> None:
        if self._anchored != self._length:
            self._heads.sign(Head(self._run_id, self._length, self._digest))
            self._anchored = self._length
