"""Who holds runs: an operating-system lock on a file for each open store, which the death of its process releases.

A run's row names its holder; whether that one lives the lock says. So there is one file for all runs of a process.
"""

from __future__ import annotations

import re
import secrets
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from llm_runtime.errors import StoreUnwritable

if TYPE_CHECKING:
    from filelock import BaseFileLock

# Whoever only looks whether a holder lives has its lock for an instant; whoever wants its run waits that long.
_PATIENCE_S = 0.5
_NAME = re.compile("[0-9a-f]{16}", re.ASCII)


class Holder:
    """One open store, as its runs' rows name it.

    Args:
        folder: of the lock files, one a holder; a holder's file goes with it, and no name is used again.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = secrets.token_hex(8)
        self._taking = threading.Lock()
        self._lock: BaseFileLock | None = None

    def live(self) -> str:
        """Take the lock, where that is not done yet, and return the name to put into rows.

        Raises:
            StoreUnwritable: the folder cannot be written.
        """
        with self._taking:
            if self._lock is None:
                lock = self._file_lock(self.name)
                try:
                    self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                    lock.acquire(timeout=_PATIENCE_S, poll_interval=0.01)
                except OSError as fault:
                    raise StoreUnwritable(
                        f"the locks in {self.folder} cannot be written: {fault.strerror}; make the folder writable"
                    ) from None
                self._lock = lock
        return self.name

    def alive(self, name: str, *, wanted: bool = False) -> bool:
        """Tell whether another holder lives; the file of a dead one goes. Who wants its run looks twice."""
        from filelock import Timeout

        # A row may say anything, and this becomes a path.
        if not _NAME.fullmatch(name) or not (file := self._file(name)).exists():
            return False
        lock = self._file_lock(name)
        try:
            lock.acquire(timeout=_PATIENCE_S if wanted else 0, poll_interval=0.01)
        except Timeout:
            return True
        except OSError:
            return False
        with suppress(OSError):
            file.unlink()
        lock.release()
        return False

    def close(self) -> None:
        """Die: what rows still name this holder is free."""
        if self._lock is not None:
            with suppress(OSError):
                self._file(self.name).unlink()
            self._lock.release()
            self._lock = None

    def _file(self, name: str) -> Path:
        return self.folder / f"{name}.lock"

    def _file_lock(self, name: str) -> BaseFileLock:
        from filelock import FileLock

        return FileLock(self._file(name), thread_local=False, is_singleton=False)
