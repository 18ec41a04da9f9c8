"""What a process and all below it hold and have used; nothing where this machine has no ``/proc``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_TICKS, _PAGE = (os.sysconf(name) for name in ("SC_CLK_TCK", "SC_PAGE_SIZE"))


def spent(pid: int) -> float:
    """Return processor time in seconds."""
    ticks = 0
    for folder, _ in _below(pid):
        with suppress(OSError, ValueError, IndexError):
            fields = (folder / "stat").read_text("ascii", "replace").rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / _TICKS


def held(pid: int) -> tuple[int, int]:
    """Return resident bytes, and how many processes and threads there are."""
    memory = tasks = 0
    for folder, threads in _below(pid):
        with suppress(OSError, ValueError, IndexError):
            memory += int((folder / "statm").read_text("ascii").split()[1]) * _PAGE
            tasks += threads
    return memory, tasks


def _below(pid: int) -> Iterator[tuple[Path, int]]:
    """Yield the folder of each process, and how many threads it has."""
    queue = [str(pid)]
    while queue:
        folder, threads = Path("/proc", queue.pop()), 0
        with suppress(OSError):
            for task in (folder / "task").iterdir():
                threads += 1
                queue += (task / "children").read_text("ascii").split()
        yield folder, threads
