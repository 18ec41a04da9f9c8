"""Where things lie in a project (CT2), and how they are written: whole or not at all."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from llm_runtime import files
from llm_runtime.errors import ConfigurationError, StoreBusy, StoreUnwritable

STATE = ".criticality/state.json"
JOURNAL = ".criticality/events.jsonl"
LEDGER = ".criticality/ledger.toml"
TELEMETRY = ".criticality/telemetry.json"
LOCK = ".criticality/lock"
CONFIG = "criticality.toml"


class ArchiveUnwritable(StoreUnwritable):
    """What is to be put away cannot be, so it must not be dropped."""


def write_project_file(root: Path, path: str, text: str, *, durable: bool = True) -> None:
    """Write a file of the project; what the journal can give back need not be durable.

    Raises:
        ArchiveUnwritable: it belongs to the archive and cannot be written.
        StoreUnwritable: it cannot be written.
    """
    try:
        write_atomic(root / path, text, durable=durable)
    except StoreUnwritable as fault:
        if path.startswith(".criticality/archive/"):
            raise ArchiveUnwritable(str(fault)) from None
        raise


def write_atomic(path: Path, text: str, *, durable: bool = True) -> None:
    """Write a file in one step, and make its folder; a file that is unchanged is left alone.

    Raises:
        StoreUnwritable: the folder is read-only, the disk is full, or it fails.
    """
    data = text.encode("utf-8")
    with suppress(OSError):
        if path.read_bytes() == data:
            return
    then = f"; free the disk or make {path.parent} writable, then: criticality resume"
    with files.saying(f"{path.name} cannot be written", StoreUnwritable, then=then):
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write_atomic(path, data, durable=durable)


@contextmanager
def holding(root: Path) -> Generator[None]:
    """Hold the project's lock for the length of a ``with`` block: one orchestrator a project.

    Raises:
        StoreBusy: another process works on it.
        StoreUnwritable: the folder cannot be written.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(root / LOCK, thread_local=False, is_singleton=False)
    try:
        (root / LOCK).parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout:
        raise StoreBusy(f"another process works on {root.name}; wait for it, or stop it first") from None
    except OSError as fault:
        raise StoreUnwritable(f"the lock of {root.name} cannot be written: {fault.strerror}") from None
    try:
        yield
    finally:
        lock.release()


def require_project(root: Path) -> None:
    """Say so where there is no project.

    Raises:
        ConfigurationError: there is none.
    """
    if not (root / JOURNAL).exists():
        raise ConfigurationError(f"there is no project in {root}; begin with: criticality init NAME")
