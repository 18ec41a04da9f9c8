"""The run store in one SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path

from llm_runtime.clock import now_ms
from llm_runtime.errors import StoreUnwritable
from llm_runtime.store.committing import Row
from llm_runtime.store.database import SqliteDatabase
from llm_runtime.store.durability import Durability
from llm_runtime.store.heads import Heads
from llm_runtime.store.ownership import SILENT_S, Owner
from llm_runtime.store.run_store import RunStore
from llm_runtime.store.schema import insertion, migrate, read_as_newest
from llm_runtime.store.signing import KeySigner, Signer
from llm_runtime.undoing import undone

_BUSY_S = 5.0
#: Milliseconds that a write waits for another program: beyond that what was paid for is lost with its run.
_PATIENCE_MS = 30_000
_INCREMENTAL = 2
#: Free pages that are given back at a time, so that who writes waits for an instant only.
_STEP_PAGES = 500


class SqliteStore(RunStore):
    """A :class:`~llm_runtime.store.run_store.RunStore` in a SQLite file in WAL mode.

    Beside the file stands, where nobody else signs, ``signing.key``. A file that is there and cannot
    be opened for writing is opened for reading; whatever writes then raises
    :class:`~llm_runtime.errors.StoreUnwritable`.

    Args:
        path: the file; it and its folder are made where they are missing.
        clock: milliseconds since the Unix epoch, for the time of each record.
        signer: signs heads, in place of the key beside the file.
        durability: what waits for the disk.
        silent_s: seconds without a sign of life after which another takes over what a process here holds.

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
    with_words = "SELECT rowid FROM words WHERE words MATCH ?"
    this_one = "id = (? << 32 | ?) AND at = ? AND digest = ?"

    def __init__(
        self, path: Path, *, clock: Callable[[], int] = now_ms, signer: Signer | None = None,
        durability: Durability = "paid", silent_s: float = SILENT_S,
    ) -> None:  # fmt: skip
        super().__init__(str(path), clock, durability)
        self.path = path
        self.writer = self._database = self._open()
        self.writer.execute(f"PRAGMA busy_timeout = {_PATIENCE_MS}")
        self.reader = self._open()
        self.owner = Owner(self.writer, path, silent_s=silent_s, woken=self._tell_the_late)
        self.heads = Heads(self.reader, self.writer, KeySigner(path.parent / "signing.key"), signer)

    def size(self) -> int:
        files = (self.path, *(Path(f"{self.path}{side}") for side in ("-wal", "-shm")))
        return sum(file.stat().st_size for file in files if file.exists())

    def put_words(self, run: int, text: str) -> None:
        self.writer.execute("DELETE FROM words WHERE rowid = ?", (run,))
        if text:
            self.writer.execute("INSERT INTO words (rowid, body) VALUES (?, ?)", (run, text))

    def _pattern(self, words: Sequence[str]) -> str:
        return " ".join(f'"{word}"*' for word in words)

    def faults(self) -> list[str]:
        faults = [str(row[0]).replace("\n", " ") for row in self.reader.execute("PRAGMA quick_check(20)")]
        return [] if faults == ["ok"] else faults

    def give_back(self) -> None:
        self._check_writable()
        if self._database.execute("PRAGMA auto_vacuum") != [(_INCREMENTAL,)]:
            # A file of the first versions has to be written anew for it, once.
            self._database.execute("PRAGMA auto_vacuum = INCREMENTAL")
            self._database.execute("VACUUM")
        while self._database.execute("PRAGMA freelist_count") != [(0,)]:
            self._database.execute(f"PRAGMA incremental_vacuum({_STEP_PAGES})")
        self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _insert(self, rows: list[Row], holder: str, *, flush: bool) -> int:
        try:
            return len(self._database.execute(insertion(len(rows)), [*chain.from_iterable(rows), holder], flush=flush))
        except sqlite3.IntegrityError:
            return 0

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
        with undone(database.close):
            (migrate if mode == "rwc" else read_as_newest)(database)
        return database
