"""The writer of one run in the SQLite store: the hot path of recording, one insert an event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llm_runtime.events import Event, Record, RunFinished, link
from llm_runtime.store.anchor import Head, Heads
from llm_runtime.store.schema import record_id
from llm_runtime.store.tally import Tally

INSERT_RECORD = """
    INSERT INTO records (id, at, digest, ending, calls, input_tokens, output_tokens, cost, cost_unknown, body)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


def record_row(run: int, record: Record, tally: Tally) -> tuple[Any, ...]:
    """The values of :data:`INSERT_RECORD`: a record, and the sums up to and including it."""
    return (record_id(run, record.seq), record.at, record.digest, *tally, record.body)


class SqliteLog:
    """A :class:`~llm_runtime.store.interface.RunLog`; :class:`SqliteStore` makes them."""

    def __init__(
        self,
        run: int,
        run_id: str,
        length: int,
        digest: bytes,
        tally: Tally,
        append: Callable[[tuple[Any, ...]], None],
        clock: Callable[[], int],
        heads: Heads,
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
        self._closing: list[Callable[[], object]] = []
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
        self._append(record_row(self._run, record, tally))
        self._length, self._digest, self._tally = record.seq, record.digest, tally
        if type(event) is RunFinished:
            self._anchor()

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        try:
            self._anchor()
        finally:
            for step in self._closing:
                step()

    def on_close(self, step: Callable[[], object]) -> None:
        """Have ``step`` done once the log is closed."""
        self._closing.append(step)

    def _anchor(self) -> None:
        if self._anchored != self._length:
            self._heads.sign(Head(self._run_id, self._length, self._digest))
            self._anchored = self._length
