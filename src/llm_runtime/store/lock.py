"""Who holds a run: an operating-system lock on a file, which the death of the holder releases at any instant."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from llm_runtime.errors import StoreBusy, StoreUnwritable

if TYPE_CHECKING:
    from collections.abc import Generator

    from filelock import BaseFileLock

# Whoever only looks whether a run is held has its lock for an instant; a writer waits that long, not longer.
_PATIENCE_S = 0.5


class RunLocks:
    """A folder of lock files, one a run. The files stay: removing a lock file lets two hold the same run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def take(self, run_id: str) -> BaseFileLock:
        """Take the lock of a run; ``release()`` gives it back.

        Raises:
            StoreBusy: somebody holds it.
            StoreUnwritable: the folder cannot be written.
        """
        from filelock import Timeout

        lock = self._lock(run_id)
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock.acquire(timeout=_PATIENCE_S, poll_interval=0.01)
        except Timeout:
            raise StoreBusy(
                f"run {run_id} is being written by another process; wait for it, or stop it first"
            ) from None
        except OSError as fault:
            raise StoreUnwritable(
                f"the locks in {self.folder} cannot be written: {fault.strerror}; make the folder writable"
            ) from None
        return lock

    @contextmanager
    def holding(self, run_id: str) -> Generator[None]:
        """Hold the lock of a run, for the length of a ``with`` block."""
        lock = self.take(run_id)
        try:
            yield
        finally:
            lock.release()

    def held(self, run_id: str) -> bool:
        """Tell whether a live process, this one included, holds the run."""
        from filelock import Timeout

        if not self._file(run_id).exists():
            return False
        lock = self._lock(run_id)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return True
        except OSError:
            return False
        lock.release()
        return False

    def forget(self, run_id: str) -> None:
        """Remove the lock file of a run that no longer exists."""
        with suppress(OSError):
            self._file(run_id).unlink(missing_ok=True)

    def _file(self, run_id: str) -> Path:
        return self.folder / f"{run_id}.lock"

    def _lock(self, run_id: str) -> BaseFileLock:
        from filelock import FileLock

        return FileLock(self._file(run_id), thread_local=False, is_singleton=False)
