"""The tables of the SQLite store, as ordered, named migrations."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from llm_runtime.errors import StoreBusy, StoreDamaged, StoreError
from llm_runtime.store.database import SQL, SqliteDatabase, migrations_in
from llm_runtime.store.heads import forget_files, take_heads

# "Assy": marks a SQLite file as ours.
_APPLICATION_ID = 0x41737379

WRITTEN_NOW = "runs here are being written by an older version; wait for it, or stop it first"
MIGRATIONS = migrations_in("llm_runtime.store", "migrations/sqlite")

_VALUES = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


@cache
def insertion(many: int) -> str:
    """Return the statement that inserts so many rows, but those of runs that another holds.

    Its values are so many :data:`~llm_runtime.store.committing.Row` and the holder; it returns one for each that it
    inserted.
    """
    # One statement is one transaction without the cost of saying so.
    return SQL["insertion"].format(rows=", ".join([_VALUES] * many))


_ROWS_FOR_FILES = 3


def migrate(database: SqliteDatabase) -> None:
    """Bring the file to the newest schema, one migration after another, each whole or not at all.

    Raises:
        StoreDamaged: the file belongs to another program.
        StoreError: the file was written by a newer version.
        StoreBusy: an older version writes it now.
    """
    if _version(database) == len(MIGRATIONS):
        return
    folder, taken = database.path.parent, list[Path]()
    with database.transaction():
        # Another process may have migrated while this one waited for the lock.
        version = _version(database)
        if version:
            _refuse_while_written(folder / "locks")
        for number, (_name, script) in enumerate(MIGRATIONS[version:], start=version + 1):
            for statement in script.split(";"):
                database.execute(statement)
            if number == _ROWS_FOR_FILES and version:
                taken = take_heads(database, folder / "heads")
            database.execute(f"PRAGMA user_version = {number}")
        database.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
    forget_files(taken)


def read_as_newest(database: SqliteDatabase) -> None:
    """Let a file that cannot be written be read as if it had the newest schema.

    Raises:
        StoreDamaged, StoreError: as :func:`migrate`.
    """
    version = _version(database)
    if version == 0:
        migrate(database)
        return
    for number in range(version + 1, len(MIGRATIONS) + 1):
        for statement in SQL[f"as_newest_{number}"].split(";"):
            database.execute(statement)
        if number == _ROWS_FOR_FILES:
            take_heads(database, database.path.parent / "heads")


def _refuse_while_written(folder: Path) -> None:
    """Refuse a store that an older version writes now.

    Args:
        folder: of lock files, one a run or a process that writes, which go.

    Raises:
        StoreBusy: one is held.
    """
    from filelock import FileLock, Timeout

    for file in folder.glob("*.lock"):
        try:
            with FileLock(file, timeout=0, is_singleton=False):
                file.unlink()
        except Timeout:
            raise StoreBusy(WRITTEN_NOW) from None
        except OSError:
            continue


def _version(database: SqliteDatabase) -> int:
    owner = int(database.execute("PRAGMA application_id")[0][0])
    if owner != _APPLICATION_ID and database.execute("SELECT 1 FROM sqlite_schema LIMIT 1"):
        raise StoreDamaged(f"{database.path} belongs to another program; name another file for the run store")
    version = int(database.execute("PRAGMA user_version")[0][0])
    if version > len(MIGRATIONS):
        raise StoreError(
            f"the run store {database.path} was written by a newer version (schema {version}, this one knows "
            f"{len(MIGRATIONS)}); update, or name another file"
        )
    return version
