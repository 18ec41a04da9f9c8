"""What stores of the first versions kept in files beside them: signed heads and locks, taken over as rows."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from llm_runtime.errors import StoreBusy, StoreDamaged
from llm_runtime.store.anchor import HeadFiles, SignedHead
from llm_runtime.store.database import Database

_COLUMNS = "run_id, name, length, digest, trail, signature, public_key"


def refuse_while_written(folder: Path) -> None:
    """Refuse a store that an older version writes now.

    Args:
        folder: of lock files, one a run or a process that writes, which go.

    Raises:
        StoreBusy: one is held.
    """
    from filelock import FileLock, Timeout

    for file in folder.glob("*.lock"):
        lock = FileLock(file, thread_local=False, is_singleton=False)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise StoreBusy(
                "runs here are being written by an older version; wait for it, or stop it first"
            ) from None
        except OSError:
            continue
        with suppress(OSError):
            file.unlink()
        lock.release()


def take_heads(database: Database, folder: Path) -> list[Path]:
    """Enter the heads of the runs that a store has, and return their files; those of others stay where they are."""
    if not folder.is_dir():
        return []
    runs = {run_id for (run_id,) in database.execute("SELECT run_id FROM runs")}
    files: list[Path] = []
    for file in sorted(folder.glob("*.json")):
        if file.stem not in runs:
            continue
        # What is no head stays, and nobody vouches for the run.
        with suppress(StoreDamaged):
            if signed := HeadFiles(folder).load(file.stem):
                _enter(database, file.stem, signed)
                files.append(file)
    return files


def _enter(database: Database, run_id: str, signed: SignedHead) -> None:
    head = signed.head
    values = (run_id, head.run_id, head.length, head.digest, b"", signed.signature, signed.public_key)
    database.execute(f"INSERT INTO heads ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", values)


def forget(files: list[Path]) -> None:
    """Remove files that were taken over, and their folder where it is empty then."""
    for file in files:
        with suppress(OSError):
            file.unlink()
    if files:
        with suppress(OSError):
            files[0].parent.rmdir()
