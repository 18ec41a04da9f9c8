"""Python's tools around one system: a warm type checker over source trees held in memory."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import sys
import tempfile
from asyncio.subprocess import DEVNULL, PIPE
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from criticality.languages.base.data import read_text
from criticality.languages.base.toolchain.isolation import isolation
from criticality.testing import Diagnostic, Limits
from llm_runtime.errors import ConfigurationError, MissingExtraError

_NEEDED = ("mypy", "libcst", "msgpack")
_CHECK_S = 120.0


def require_toolchain() -> None:
    """Say at once what is missing.

    Raises:
        MissingExtraError: one of the tools is not installed.
    """
    for name in _NEEDED:
        if importlib.util.find_spec(name) is None:
            raise MissingExtraError(f"checking generated Python with {name}", "code")


class Toolchain:
    """Checks of source trees (path below the project -> text). Use it as ``async with``."""

    def __init__(self, *, limits: Limits | None = None) -> None:
        require_toolchain()
        self.limits = limits or Limits()
        self._temporary = tempfile.TemporaryDirectory(prefix="criticality-")
        self._root = Path(self._temporary.name)
        self._root.chmod(0o755)
        self._checker: asyncio.subprocess.Process | None = None
        self._checking = asyncio.Lock()
        self._checked: dict[str, str] = {}

    @property
    def isolation(self) -> str:
        """What holds a body, in words for the report."""
        return isolation()

    async def __aenter__(self) -> Toolchain:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """End every process and remove the work copies."""
        if self._checker is not None and self._checker.returncode is None:
            with suppress(ProcessLookupError):
                self._checker.kill()
            await self._checker.wait()
        self._temporary.cleanup()

    async def check(self, tree: dict[str, str]) -> list[Diagnostic]:
        """Return what mypy, strict, says of the sources of a tree: one for each error.

        Raises:
            ConfigurationError: the checker does not answer.
        """
        sources = {path: text for path, text in tree.items() if path.startswith("src/")}
        async with self._checking:
            changed = self._write(sources)
            text = await self._ask("sources" if changed else "again")
        errors = (line.partition(": error: ") for line in text.splitlines() if ": error: " in line)
        return [Diagnostic(place, message) for place, _, message in errors]

    def _write(self, sources: dict[str, str]) -> bool:
        """Bring the checker's copy up to date; whether files came or went."""
        root = self._root / "check"
        for path in self._checked.keys() - sources.keys():
            (root / path).unlink()
        for path, text in sources.items():
            if self._checked.get(path) != text:
                target = root / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, encoding="utf-8")
        changed = self._checked.keys() != sources.keys()
        self._checked = dict(sources)
        return changed

    async def _ask(self, line: str) -> str:
        if self._checker is None or self._checker.returncode is not None:
            script = self._root / "checker.py"
            script.write_text(read_text("criticality.languages.python", "checker.py"), "utf-8")
            self._checker = await asyncio.create_subprocess_exec(
                sys.executable, "-I", str(script), str(self._root / "check"),
                stdin=PIPE, stdout=PIPE, stderr=DEVNULL, limit=16 << 20,
            )  # fmt: skip
        process = self._checker
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(line.encode() + b"\n")
            async with asyncio.timeout(_CHECK_S):
                return str(json.loads(await process.stdout.readline())["text"])
        except asyncio.CancelledError:
            process.kill()
            raise
        except (TimeoutError, ValueError, ConnectionError):
            with suppress(ProcessLookupError):
                process.kill()
            raise ConfigurationError("the type checker stopped answering; run the command again") from None
