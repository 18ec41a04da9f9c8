"""Starting a box with bubblewrap, and refusing where it cannot isolate."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import shutil
import tempfile
from asyncio.subprocess import PIPE
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from functools import cache
from importlib import resources
from pathlib import Path

from ai_crucible.box.cgroup import enclose
from ai_crucible.box.channel import Box, read_frame
from ai_crucible.box.filter import program
from ai_crucible.box.limits import BoxLimits
from ai_crucible.box.root import Root
from llm_runtime.errors import ConfigurationError

HOME = "/home/agent"
WORK = f"{HOME}/work"
ORACLE = "/oracle"
SUPERVISOR = "/run/supervisor.py"
#: By its name, for an image may have it in another folder.
PYTHON = "python3"

# It holds puzzles with their oracles, and may be installed below /usr, of which every box can read a part.
_PACKAGE = Path(__file__).resolve().parents[1]

# As root the kernel does not count processes against a limit, so a box never runs as root: 65534 is "nobody".
_UNPRIVILEGED = 65534
# What cannot start ends at once; a busy machine may take long over what can.
_START_S = 120.0
_INSIDE = 1000


class CannotIsolate(ConfigurationError):
    """This machine gives no box that isolates; nothing was run."""


def arguments(
    bwrap: str,
    limits: BoxLimits,
    script_fd: int,
    *,
    filter_fd: int | None = None,
    oracle_fd: int | None = None,
    hidden: Sequence[Path] = (),
    root: Root | None = None,
) -> list[str]:
    """Return the bubblewrap command line.

    Args:
        bwrap: the program.
        limits: sizes of the two writable folders, and what the supervisor holds commands to.
        script_fd: a descriptor with the supervisor's text.
        filter_fd: a descriptor with the filter of system calls.
        oracle_fd: a descriptor of the oracle's folder, for a grading box only; mounted read-only.
        hidden: host folders that must not be seen; covered where the root would show them.
        root: what the box is made of; the host's programs where left out.

    Raises:
        ConfigurationError: a hidden folder holds what the box is made of.
    """
    root = root or Root()
    size = str(limits.disk)
    command = [bwrap, "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session"]
    command += ["--as-pid-1", "--cap-drop", "ALL", "--uid", str(_INSIDE), "--gid", str(_INSIDE), "--clearenv"]
    command += ["--hostname", "box", *root.mounts(hidden)]
    command += ["--proc", "/proc", "--dev", "/dev"]
    command += ["--perms", "1777", "--size", str(limits.disk), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]
    command += ["--perms", "0700", "--size", size, "--tmpfs", HOME]
    command += ["--perms", "1777", "--size", size, "--tmpfs", "/tmp"]
    command += ["--perms", "0444", "--ro-bind-data", str(script_fd), SUPERVISOR]
    if oracle_fd is not None:
        command += ["--ro-bind-fd", str(oracle_fd), ORACLE]
    if filter_fd is not None:
        command += ["--seccomp", str(filter_fd)]
    command += ["--remount-ro", "/", "--chdir", HOME, "--", root.python, "-I", "-S", SUPERVISOR]
    return [*command, json.dumps(_orders(limits))]


def _orders(limits: BoxLimits) -> dict[str, object]:
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": HOME, "LANG": "C.UTF-8", "TMPDIR": "/tmp"}
    return {**limits.model_dump(), "home": HOME, "work": WORK, "environment": environment}


@cache
def find_bwrap() -> str:
    """Return the bubblewrap program.

    Raises:
        CannotIsolate: it is not installed.
    """
    program = shutil.which("bwrap")
    if program is None:
        raise CannotIsolate("no bubblewrap on this machine, so nothing can be isolated: apt install bubblewrap")
    return program


async def open_box(
    limits: BoxLimits | None = None,
    *,
    oracle: Path | None = None,
    hidden: Sequence[Path] = (),
    root: Root | None = None,
) -> Box:
    """Start a box. The caller closes it.

    Args:
        limits: what it may use.
        oracle: the folder to mount at ``/oracle``: for grading only; such a box runs nothing a solver wrote.
        hidden: folders that must not be seen inside.
        root: what it is made of; the host's programs where left out.

    Raises:
        CannotIsolate: bubblewrap is missing or fails; the message carries its reason.
        ConfigurationError: a hidden folder holds what the box is made of.
    """
    limits = limits or BoxLimits()
    hidden = [*hidden, _PACKAGE]
    calls = program()
    if not calls:
        raise CannotIsolate(f"no filter of system calls is known for this machine ({platform.machine()})")
    with ExitStack() as stack:
        complaints = stack.enter_context(tempfile.TemporaryFile())
        script_fd, filter_fd = (_handed(stack, text) for text in (_supervisor(), calls))
        oracle_fd = os.open(oracle, os.O_PATH | os.O_DIRECTORY) if oracle else None
        if oracle_fd is not None:
            stack.callback(os.close, oracle_fd)
        command = arguments(
            find_bwrap(), limits, script_fd, filter_fd=filter_fd, oracle_fd=oracle_fd, hidden=hidden, root=root
        )
        # The grading box must read what its owner can read, and runs nothing but our own grader.
        drop = os.geteuid() == 0 and oracle is None
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=PIPE,
                stdout=PIPE,
                stderr=complaints,
                pass_fds=[fd for fd in (script_fd, filter_fd, oracle_fd) if fd is not None],
                cwd="/",
                env={},
                limit=1 << 20,
                user=_UNPRIVILEGED if drop else None,
                group=_UNPRIVILEGED if drop else None,
                extra_groups=() if drop else None,
            )
        except OSError as fault:
            raise CannotIsolate(f"bubblewrap cannot be started here: {fault}") from None
        box = Box(process, limits)
        assert process.stdout is not None
        try:
            async with asyncio.timeout(_START_S):
                await read_frame(process.stdout, 0)
        except (EOFError, ValueError, OSError) as fault:
            await box.close()
            complaints.seek(0)
            reason = complaints.read(2000).decode("utf-8", "replace").strip().replace("\n", " / ")
            raise CannotIsolate(f"bubblewrap gives no box here: {reason or type(fault).__name__}") from None
        except BaseException:
            await box.close()
            raise
    box.group = enclose(process.pid, limits)
    return box


def _handed(stack: ExitStack, text: bytes) -> int:
    """Return a descriptor that a box reads a text from."""
    handed = os.memfd_create("box")
    stack.callback(os.close, handed)
    os.write(handed, text)
    os.lseek(handed, 0, os.SEEK_SET)
    return handed


@cache
def _supervisor() -> bytes:
    return resources.files("ai_crucible.box").joinpath("supervisor.py").read_bytes()


_PROBE = """
import json, os, socket
def reach():
    try:
        socket.create_connection(("192.0.2.1", 80), 0.2).close()
        return True
    except OSError:
        return False
def writable(path):
    try:
        open(path, "w").close()
        return True
    except OSError:
        return False
def spared():
    try:
        os.unshare if hasattr(os, "unshare") else None
        import ctypes
        return ctypes.CDLL(None).unshare(0x10000000) == 0
    except OSError:
        return False
with open("/proc/self/status") as status:
    fields = dict(line.split(":\\t", 1) for line in status.read().splitlines() if ":\\t" in line)
print(json.dumps({
    "network": reach() or sorted(os.listdir("/sys/class/net") if os.path.isdir("/sys/class/net") else []) != [],
    "root": sorted(set(os.listdir("/")) - set(%s)),
    "writable": [p for p in ("/usr/.probe", "/.probe", "/etc/.probe", "/dev/.probe") if writable(p)],
    "capabilities": int(fields["CapEff"].strip(), 16) | int(fields["CapBnd"].strip(), 16),
    "namespaces": spared(),
    "unfiltered": fields["Seccomp"].strip() != "2",
    "processes": sorted(int(n) for n in os.listdir("/proc") if n.isdigit() and int(n) not in (1, os.getpid())),
}))
"""
_EXPECTED = ["usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "proc", "dev", "home", "tmp", "run", "etc"]


_probed: set[Root] = set()


async def probe(root: Root | None = None) -> None:
    """Open a box and look around in it, once for each process and root.

    Raises:
        CannotIsolate: something of the host can be seen, reached or changed from inside; says what.
    """
    root = root or Root()
    if root in _probed:
        return
    expected = _EXPECTED if root.folder is None else [entry.name for entry in root.folder.iterdir()]
    box = await open_box(root=root)
    try:
        seen = await box.run([root.python, "-I", "-c", _PROBE % json.dumps([*_EXPECTED, *expected])])
    finally:
        await box.close()
    findings: dict[str, object] = {}
    with suppress(ValueError):
        findings = json.loads(seen.stdout)
    if not findings:
        raise CannotIsolate(f"the box runs nothing: {seen.stderr[-300:].decode('utf-8', 'replace').strip()}")
    leaks = [f"{name}: {value}" for name, value in findings.items() if value]
    if leaks:
        raise CannotIsolate(f"the box leaks ({'; '.join(leaks)}); nothing was run")
    _probed.add(root)
