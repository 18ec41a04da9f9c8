"""The seam to SQL: one dialect for SQLite and PostgreSQL, small enough that a statement is written once."""

from __future__ import annotations

import re
import sqlite3
import threading
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from llm_runtime.errors import StoreError, StoreUnwritable
from llm_runtime.files import flush_folder, saying
from llm_runtime.store.faults import explained
from llm_runtime.undoing import undone

Rows: TypeAlias = list[tuple[Any, ...]]
"""What a statement gives, row by row."""
_COMMENT = re.compile("^--.*\n", re.MULTILINE)


def wall_clock_us() -> int:
    """Return microseconds since the Unix epoch."""
    return time.time_ns() // 1000


class Database(Protocol):
    """Statements with ``?`` for values; ``greatest``, ``least``, ``instr`` and ``assay_now()`` (microseconds since
    the epoch, by the store's own clock) work everywhere. May be used from any thread, one at a time.

    Attributes:
        skip_locked: what a subquery ends with that takes rows which others may be taking.
        keep_still: what one ends with whose rows nobody may change until the transaction is over.
        hold_schema: a statement that lets one transaction at a time change tables.
    """

    skip_locked: str
    keep_still: str
    hold_schema: str

    def execute(self, sql: str, values: Sequence[Any] = (), *, flush: bool = True, repeatable: bool = False) -> Rows:
        """Run one statement; its rows, if it has any. Raises :class:`~llm_runtime.errors.StoreError`.

        Args:
            flush: whether a commit of it waits for the disk. One that does not goes with the next one that does; a
                power cut before that takes it, and all after it.
            repeatable: whether doing it twice does no harm: it is done again where a connection was lost in it. What
                reads always is.
        """
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
        path: the file; made where it is missing and may be written.
        clock: microseconds since the Unix epoch.
        mode: of opening it, as in SQLite's URIs; ``rwc`` writes.
        patience: seconds to wait for who holds it.

    Raises:
        StoreUnwritable, StoreDamaged, StoreBusy: it cannot be opened; the message says what to do.
    """

    skip_locked = keep_still = ""
    hold_schema = "SELECT 1"  # a transaction is alone here anyway

    def __init__(
        self, path: Path, clock: Callable[[], int] = wall_clock_us, *, mode: str = "rwc", patience: float = 30.0
    ) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._flushes = True
        pragmas = ["trusted_schema = OFF"]
        if mode == "rwc":
            _make(path)
            # Rows fit larger pages better, and free ones can be given back. A file that is there would be written.
            pragmas += [] if path.stat().st_size else ["page_size = 8192", "auto_vacuum = INCREMENTAL"]
            pragmas += ["journal_mode = WAL", "synchronous = FULL", "fullfsync = ON"]
        with explained(path):
            self._connection = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode={mode}",
                uri=True,
                timeout=patience,
                isolation_level=None,
                check_same_thread=False,
                cached_statements=256,
            )
            with undone(self._connection.close):
                self._connection.create_function("assay_now", 0, clock)
                for pragma in pragmas:
                    self._connection.execute(f"PRAGMA {pragma}")

    def execute(self, sql: str, values: Sequence[Any] = (), *, flush: bool = True, repeatable: bool = False) -> Rows:
        with self._lock, explained(self.path):
            if flush != self._flushes and not self._connection.in_transaction:
                self._connection.execute(f"PRAGMA synchronous = {'FULL' if flush else 'NORMAL'}")
                self._flushes = flush
            return self._connection.execute(_dialect(sql), values).fetchall()

    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        with self._lock, explained(self.path):
            self._connection.executemany(_dialect(sql), rows)

    @contextmanager
    def transaction(self) -> Generator[None]:
        with self._lock, explained(self.path):
            self.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        self._connection.close()


Migrations = Sequence[tuple[str, str]]
"""In order: the name of each, and its statements, with semicolons between them."""


@cache
def migrations_in(package: str, folder: str) -> Migrations:
    """Return the migrations in a folder of a package: 1.sql, 2.sql, ...; each begins with its name as a comment."""
    place = resources.files(package).joinpath(folder)
    count = sum(file.name.endswith(".sql") for file in place.iterdir())
    scripts = [place.joinpath(f"{number}.sql").read_text(encoding="utf-8") for number in range(1, count + 1)]
    return tuple((script.partition("\n")[0].removeprefix("-- "), _COMMENT.sub("", script)) for script in scripts)


@cache
def queries_in(package: str) -> Mapping[str, str]:
    """Return the queries of ``queries.sql`` in a package, each on one line, by what stands behind ``-- name:``."""
    text = resources.files(package).joinpath("queries.sql").read_text(encoding="utf-8")
    _, *parts = re.split(r"^-- name: (\w+)$", text, flags=re.MULTILINE)
    return {name: " ".join(_COMMENT.sub("", sql).split()) for name, sql in zip(parts[::2], parts[1::2], strict=True)}


#: Those of run stores.
SQL = queries_in("llm_runtime.store")


def migrate(database: Database, kind: str, what: str, migrations: Migrations) -> None:
    """Bring tables to their newest form, each migration whole or not at all; ``KIND_migrations`` keeps count.

    Args:
        database: where they are.
        kind: of the tables, as in the name of the table that keeps count.
        what: they are called in the message of the error.
        migrations: all there are.

    Raises:
        StoreError: a newer version wrote them.
    """
    with database.transaction():
        database.execute(database.hold_schema)
        database.execute(
            f"CREATE TABLE IF NOT EXISTS {kind}_migrations (number BIGINT PRIMARY KEY, name TEXT NOT NULL)"
        )
        done = int(database.execute(f"SELECT coalesce(max(number), 0) FROM {kind}_migrations")[0][0])
        if done > len(migrations):
            raise StoreError(
                f"{what} written by a newer version (schema {done}, this one knows {len(migrations)}); update, or "
                "name another store"
            )
        for number, (name, script) in enumerate(migrations[done:], start=done + 1):
            for statement in filter(str.strip, script.split(";")):
                database.execute(statement)
            database.execute(f"INSERT INTO {kind}_migrations VALUES (?, ?)", (number, name))


def _make(path: Path) -> None:
    with saying(f"the store {path} cannot be made", StoreUnwritable, then="; name another place"):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            # SQLite gives its side files the mode of the file itself: prompts are their owner's alone.
            path.touch(mode=0o600)
            flush_folder(path.parent)


def _dialect(sql: str) -> str:
    return sql.replace("greatest(", "max(").replace("least(", "min(")
