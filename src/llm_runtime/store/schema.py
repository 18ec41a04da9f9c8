"""The tables of the SQLite store, as ordered, named migrations."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from llm_runtime.errors import StoreDamaged, StoreError

# "Assy": marks a SQLite file as ours.
_APPLICATION_ID = 0x41737379

# A record's key is its run's number and its place in one integer, which SQLite clusters by and needs no second
# index for: appending is what the store does most. What a summary shows stands in each record's row as the sum so
# far: one insert appends, and the last row of a run is its summary.
MIGRATIONS: tuple[tuple[str, str], ...] = (
    (
        "runs and their records",
        """
        CREATE TABLE runs (
            run INTEGER PRIMARY KEY,
            run_id TEXT NOT NULL UNIQUE,
            protocol TEXT NOT NULL,
            title TEXT NOT NULL,
            origin TEXT NOT NULL,
            parent TEXT NOT NULL,
            started_at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX runs_by_time ON runs (started_at, run);
        CREATE TABLE records (
            id INTEGER PRIMARY KEY,
            run INTEGER NOT NULL GENERATED ALWAYS AS (id >> 32) VIRTUAL,
            seq INTEGER NOT NULL GENERATED ALWAYS AS (id & 4294967295) VIRTUAL,
            at INTEGER NOT NULL,
            digest BLOB NOT NULL,
            ending TEXT NOT NULL,
            calls INTEGER NOT NULL,
            input_tokens INTEGER NOT NULL,
            output_tokens INTEGER NOT NULL,
            cost INTEGER NOT NULL,
            cost_unknown INTEGER NOT NULL,
            body BLOB NOT NULL
        ) STRICT;
        """,
    ),
    (
        "what attempts may have taken of which nobody knows the end",
        "ALTER TABLE records ADD COLUMN unknown INTEGER NOT NULL DEFAULT 0",
    ),
)


_COLUMNS = "id, at, digest, ending, calls, input_tokens, output_tokens, cost, cost_unknown, unknown, body"
_INSERT = (
    f"INSERT INTO records ({_COLUMNS}) SELECT column1 << 32 | column2, column3, column4, column5, column6, "
    "column7, column8, column9, column10, column11, column12 FROM"
)
_VALUES = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
# In place of a foreign key, whose check would read all records when a run is deleted.
_WHERE = "WHERE EXISTS (SELECT 1 FROM runs WHERE run = column1)"


def record_id(run: int, seq: int) -> int:
    """Return the key of the record at place ``seq`` (0 to 2^32-1) of the run with number ``run``."""
    return run << 32 | seq


def insert_records(connection: sqlite3.Connection, rows: Sequence[tuple[Any, ...]]) -> int:
    """Insert rows (:data:`~llm_runtime.store.run_log.Row`), all of them or, where their run is not there, none.

    Args:
        connection: to a file of this schema.
        rows: 1 to 83 of them; SQLite before 3.32 takes 999 values at once.

    Returns:
        How many were inserted.
    """
    # One statement is one transaction without the cost of saying so.
    values = ", ".join([_VALUES] * len(rows))
    return connection.execute(f"{_INSERT} (VALUES {values}) {_WHERE}", [*chain.from_iterable(rows)]).rowcount


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Bring the file to the newest schema, one migration after another, each whole or not at all.

    Raises:
        StoreDamaged: the file belongs to another program.
        StoreError: the file was written by a newer version.
    """
    version = _version(connection, path)
    if version == len(MIGRATIONS):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have migrated while this one waited for the lock.
        version = _version(connection, path)
        for number, (_name, script) in enumerate(MIGRATIONS[version:], start=version + 1):
            for statement in script.split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number}")
        connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def read_as_newest(connection: sqlite3.Connection, path: Path) -> None:
    """Let a file that cannot be written be read as if it had the newest schema.

    Raises:
        StoreDamaged, StoreError: as :func:`migrate`.
    """
    if _version(connection, path) == 1:
        connection.execute("CREATE TEMP VIEW records AS SELECT *, 0 AS unknown FROM main.records")
    else:
        migrate(connection, path)


def _version(connection: sqlite3.Connection, path: Path) -> int:
    owner = int(connection.execute("PRAGMA application_id").fetchone()[0])
    if owner != _APPLICATION_ID and _holds_tables(connection):
        raise StoreDamaged(f"{path} belongs to another program; name another file for the run store")
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > len(MIGRATIONS):
        raise StoreError(
            f"the run store {path} was written by a newer version (schema {version}, this one knows "
            f"{len(MIGRATIONS)}); update, or name another file"
        )
    return version


def _holds_tables(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone() is not None
