"""A control group around a box, where this machine lets us make one: the kernel's own cap on processes and memory.

The supervisor watches its commands and ends them first; this is what holds when it cannot keep up. Version 2 needs
a delegated group beside our own (as under a systemd user session), version 1 writable hierarchies (as for root in
many containers). Where there is neither, the limits of :mod:`sandbox.supervisor` stand alone.
"""

from __future__ import annotations

import secrets
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sandbox.limits import BoxLimits

_ROOT = Path("/sys/fs/cgroup")
_OWN = Path("/proc/self/cgroup")
# The processes inside die a moment after bubblewrap; their control group can be removed when they have.
_FAREWELLS, _FAREWELL_S = 100, 0.01
# The supervisor itself, and bubblewrap outside.
_OURS = 4


@dataclass(frozen=True, slots=True)
class ControlGroup:
    """The folders of one group, one for each hierarchy it stands in."""

    folders: tuple[Path, ...]

    def add(self, pid: int) -> None:
        """Move a process and its children in; what they start later is in by itself.

        Raises:
            OSError: the kernel refuses.
        """
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        for folder in self.folders:
            for member in (str(pid), *children):
                (folder / "cgroup.procs").write_text(member)

    def remove(self) -> bool:
        """Remove the group, if its processes have all ended; false while one is still on its way out."""
        for folder in self.folders:
            with suppress(OSError):
                folder.rmdir()
        return not any(folder.exists() for folder in self.folders)

    def gone(self) -> None:
        """Remove the group as soon as that can be done."""
        for _ in range(_FAREWELLS):
            if self.remove():
                break
            time.sleep(_FAREWELL_S)


def enclose(pid: int, limits: BoxLimits, root: Path = _ROOT, own: Path = _OWN) -> ControlGroup | None:
    """Make a group around a fresh box that has run nothing yet; ``None`` where none can be made.

    Args:
        pid: bubblewrap's.
        limits: what the box may use.
        root: where control groups are mounted.
        own: the file that names our own groups.
    """
    group = _version_2(limits, root, own) or _version_1(limits, root)
    if group is None:
        return None
    try:
        group.add(pid)
    except OSError:
        group.remove()
        return None
    return group


def _most(limits: BoxLimits) -> tuple[int, int]:
    """Return bytes and processes. Files in the box are memory too: home, temporary folder and shared memory."""
    return limits.memory + 3 * limits.disk, limits.processes + _OURS


def _version_2(limits: BoxLimits, root: Path, own: Path) -> ControlGroup | None:
    memory, processes = _most(limits)
    with suppress(OSError, StopIteration):
        lines = own.read_text().splitlines()
        place = root / next(line.removeprefix("0::/") for line in lines if line.startswith("0::/"))
        parent = place.parent
        controllers = (parent / "cgroup.subtree_control").read_text().split()
        if root not in (place, parent) and {"memory", "pids"} <= set(controllers):
            return _make(parent, {"memory.max": memory, "memory.swap.max": 0, "pids.max": processes})
    return None


def _version_1(limits: BoxLimits, root: Path) -> ControlGroup | None:
    memory, processes = _most(limits)
    caps = {"memory": {"memory.limit_in_bytes": memory}, "pids": {"pids.max": processes}}
    made = [_make(root / name, cap) for name, cap in caps.items() if (root / name / "cgroup.procs").exists()]
    folders = tuple(folder for group in made if group is not None for folder in group.folders)
    return ControlGroup(folders) if folders else None


def _make(parent: Path, settings: dict[str, int]) -> ControlGroup | None:
    folder = parent / f"assay-box-{secrets.token_hex(6)}"
    try:
        folder.mkdir()
    except OSError:
        return None
    group = ControlGroup((folder,))
    try:
        for name, value in settings.items():
            if name != "memory.swap.max" or (folder / name).exists():
                (folder / name).write_text(str(value))
    except OSError:
        group.remove()
        return None
    return group
