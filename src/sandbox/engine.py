"""Boxes by a container engine, podman or docker: where bubblewrap is refused, and on machines without Linux.

A box is made of the host's own programs, bound read-only into an empty root, so that nothing is fetched. Where the
host's programs are no Linux programs, ``ASSAY_SANDBOX_IMAGE`` names an image that the engine has.
"""

from __future__ import annotations

import io
import os
import secrets
import shutil
import subprocess
import sys
import tarfile
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path

from sandbox.backends import LAUNCHER, Order, Start
from sandbox.cgroup import ControlGroup
from sandbox.errors import NoIsolation
from sandbox.limits import BoxLimits

IMAGE = "ASSAY_SANDBOX_IMAGE"
_ENGINE_S = 60.0
# Users whom nobody is: one for each box that root starts, since the kernel counts processes by user.
_FIRST_USER, _USERS = 1 << 21, 1 << 20
# The launcher and the supervisor.
_OURS = 4


class Engine:
    """What the two have in common."""

    name, isolates = "", True

    def program(self) -> Path:
        """Return the program; for the docker that is installed without its server, refuse."""
        found = shutil.which(self.name)
        if found is None:
            raise NoIsolation(f"no {self.name} on this machine")
        return Path(found)

    def start(self, order: Order, stack: ExitStack) -> Start:
        engine, name = str(self.program()), f"assay-box-{secrets.token_hex(8)}"
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="box-", ignore_cleanup_errors=True)))
        folder.chmod(0o755)
        argv = [engine, "run", "--rm", "--interactive", "--name", name, "--network", "none", "--hostname", "box"]
        argv += ["--read-only", "--cap-drop", "all", "--security-opt", "no-new-privileges", "--log-driver", "none"]
        # What an engine gives by itself may be more than it has where it runs in a box itself.
        argv += ["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024"]
        argv += ["--user", _user(order), "--workdir", order.folder, *self.own]
        argv += ["--pids-limit", str(order.limits.processes + _OURS)]
        most = order.limits.memory + len(order.scratch) * order.limits.disk + order.limits.disk
        argv += ["--memory", str(most), "--memory-swap", str(most), "--shm-size", str(order.limits.disk)]
        for variable, value in order.environment.items():
            argv += ["--env", f"{variable}={value}"]
        argv += self._holding(order, folder)
        stack.callback(_remove, engine, name)
        argv += [*self.root(engine, folder), *order.launched(LAUNCHER)]
        return Start(argv, {"cwd": "/"}, _First(engine, name))

    def enclose(self, pid: int, limits: BoxLimits, stack: ExitStack) -> ControlGroup | None:
        return None

    def _holding(self, order: Order, folder: Path) -> list[str]:
        """Return the arguments for what a box holds; what has to be made for that lies in ``folder``."""
        argv, inside = list[str](), folder / "root"
        for place in ("dev", "etc", "home", "proc", "run", "sys", "tmp"):
            (inside / place).mkdir(parents=True, exist_ok=True)
        # Podman gives a file system of the box's own the mode of what it covers.
        (inside / "tmp").chmod(0o1777)
        (folder / "empty").mkdir()
        mounts = [] if os.environ.get(IMAGE) and order.root.folder is None else order.root.mounts(order.hidden)
        for kind, source, place in mounts:
            if kind == "link":
                (inside / place.lstrip("/")).symlink_to(source)
            else:
                argv += _bound(source or str(folder / "empty"), place)
        # The engine shows the machine's own; with this it shows nothing of it.
        argv += ["--tmpfs", "/sys:rw,mode=0555,size=4096"]
        for place in order.scratch:
            argv += ["--tmpfs", f"{place}:rw,exec,nosuid,nodev,mode=1777,size={order.limits.disk}"]
        for path in order.shown():
            argv += _bound(str(path), str(path))
        for path in order.writable:
            argv += _bound(str(path), str(path), "rw")
        for number, (place, text) in enumerate({**order.texts, LAUNCHER: order.launcher}.items()):
            (folder / str(number)).write_bytes(text)
            (folder / str(number)).chmod(0o444)
            argv += _bound(str(folder / str(number)), place)
        for place, path in {**order.mounts, **order.shared}.items():
            argv += _bound(str(path), place)
        return argv

    own: tuple[str, ...] = ()

    def root(self, engine: str, folder: Path) -> list[str]:
        """Return the words for what a box is made of, the last before its command."""
        raise NotImplementedError


class Podman(Engine):
    """Podman, as root or not."""

    name = "podman"
    own = ("--read-only-tmpfs=false", "--no-hosts", "--pull=never")

    def root(self, engine: str, folder: Path) -> list[str]:
        named = os.environ.get(IMAGE)
        return [named] if named else ["--rootfs", str(folder / "root")]


class Docker(Engine):
    """Docker; its server may be on a machine of its own that shows this one's folders."""

    name = "docker"
    own = ("--pull=never",)

    def program(self) -> Path:
        found = super().program()
        if _asked(str(found), "version", "--format", "{{.Server.Os}}") != "linux":
            raise NoIsolation("docker's server does not answer here")
        if not sys.platform.startswith("linux") and not os.environ.get(IMAGE):
            raise NoIsolation(f"{IMAGE} names no image; one with Python is needed, such as python:3.12-slim")
        return found

    def root(self, engine: str, folder: Path) -> list[str]:
        named = os.environ.get(IMAGE)
        if named:
            return [named]
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            archive.add(folder / "root", ".")
        return [_asked(engine, "import", "-", data=packed.getvalue())]


def _bound(source: str, place: str, how: str = "ro") -> list[str]:
    return ["--volume", f"{source}:{place}:{how}"]


def _user(order: Order) -> str:
    """Return who runs inside: of ours only where what belongs to us is needed, and never with any capability."""
    if os.geteuid() or order.trusted:
        return f"{os.geteuid()}:{os.getegid()}"
    drawn = _FIRST_USER + secrets.randbelow(_USERS)
    return f"{drawn}:{drawn}"


def _asked(engine: str, *words: str, data: bytes = b"") -> str:
    """Return what the engine answers; empty where it does not."""
    with suppress(OSError, subprocess.TimeoutExpired):
        done = subprocess.run([engine, *words], input=data, capture_output=True, timeout=_ENGINE_S, check=False)
        return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else ""
    return ""


class _First:
    """Finds a container's first process, and remembers it."""

    def __init__(self, engine: str, name: str) -> None:
        self._engine, self._name, self._pid = engine, name, 0

    def __call__(self, _: int) -> int:
        if not self._pid:
            answer = _asked(self._engine, "inspect", "--format", "{{.State.Pid}}", self._name)
            self._pid = int(answer) if answer.isdigit() else 0
        return self._pid


def _remove(engine: str, name: str) -> None:
    _asked(engine, "rm", "--force", "--time", "0", name)
