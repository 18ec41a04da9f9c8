"""Boxes by bubblewrap: namespaces of the kernel's, for whoever starts them without being root."""

from __future__ import annotations

import os
import shutil
from contextlib import ExitStack
from pathlib import Path

from sandbox.backends import LAUNCHER, Order, Start
from sandbox.cgroup import ControlGroup, enclose
from sandbox.errors import NoIsolation
from sandbox.limits import BoxLimits

# As root the kernel does not count processes against a limit, so a box never runs as root: 65534 is "nobody".
_UNPRIVILEGED = 65534
_INSIDE = 1000


class Bubblewrap:
    """The backend."""

    name, isolates = "bubblewrap", True

    def program(self) -> Path:
        program = shutil.which("bwrap")
        if program is None:
            raise NoIsolation("no bubblewrap on this machine, so nothing can be isolated: apt install bubblewrap")
        # The user as whom root's boxes start may not come to where a link stands.
        return Path(program).resolve()

    def start(self, order: Order, stack: ExitStack) -> Start:
        texts = {place: _handed(stack, text) for place, text in {**order.texts, LAUNCHER: order.launcher}.items()}
        mounts = {place: _folder(stack, path) for place, path in {**order.mounts, **order.shared}.items()}
        argv = arguments(str(self.program()), order, texts, mounts)
        drop = os.geteuid() == 0 and not order.trusted
        who = {"user": _UNPRIVILEGED, "group": _UNPRIVILEGED, "extra_groups": ()} if drop else {}
        return Start(argv, {"pass_fds": [*texts.values(), *mounts.values()], "cwd": "/", "env": {}, **who})

    def enclose(self, pid: int, limits: BoxLimits, stack: ExitStack) -> ControlGroup | None:
        if (group := enclose(pid, limits)) is not None:
            # Taken down after what is in it has ended.
            stack.callback(group.gone)
        return group


def arguments(bwrap: str, order: Order, texts: dict[str, int], mounts: dict[str, int]) -> list[str]:
    """Return the bubblewrap command line.

    Args:
        bwrap: the program.
        order: what the box holds.
        texts: descriptors with the texts of files, by their place.
        mounts: descriptors of folders, by their place.

    Raises:
        BadRoot: a hidden folder holds what the box is made of.
    """
    size = str(order.limits.disk)
    command = [bwrap, "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session"]
    command += ["--as-pid-1"] if order.supervised else []
    command += ["--cap-drop", "ALL", "--uid", str(_INSIDE), "--gid", str(_INSIDE), "--clearenv"]
    for name, value in order.environment.items():
        command += ["--setenv", name, value]
    command += ["--hostname", "box"]
    for kind, source, place in order.root.mounts(order.hidden):
        match kind:
            case "link":
                command += ["--symlink", source, place]
            case "folder":
                command += ["--ro-bind", source, place]
            case "empty":
                command += ["--tmpfs", place, "--remount-ro", place]
    command += ["--proc", "/proc", "--dev", "/dev"]
    command += ["--perms", "1777", "--size", size, "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]
    for place in order.scratch:
        command += ["--perms", "1777" if place == "/tmp" else "0700", "--size", size, "--tmpfs", place]
    for path in order.shown():
        command += ["--ro-bind", str(path), str(path)]
    for path in order.writable:
        command += ["--bind", str(path), str(path)]
    for place, text in texts.items():
        command += ["--perms", "0444", "--ro-bind-data", str(text), place]
    for place, folder in mounts.items():
        command += ["--ro-bind-fd", str(folder), place]
    return [*command, "--remount-ro", "/", "--chdir", order.folder, "--", *order.launched(LAUNCHER)]


def _handed(stack: ExitStack, text: bytes) -> int:
    """Return a descriptor that a box reads a text from."""
    handed = os.memfd_create("box")
    stack.callback(os.close, handed)
    os.write(handed, text)
    os.lseek(handed, 0, os.SEEK_SET)
    return handed


def _folder(stack: ExitStack, path: Path) -> int:
    handed = os.open(path, os.O_PATH)
    stack.callback(os.close, handed)
    return handed
