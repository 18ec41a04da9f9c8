"""What SQLite's errors mean to a person: each becomes one line of our own that says what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from llm_runtime.errors import StoreBusy, StoreDamaged, StoreError, StoreUnwritable

_PRIMARY = 0xFF  # the low byte of an extended result code


@contextmanager
def explained(path: Path) -> Generator[None]:
    """Raise what :func:`explain` makes of any SQLite error in the ``with`` block."""
    try:
        yield
    except sqlite3.IntegrityError:
        raise  # of rows that are there already: who inserts them knows what that means
    except sqlite3.Error as fault:
        raise explain(fault, path) from None


def explain(fault: sqlite3.Error, path: Path) -> StoreError:
    """Return the error of ours that says what ``fault`` means for the store at ``path``."""
    match getattr(fault, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & _PRIMARY:
        case sqlite3.SQLITE_NOTADB:
            return StoreDamaged(f"{path} is not a run store; name another file, or move this one away")
        case sqlite3.SQLITE_CORRUPT:
            return StoreDamaged(
                f"the run store {path} is damaged; restore it from a copy, or export the runs that still read"
            )
        case sqlite3.SQLITE_FULL:
            return StoreUnwritable(f"no room left for the run store {path}; free some space, then resume the run")
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return StoreUnwritable(f"the run store {path} is read-only; make it and its folder writable")
        case sqlite3.SQLITE_CANTOPEN:
            return StoreUnwritable(f"the run store {path} cannot be opened; name a file (no folder) that is writable")
        case sqlite3.SQLITE_IOERR:
            return StoreUnwritable(f"writing the run store {path} failed ({fault}); check the disk, then resume")
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreBusy(f"the run store {path} is locked by another program; close it and try again")
        case _:
            return StoreDamaged(
                f"the run store {path} does not work as one ({fault}); "
                "where a newer version of Assay has opened it, start this program anew; else restore a copy"
            )
