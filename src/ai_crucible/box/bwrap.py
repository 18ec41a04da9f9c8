"""Starting a box with bubblewrap, and refusing where it cannot isolate."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import tempfile
from asyncio.subprocess import PIPE
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib import resources
from pathlib import Path

from ai_crucible.box.cgroup import enclose
from ai_crucible.box.channel import Box, read_frame
from ai_crucible.box.limits import BoxLimits
from llm_runtime.errors import ConfigurationError

HOME = "/home/agent"
WORK = f"{HOME}/work"
ORACLE = "/oracle"
SUPERVISOR = "/run/supervisor.py"
PYTHON = "/usr/bin/python3"

# It holds puzzles with their oracles, and may be installed below /usr, which every box can read.
_PACKAGE = Path(__file__).resolve().parents[1]

# As root the kernel does not count processes against a limit, so a box never runs as root: 65534 is "nobody".
_UNPRIVILEGED = 65534
# What cannot start ends at once; a busy machine may take long over what can.
_START_S = 120.0
_INSIDE = 1000


class CannotIsolate(ConfigurationError):
    """This machine gives no box that isolates; nothing was run."""


def arguments(
    bwrap: str, limits: BoxLimits, script_fd: int, *, oracle_fd: int | None = None, hidden: Sequence[Path] = ()
) -> list[str]:
    """Return the bubblewrap command line.

    Args:
        bwrap: the program.
        limits: sizes of the two writable folders, and what the supervisor holds commands to.
        script_fd: a descriptor with the supervisor's text.
        oracle_fd: a descriptor of the oracle's folder, for a grading box only; mounted read-only.
        hidden: host folders that must not be seen; covered where they lie below ``/usr``.
    """
    size = str(limits.disk)
    command = [bwrap, "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session"]
    command += ["--as-pid-1", "--cap-drop", "ALL", "--uid", str(_INSIDE), "--gid", str(_INSIDE), "--clearenv"]
    command += ["--hostname", "box", "--ro-bind", "/usr", "/usr"]
    for link in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        if Path("/usr", link).exists():
            command += ["--symlink", f"usr/{link}", f"/{link}"]
    for folder in hidden:
        if folder.is_relative_to("/usr"):
            command += ["--tmpfs", str(folder), "--remount-ro", str(folder)]
    command += ["--proc", "/proc", "--dev", "/dev"]
    command += ["--perms", "1777", "--size", str(limits.disk), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]
    command += ["--perms", "0700", "--size", size, "--tmpfs", HOME]
    command += ["--perms", "1777", "--size", size, "--tmpfs", "/tmp"]
    command += ["--perms", "0444", "--ro-bind-data", str(script_fd), SUPERVISOR]
    if oracle_fd is not None:
        command += ["--ro-bind-fd", str(oracle_fd), ORACLE]
    command += ["--remount-ro", "/", "--chdir", HOME, "--", PYTHON, "-I", "-S", SUPERVISOR]
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
    limits: BoxLimits | None = None, *, oracle: Path | None = None, hidden: Sequence[Path] = ()
) -> Box:
    """Start a box. The caller closes it.

    Args:
        limits: what it may use.
        oracle: the folder to mount at ``/oracle``: for grading only; such a box runs nothing a solver wrote.
        hidden: folders that must not be seen inside.

    Raises:
        CannotIsolate: bubblewrap is missing or fails; the message carries its reason.
    """
    limits = limits or BoxLimits()
    hidden = [*hidden, _PACKAGE]
    with tempfile.TemporaryFile() as script, tempfile.TemporaryFile() as complaints:
        script.write(_supervisor())
        script.seek(0)
        descriptors = [script.fileno()]
        oracle_fd = os.open(oracle, os.O_PATH | os.O_DIRECTORY) if oracle else None
        try:
            if oracle_fd is not None:
                descriptors.append(oracle_fd)
            command = arguments(find_bwrap(), limits, script.fileno(), oracle_fd=oracle_fd, hidden=hidden)
            # The grading box must read what its owner can read, and runs nothing but our own grader.
            drop = os.geteuid() == 0 and oracle is None
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=PIPE,
                stdout=PIPE,
                stderr=complaints,
                pass_fds=descriptors,
                cwd="/",
                env={},
                limit=1 << 20,
                user=_UNPRIVILEGED if drop else None,
                group=_UNPRIVILEGED if drop else None,
                extra_groups=() if drop else None,
            )
        except OSError as fault:
            raise CannotIsolate(f"bubblewrap cannot be started here: {fault}") from None
        finally:
            if oracle_fd is not None:
                os.close(oracle_fd)
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
    "processes": sorted(int(n) for n in os.listdir("/proc") if n.isdigit() and int(n) not in (1, os.getpid())),
}))
"""
_EXPECTED = ["usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "proc", "dev", "home", "tmp", "run"]


async def probe() -> None:
    """Open a box and look around in it, once for each process.

    Raises:
        CannotIsolate: something of the host can be seen, reached or changed from inside; says what.
    """
    global _probed
    if _probed:
        return
    box = await open_box()
    try:
        seen = await box.run([PYTHON, "-I", "-c", _PROBE % json.dumps(_EXPECTED)])
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
    _probed = True


_probed = False
