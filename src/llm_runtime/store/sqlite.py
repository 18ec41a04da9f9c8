"""The run store in one SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from itertools import chain
from pathlib import Path

from llm_runtime.clock import now_ms
from llm_runtime.errors import StoreUnwritable
from llm_runtime.store.anchor import Heads
from llm_runtime.store.committing import Row
from llm_runtime.store.database import SqliteDatabase
from llm_runtime.store.lock import RunLocks
from llm_runtime.store.run_store import RunStore
from llm_runtime.store.schema import insertion, migrate, read_as_newest

_BUSY_S = 5.0


class SqliteStore(RunStore):
    """A :class:`~llm_runtime.store.run_store.RunStore` in a SQLite file in WAL mode.

    Beside the file stand ``heads/`` (signed heads), ``locks/`` and ``signing.key``. A file that is there and cannot
    be opened for writing is opened for reading; whatever writes then raises
    :class:`~llm_runtime.errors.StoreUnwritable`.

    Args:
        path: the file; it and its folder are made where they are missing.
        clock: milliseconds since the Unix epoch, for the time of each record.
        heads: where heads are kept, if not beside the file.

    Raises:
        StoreUnwritable, StoreDamaged, StoreBusy: it cannot be opened; the message says what to do.
        StoreError: it was written by a newer version.
    """

    last_records = (
        "LEFT JOIN records l ON l.id = "
        "(SELECT max(id) FROM records WHERE id BETWEEN r.run << 32 AND (r.run + 1 << 32) - 1)"
    )
    behind = "id > (?1 << 32 | ?2) AND id < (?1 + 1 << 32)"
    in_order = "id"
    this_one = "id = (? << 32 | ?) AND at = ? AND digest = ?"

    def __init__(self, path: Path, *, clock: Callable[[], int] = now_ms, heads: Heads | None = None) -> None:
        super().__init__(str(path), clock, heads or Heads(path.parent / "heads", path.parent / "signing.key"))
        self.path = path
        self._locks = RunLocks(path.parent / "locks")
        self.writer = self._open()
        self.reader = self._open()

    def delete(self, run_id: str) -> None:
        super().delete(run_id)
        self._locks.forget(run_id)

    def _insert(self, rows: list[Row]) -> int:
        try:
            return len(self.writer.execute(insertion(len(rows)), [*chain.from_iterable(rows)]))
        except sqlite3.IntegrityError:
            return 0

    def _take(self, run_id: str) -> Callable[[], object]:
        return self._locks.take(run_id).release

    def _held(self, run_id: str) -> bool:
        return self._locks.held(run_id)

    def _open(self) -> SqliteDatabase:
        try:
            return self._opened("rwc")
        except StoreUnwritable as fault:
            self._unwritable = str(fault)
        try:
            # Without a log of late writes nothing has to be coordinated, which needs a folder that is writable.
            return self._opened("ro" if Path(f"{self.path}-wal").exists() else "ro&immutable=1")
        except StoreUnwritable:
            raise StoreUnwritable(self._unwritable) from None

    def _opened(self, mode: str) -> SqliteDatabase:
        database = SqliteDatabase(self.path, mode=mode, patience=_BUSY_S)
        try:
            (migrate if mode == "rwc" else read_as_newest)(database)
        except BaseException:
            database.close()
            raise
        return database
