"""The seam to SQL: one dialect for SQLite and PostgreSQL, small enough that a statement is written once."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol

from llm_runtime.errors import ConfigurationError, StoreUnwritable
from llm_runtime.store.faults import explained

_BUSY_S = 30.0


def wall_clock_us() -> int:
    """Return microseconds since the Unix epoch."""
    return time.time_ns() // 1000


class Database(Protocol):
    """Statements with ``?`` for values; ``greatest``, ``least`` and ``assay_now()`` (microseconds since the epoch,
    by the store's own clock) work everywhere. May be used from any thread, one at a time.

    Attributes:
        skip_locked: what a subquery ends with that takes rows which others may be taking.
        hold_schema: a statement that lets one transaction at a time change tables.
    """

    skip_locked: str
    hold_schema: str

    def execute(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run one statement; its rows, if it has any. Raises :class:`~llm_runtime.errors.StoreError`."""
        ...

    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement with each of ``rows``."""
        ...

    def transaction(self) -> AbstractContextManager[None]:
        """Commit all statements of the block, or none."""
        ...

    def close(self) -> None: ...


class SqliteDatabase:
    """A :class:`Database` in a SQLite file in WAL mode.

    Args:
        path: the file; made where it is missing.
        clock: microseconds since the Unix epoch.
    """

    skip_locked = ""
    hold_schema = "SELECT 1"  # a transaction is alone here anyway

    def __init__(self, path: Path, clock: Callable[[], int] = wall_clock_us) -> None:
        self.path = path
        self._lock = threading.RLock()
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.touch(mode=0o600)
        except OSError as fault:
            raise StoreUnwritable(f"the batch store {path} cannot be made: {fault.strerror}") from None
        with explained(path):
            self._connection = sqlite3.connect(
                path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False, cached_statements=256
            )
            self._connection.create_function("assay_now", 0, clock)
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.execute("PRAGMA trusted_schema = OFF")

    def execute(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._lock, explained(self.path):
            return self._connection.execute(_dialect(sql), values).fetchall()

    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        with self._lock, explained(self.path):
            self._connection.executemany(_dialect(sql), rows)

    @contextmanager
    def transaction(self) -> Generator[None]:
        with self._lock, explained(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        self._connection.close()


def open_database(url: str) -> Database:
    """Open the database of batches that belongs to a run store.

    Args:
        url: of the run store: a path, ``sqlite:///PATH`` or ``postgresql://...``. Beside ``runs.db`` batches are
            in ``runs-batches.db``, so that the two do not wait for each other.

    Raises:
        ConfigurationError: a URL of another kind.
        StoreError: it cannot be opened.
    """
    if url.startswith(("postgresql://", "postgres://")):
        from llm_runtime.store.postgres_connection import PostgresDatabase

        return PostgresDatabase(url)
    scheme, separator, _ = url.partition("://")
    if separator and scheme != "sqlite":
        raise ConfigurationError(
            f"{scheme}:// is no store of batches; use a path, sqlite:///PATH or postgresql://HOST/DATABASE"
        )
    return SqliteDatabase(batches_path(Path(url.removeprefix("sqlite:///"))))


def batches_path(runs: Path) -> Path:
    """Return where the batches of a store in a file are."""
    return runs.with_name(f"{runs.stem}-batches.db")


def _dialect(sql: str) -> str:
    return sql.replace("greatest(", "max(").replace("least(", "min(")
