"""The thread in which a store writes: what all its logs have to say is committed together, off every event loop."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, Protocol, TypeAlias

from llm_runtime.errors import StoreBusy

Row: TypeAlias = tuple[Any, ...]
"""A record as every store keeps it: run, place, time, digest, the sums up to and including it, body."""

#: Rows of one statement; SQLite before 3.32 takes 999 values at once.
_MOST_ROWS = 80
#: Seconds that a commit waits for the answers of other runs, where several are under way: a model takes a hundred
#: times as long, and a commit with its change of threads costs more than the rows in it.
_GATHER_S = 0.002
#: Seconds that a row which nobody waits for may wait for company, and how many of a log do at the most.
_LAG_S = 0.02
_MOST_WAITING = 64


class Overtaken(StoreBusy):
    """A run was deleted, or written by another process, under its writer; what was to be written is not there."""

    def __init__(self) -> None:
        super().__init__("the run was deleted, or written by another process, under its writer")


class Waiting(Protocol):
    """A log with rows that are not on disk yet, oldest first; a row goes when it is.

    ``fault`` is why the last rows could not be written, where nobody waited who could have been told.
    """

    rows: list[Row]
    fault: Exception | None


_Asked: TypeAlias = tuple[Waiting, "asyncio.Future[None] | None"]


class Committer:
    """Writes what logs hold ready. What one turn of an event loop asks for is one commit, and while a commit is
    under way the rows for the next one gather.

    The thread begins with the first row that may wait, and ends with :meth:`close`.

    Args:
        append: writes rows, of one run or of several, all or none; raises :class:`Overtaken` where a run is not
            as its log left it. May be called again with rows that it has written.
        several: tells whether several logs are open.
    """

    def __init__(self, append: Callable[[list[Row]], None], several: Callable[[], bool]) -> None:
        self._append = append
        self._several = several
        self._writing = threading.Lock()
        self._starting = threading.Lock()
        self._closed = False
        self._asked: SimpleQueue[list[_Asked] | None] = SimpleQueue()
        self._turns: dict[asyncio.AbstractEventLoop, list[_Asked]] = {}
        self._late: dict[asyncio.AbstractEventLoop, dict[Waiting, None]] = {}
        self._thread: threading.Thread | None = None

    def now(self, log: Waiting) -> None:
        """Write what ``log`` holds ready, in this thread. Raises :class:`~llm_runtime.errors.StoreError`."""
        for fault in self._write([log]).values():
            raise fault

    def late(self, log: Waiting) -> bool:
        """Have it written 20 ms from now at the latest, with what all logs of this event loop have by then; a fault is
        left with the log. Return false where no event loop runs: nothing would write it before long."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return False
        if len(log.rows) == _MOST_WAITING:
            self._ask(loop, (log, None))
        logs = self._late.setdefault(loop, {})
        if not logs:
            loop.call_later(_LAG_S, self._write_late, loop)
        logs[log] = None
        return True

    def _write_late(self, loop: asyncio.AbstractEventLoop) -> None:
        for log in self._late.pop(loop):
            if log.rows:
                self._ask(loop, (log, None))

    async def done(self, log: Waiting) -> None:
        """Have it written, and wait until it is. Raises :class:`~llm_runtime.errors.StoreError`.

        Whoever stops waiting does not stop the writing.
        """
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        self._ask(loop, (log, future))
        await future

    def close(self) -> None:
        """Finish what was asked for, and end the thread."""
        with self._starting:
            self._closed = True
        if self._thread is not None:
            self._asked.put(None)
            self._thread.join()
            self._thread = None

    def _ask(self, loop: asyncio.AbstractEventLoop, asked: _Asked) -> None:
        turn = self._turns.setdefault(loop, [])
        if not turn:
            loop.call_soon(self._hand_over, loop)
        turn.append(asked)

    def _hand_over(self, loop: asyncio.AbstractEventLoop) -> None:
        turn = self._turns.pop(loop)
        with self._starting:
            if self._closed:
                # Who still waits has had its log closed, and all that it held written.
                _tell(turn, self._write(dict.fromkeys(log for log, _ in turn)))
                return
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="run store", daemon=True)
                self._thread.start()
        self._asked.put(turn)

    def _serve(self) -> None:
        while True:
            turns = [self._asked.get()]
            if self._several():
                time.sleep(_GATHER_S)
            with suppress(Empty):
                while True:
                    turns.append(self._asked.get_nowait())
            asked = [one for turn in turns if turn is not None for one in turn]
            _tell(asked, self._write(dict.fromkeys(log for log, _ in asked)))
            if None in turns:
                return

    def _write(self, logs: Iterable[Waiting]) -> dict[Waiting, Exception]:
        """Write what the logs hold ready, and return which of them could not be written."""
        faults: dict[Waiting, Exception] = {}
        with self._writing:
            ready = [(log, row) for log in logs for row in tuple(log.rows)]
            for at in range(0, len(ready), _MOST_ROWS):
                # Where rows of a log are missing, none may follow.
                self._put([pair for pair in ready[at : at + _MOST_ROWS] if pair[0] not in faults], faults)
        return faults

    def _put(self, ready: list[tuple[Waiting, Row]], faults: dict[Waiting, Exception]) -> None:
        logs = dict.fromkeys(log for log, _ in ready)
        try:
            if ready:
                self._append([row for _, row in ready])
        except Exception as fault:
            if isinstance(fault, Overtaken) and len(logs) > 1:
                # One of these runs is not ours any more: the others go on.
                for one in logs:
                    self._put([pair for pair in ready if pair[0] is one], faults)
                return
            faults.update(dict.fromkeys(logs, fault))
        else:
            for log, _ in ready:
                del log.rows[0]


def _tell(asked: list[_Asked], faults: dict[Waiting, Exception]) -> None:
    """Wake whoever waits, with one call into each event loop."""
    loops: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[None], Exception | None]]] = {}
    # Those with somebody who waits come last: a fault that is told there is not left with the log, to be told twice.
    for log, future in sorted(asked, key=lambda one: one[1] is not None):
        log.fault = faults.get(log) if future is None else None
        if future is not None:
            loops.setdefault(future.get_loop(), []).append((future, faults.get(log)))
    for loop, outcomes in loops.items():
        # A loop that was closed has nobody left who waits.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(_settle, outcomes)


def _settle(outcomes: list[tuple[asyncio.Future[None], Exception | None]]) -> None:
    for future, fault in outcomes:
        if future.done():
            continue
        if fault is None:
            future.set_result(None)
        else:
            future.set_exception(fault)
