"""Who holds what in a database: owners that show every ten seconds that they live, and lose all when they do not.

An owner is a row under a name that is drawn once, its epoch. What it holds, a run, a job, an entry, names it. Who
changes what is held names his epoch in the same statement, which does nothing where another stands there by now. So
who was stopped and wakes up late writes nothing, whatever he believes. No lock of a system or a server is needed.

An owner is gone when its row is: it went by itself, or somebody buried it. That is done where its process ended on
this machine, or where its row was seen not to change for half a minute. Who looks counts that by a clock that never
jumps, and only a little for each look: a clock that is set, a database that was away, or a machine that was asleep
buries nobody.
"""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from functools import cache
from pathlib import Path

from llm_runtime.errors import StoreError, StoreUnwritable
from llm_runtime.store.database import SQL, Database

#: Seconds without a sign of life after which an owner counts as dead; three signs are due in them.
SILENT_S = 30.0
_LOOKS = 6


@dataclass(eq=False, repr=False)
class Owner:
    """One that holds things in a database; it shows that it lives from :meth:`live` on.

    Args:
        database: has the table ``owners``.
        file: of a database that one machine alone can use; a copy of it has no owners.
        silent_s: seconds of silence that count as death; all owners of a database should have the same.
        woken: called after each sign of life, to look at what is still held.
        clock: seconds, never backwards.
        sleep: waits so many seconds.

    Attributes:
        name: the epoch, as what it holds names it.
    """

    database: Database
    file: Path | None = None
    _: KW_ONLY
    silent_s: float = SILENT_S
    woken: Callable[[], object] = lambda: None
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], object] = time.sleep

    def __post_init__(self) -> None:
        self.name = secrets.token_hex(8)
        self._inode = "-" if self.file is None else str(self.file.stat().st_ino)
        #: A sign of life, the moment of the last look at it, and for how many seconds it has been the same.
        self._seen: dict[str, tuple[int, float, float]] = {}
        self._beginning = threading.Lock()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def live(self) -> str:
        """Show that it lives, now and from now on, and return the name to put into rows.

        Raises:
            StoreError: the database cannot be written.
        """
        with self._beginning:
            if self._thread is None:
                self.beat()
                self._thread = threading.Thread(target=self._keep, name=f"owner {self.name}", daemon=True)
                self._thread.start()
        return self.name

    def beat(self) -> None:
        """Give a sign of life, as :meth:`live` has it done, and look at what is still held."""
        number = os.getpid()
        process = " ".join((self._inode, *_machine(), str(number), _began(number)))
        self.database.execute(SQL["beat"], (self.name, process), flush=False, repeatable=True)
        self.woken()

    def stay(self) -> str:
        """Return the name, unless the file was moved away, or replaced: no key of it lies where it was.

        Raises:
            StoreUnwritable: it was.
        """
        if self.file and not (self.file.exists() and str(self.file.stat().st_ino) == self._inode):
            raise StoreUnwritable(f"{self.file} was moved away under a run, with what is recorded in it; move it back")
        return self.name

    def alive(self, process: str, beat: int, now: int) -> bool:
        """Tell by another owner's row whether it seems to live, for people to read: the store's clock decides."""
        return not self._ended_here(process) and abs(now - beat) / 1e6 < self.silent_s

    def gone(self, name: str) -> bool:
        """Tell whether another owner is gone for good; what it held may be taken then.

        One that is silent is watched until that is sure, which takes as long as it may be silent.
        """
        first = None
        while rows := self._rows("WHERE name = ?", name):
            [(_, process, beat, now)] = rows
            if self._buried(name, process, beat):
                return True
            if abs(now - beat) / 1e6 < self.silent_s / 2 or beat != (first := first or beat):
                return False
            self.sleep(self.silent_s / _LOOKS / 2)
        return True

    def bury(self) -> None:
        """Look at all owners; those that are gone have no row then."""
        rows = self._rows("WHERE name <> ?", self.name)
        self._seen = {name: self._seen[name] for name, *_ in rows if name in self._seen}
        for name, process, beat, _ in rows:
            self._buried(name, process, beat)

    def close(self) -> None:
        """Go: what rows still name this owner is free."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
            with suppress(StoreError):
                self.database.execute("DELETE FROM owners WHERE name = ?", (self.name,), flush=False)
            self._thread = None

    def _rows(self, which: str, *values: str) -> list[tuple[str, str, int, int]]:
        return self.database.execute(f"SELECT name, process, beat, assay_now() FROM owners {which}", values)

    def _buried(self, name: str, process: str, beat: int) -> bool:
        now = self.clock()
        before, at, quiet = self._seen.get(name, (None, now, 0.0))
        quiet = quiet + min(now - at, self.silent_s / _LOOKS) if before == beat else 0.0
        self._seen[name] = (beat, now, quiet)
        if not self._ended_here(process) and quiet < self.silent_s:
            return False
        del self._seen[name]
        bury = "DELETE FROM owners WHERE name = ? AND beat = ? RETURNING 1"
        return bool(self.database.execute(bury, (name, beat), repeatable=True))

    def _ended_here(self, process: str) -> bool:
        """Tell whether a process is known to have ended, from its row alone."""
        file, boot, space, number, began = [*process.split(" "), "", "", "", ""][:5]
        if file != self._inode or (self.file is not None and boot != _machine()[0]):
            # A copy of the file, or no row of ours, or the machine was started anew since.
            return True
        return (boot, space) == _machine() != ("", "") and number.isdecimal() and _ended(int(number), began)

    def _keep(self) -> None:
        while not self._ended.wait(self.silent_s / 3):
            # A database that is away is asked again; who is overtaken meanwhile finds that out where it writes.
            with suppress(StoreError):
                self.beat()


@cache
def _machine() -> tuple[str, str]:
    """Return when this machine was started, and the space of its processes' numbers, where it says that."""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
        return boot, str(Path("/proc/self/ns/pid").readlink())
    return "", ""


def _ended(number: int, began: str) -> bool:
    with suppress(PermissionError, OverflowError):
        try:
            os.kill(number, 0)
        except ProcessLookupError:
            return True
    return _began(number) not in ("", began)


def _began(number: int) -> str:
    """Return when a process began, in a word; its state where it ended, nothing where nobody says."""
    with suppress(OSError):
        state, *fields = Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return state if state in "ZX" else fields[18]
    return ""
