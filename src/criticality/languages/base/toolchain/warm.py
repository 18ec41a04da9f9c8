"""A compiler that is kept running: a line asks, a line of JSON answers."""

from __future__ import annotations

import asyncio
import json
from abc import abstractmethod
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path

from criticality.languages.base.toolchain.compiled import CompiledToolchain, Place
from criticality.testing import Diagnostic, Limits
from llm_runtime.errors import ConfigurationError
from sandbox import NoIsolation, Order, backend

_ANSWER_S = 120.0


class WarmCompiler:
    """One process in a box, started when it is first asked, and again should it end.

    Args:
        order: what it runs in; it reads lines and answers each with ``{"errors": [{"place", "message"}]}``.
    """

    def __init__(self, order: Order) -> None:
        self._order, self._box = order, ExitStack()
        self._process: asyncio.subprocess.Process | None = None

    async def ask(self, line: str) -> list[Diagnostic]:
        """Ask for the errors that it finds.

        Raises:
            ConfigurationError: it does not answer, or there is no sandbox here.
        """
        if self._process is None or self._process.returncode is not None:
            await self.close()
            try:
                start = backend(bare=True).start(self._order, self._box)
            except NoIsolation as fault:
                raise ConfigurationError(str(fault)) from None
            self._process = await asyncio.create_subprocess_exec(
                *start.argv, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, limit=16 << 20, **start.options
            )
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(line.encode() + b"\n")
            async with asyncio.timeout(_ANSWER_S):
                answer = json.loads(await process.stdout.readline())
        except asyncio.CancelledError:
            await self.close()
            raise
        except (TimeoutError, ValueError, ConnectionError):
            await self.close()
            raise ConfigurationError("the compiler stopped answering; run the command again") from None
        return [Diagnostic(error["place"], error["message"]) for error in answer["errors"]]

    async def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
        self._box.close()


class WarmToolchain(CompiledToolchain):
    """Tools whose compiler is kept running between checks."""

    def __init__(self, limits: Limits | None = None) -> None:
        super().__init__(limits)
        self._compiler: WarmCompiler | None = None
        self._files: frozenset[str] = frozenset()

    @abstractmethod
    def compiler(self, place: Place, installed: Path) -> WarmCompiler:
        """Return the compiler of a place, which starts when it is first asked."""

    async def aclose(self) -> None:
        if self._compiler is not None:
            await self._compiler.close()
        await super().aclose()

    async def examine(
        self, place: Place, installed: Path, tree: Mapping[str, str], changed: set[str]
    ) -> list[Diagnostic]:
        self._compiler = self._compiler or self.compiler(place, installed)
        files = frozenset(tree)
        same, self._files = files == self._files, files
        return await self._compiler.ask("again" if same else "sources")
