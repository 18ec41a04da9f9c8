"""Where generated tests run: bubblewrap where it is there, limits on resources in any case, and it says which."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from asyncio.subprocess import DEVNULL, PIPE
from contextlib import suppress
from pathlib import Path
from typing import Any

from criticality.languages.base.data import read_text
from criticality.testing import Limits, TestReport, TestResult
from llm_runtime.errors import ConfigurationError

_START_S = 20.0
#: Lines are watched over fewer random values: watching is slow, and what a hundred reach, twenty-five do too.
_TRACED_EXAMPLES = 25


class Box:
    """One runner process with a folder of its own, used by one job at a time.

    Args:
        folder: on this machine; it holds the runner and what is tested, and is read-only inside.
        isolated: with bubblewrap.
    """

    def __init__(self, folder: Path, limits: Limits, *, isolated: bool) -> None:
        self.folder, self.limits, self.isolated = folder, limits, isolated
        self._process: asyncio.subprocess.Process | None = None
        self._there: dict[str, str] = {}
        self._count = 0

    async def run(
        self,
        tree: dict[str, str],
        tests: list[str],
        *,
        stop_early: bool = False,
        examples: int | None = None,
        seconds: float | None = None,
    ) -> TestReport:
        """Run test files of a source tree.

        Raises:
            ConfigurationError: no runner starts here.
        """
        options = {"stop_early": stop_early, "examples": examples, **({"seconds": seconds} if seconds else {})}
        answer = await self._answer(tree, tests, options)
        return TestReport(answer["state"], tuple(TestResult(**test) for test in answer["tests"]))

    async def lines(self, tree: dict[str, str], tests: list[str]) -> float | None:
        """Return the share of the sources' lines that run when test files do; ``None`` where the run does not end.

        Raises:
            ConfigurationError: no runner starts here.
        """
        answer = await self._answer(tree, tests, {"lines": True, "examples": _TRACED_EXAMPLES})
        ran, known = answer.get("lines") or (0, 0)
        return ran / known if known else None

    async def _answer(self, tree: dict[str, str], tests: list[str], options: dict[str, Any]) -> dict[str, Any]:
        self._sync(tree)
        if self._process is None or self._process.returncode is not None:
            await self._start()
        process = self._process
        assert process is not None and process.stdin is not None and process.stdout is not None
        self._count += 1
        job: dict[str, Any] = {
            "id": self._count,
            "root": "/project" if self.isolated else str(self.folder / "project"),
            "tests": tests,
            **self.limits.model_dump(),
            **options,
        }
        try:
            process.stdin.write(json.dumps(job).encode() + b"\n")
            async with asyncio.timeout(job["seconds"] + 10):
                line = await process.stdout.readline()
            answer: dict[str, Any] = json.loads(line)
        except (TimeoutError, ValueError, ConnectionError):
            await self.close()
            return {"state": "died", "tests": []}
        except asyncio.CancelledError:
            await self.close()
            raise
        return answer

    async def close(self) -> None:
        """End the runner and all it started."""
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    def _sync(self, tree: dict[str, str]) -> None:
        for path in self._there.keys() - tree.keys():
            (self.folder / "project" / path).unlink(missing_ok=True)
        for path, text in tree.items():
            if self._there.get(path) != text:
                target = self.folder / "project" / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, encoding="utf-8")
        self._there = dict(tree)

    async def _start(self) -> None:
        (self.folder / "project").mkdir(parents=True, exist_ok=True)
        runner = self.folder / "runner.py"
        runner.write_text(read_text("criticality.languages.python", "box_runner.py"), "utf-8")
        environment = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        command = [sys.executable, "-I", "-B", str(runner)]
        if self.isolated:
            command = [*_bubblewrap(self.folder, environment), sys.executable, "-I", "-B", "/runner.py"]
        self._process = await asyncio.create_subprocess_exec(
            *command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            env=environment,
            cwd="/",
            limit=16 << 20,
        )
        assert self._process.stdout is not None
        line = b""
        with suppress(TimeoutError):
            async with asyncio.timeout(_START_S):
                line = await self._process.stdout.readline()
        if b"ready" not in line:
            await self.close()
            raise ConfigurationError(
                "no box for tests starts here; check that bwrap works and pytest and hypothesis are installed "
                "(criticality doctor)"
            )


def _bubblewrap(folder: Path, environment: dict[str, str]) -> list[str]:
    command = ["bwrap", "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session"]
    command += ["--cap-drop", "ALL", "--uid", "1000", "--gid", "1000", "--hostname", "box", "--clearenv"]
    for name, value in environment.items():
        command += ["--setenv", name, value]
    command += ["--ro-bind", "/usr", "/usr"]
    for link in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        if Path("/usr", link).exists():
            command += ["--symlink", f"usr/{link}", f"/{link}"]
    command += ["--proc", "/proc", "--dev", "/dev", "--size", str(64 << 20), "--tmpfs", "/tmp"]
    for prefix in sorted(
        {str(Path(p).resolve()) for p in (sys.prefix, sys.base_prefix)} | {sys.prefix, sys.base_prefix}
    ):
        if not Path(prefix).is_relative_to("/usr"):
            command += ["--ro-bind", prefix, prefix]
    command += [
        "--ro-bind",
        str(folder / "project"),
        "/project",
        "--ro-bind",
        str(folder / "runner.py"),
        "/runner.py",
    ]
    return [*command, "--remount-ro", "/", "--chdir", "/project", "--"]


def can_isolate() -> bool:
    """Tell whether bubblewrap is installed."""
    return shutil.which("bwrap") is not None
