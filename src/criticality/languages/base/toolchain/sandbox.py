"""One program run where it can do no harm: bubblewrap where it is, limits in any case, and a certain end."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import shutil
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from criticality.languages.base.data import read_text

_OUTPUT = 4 << 20
_LOOK_S = 0.05
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Job:
    """What to run and what it may use.

    Args:
        command: the program by its full path, and its arguments.
        folder: where it runs; read-only unless it is below one of ``writable``.
        readable: folders that it sees besides the system's own.
        writable: folders that it may write to.
        environment: all of its variables.
        seconds: wall time.
        memory: bytes that its processes hold together.
        tasks: processes and threads at one time.
        file: bytes of one file that it writes.
        confined: whether it starts no process and opens no socket, besides having no network.
        bound: whether the kernel itself enforces ``memory``; not for programs that map far more than they use.
    """

    command: tuple[str, ...]
    folder: Path
    seconds: float
    memory: int
    readable: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    environment: dict[str, str] = field(default_factory=dict[str, str])
    tasks: int = 128
    file: int = 64 << 20
    confined: bool = True
    bound: bool = False


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended: ``done`` with its exit code, or ``timeout``, ``memory``, ``tasks`` where it was ended."""

    state: str
    code: int
    output: str


class Sandbox:
    """Runs jobs.

    Args:
        folder: of this sandbox; it holds the launcher.
        isolated: with bubblewrap.
    """

    def __init__(self, folder: Path, *, isolated: bool) -> None:
        self.isolated = isolated
        self._launcher = folder / "launch.py"
        self._launcher.write_text(read_text("criticality.languages.base.toolchain", "launch.py"), "utf-8")

    async def run(self, job: Job) -> Ended:
        """Run a job to its end; whatever it started has ended too."""
        limits = {
            "seconds": job.seconds,
            "memory": job.memory if job.bound else 0,
            "file": job.file,
            "confined": job.confined,
        }
        launch = [sys.executable, "-I", "-S", "-B", str(self._launcher), json.dumps(limits), *job.command]
        command = [*self._bubblewrap(job), *launch] if self.isolated else launch
        process = await asyncio.create_subprocess_exec(
            *command, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT, env=job.environment, cwd=job.folder,
            start_new_session=True,
        )  # fmt: skip
        watch = asyncio.ensure_future(_watch(process.pid, job))
        reading = asyncio.ensure_future(_read(process))
        try:
            async with asyncio.timeout(job.seconds):
                await asyncio.wait((watch, reading), return_when=asyncio.FIRST_COMPLETED)
            if not reading.done():
                return Ended(watch.result(), -1, "")
            code = await process.wait()
            return Ended("done", code, reading.result().decode("utf-8", "replace"))
        except TimeoutError:
            return Ended("timeout", -1, "")
        finally:
            await _end(process)
            for task in (watch, reading):
                task.cancel()
            await asyncio.gather(watch, reading, return_exceptions=True)

    def _bubblewrap(self, job: Job) -> list[str]:
        command = ["bwrap", "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent"]
        command += ["--new-session", "--cap-drop", "ALL", "--uid", "1000", "--gid", "1000", "--hostname", "box"]
        command += ["--clearenv"]
        for name, value in job.environment.items():
            command += ["--setenv", name, value]
        command += ["--ro-bind", "/usr", "/usr"]
        for link in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
            if Path("/usr", link).exists():
                command += ["--symlink", f"usr/{link}", f"/{link}"]
        command += ["--proc", "/proc", "--dev", "/dev", "--size", str(256 << 20), "--tmpfs", "/tmp"]
        # Debian's alternatives and Java keep links and settings here; neither holds a secret.
        for path in (Path("/etc/alternatives"), *java_settings(), *interpreter(), *job.readable):
            if path.exists() and not path.is_relative_to("/usr"):
                command += ["--ro-bind", str(path), str(path)]
        command += ["--ro-bind", str(self._launcher), str(self._launcher)]
        for path in job.writable:
            command += ["--bind", str(path), str(path)]
        return [*command, "--remount-ro", "/", "--chdir", str(job.folder), "--"]


def can_isolate() -> bool:
    """Tell whether bubblewrap is installed."""
    return shutil.which("bwrap") is not None


def can_confine() -> bool:
    """Tell whether the launcher has a filter of system calls for this machine."""
    return sys.platform.startswith("linux") and platform.machine() in ("x86_64", "aarch64")


def java_settings() -> list[Path]:
    """Return where Debian's Java keeps its settings."""
    return sorted(Path("/etc").glob("java-*-openjdk"))


def interpreter() -> list[Path]:
    """Return what our own interpreter stands in."""
    prefixes = {sys.prefix, sys.base_prefix, *(str(Path(p).resolve()) for p in (sys.prefix, sys.base_prefix))}
    return [Path(prefix) for prefix in sorted(prefixes)]


async def _read(process: asyncio.subprocess.Process) -> bytes:
    """Its output; what exceeds the limit is read and dropped, so that it does not wait for a reader."""
    assert process.stdout is not None
    parts: list[bytes] = []
    size = 0
    while part := await process.stdout.read(1 << 16):
        if size < _OUTPUT:
            parts.append(part)
        size += len(part)
    return b"".join(parts)


async def _end(process: asyncio.subprocess.Process) -> None:
    """End it and its group, whether or not it waits for them itself."""
    for kill in (lambda: os.killpg(process.pid, signal.SIGKILL), process.kill):
        with suppress(ProcessLookupError, PermissionError):
            kill()
    await process.wait()


async def _watch(pid: int, job: Job) -> str:
    """Look at what the job holds, every now and then; come back when it is too much."""
    while True:
        memory, tasks = _held(pid)
        if memory > job.memory:
            return "memory"
        if tasks > job.tasks:
            return "tasks"
        await asyncio.sleep(_LOOK_S)


def _held(pid: int) -> tuple[int, int]:
    """Resident bytes and tasks of a process and all below it; zero where the system does not say."""
    memory = tasks = 0
    queue = [str(pid)]
    while queue:
        folder = Path("/proc", queue.pop())
        try:
            memory += int((folder / "statm").read_text("ascii").split()[1]) * _PAGE
            for task in (folder / "task").iterdir():
                tasks += 1
                queue += (task / "children").read_text("ascii").split()
        except (OSError, ValueError, IndexError):
            continue
    return memory, tasks
