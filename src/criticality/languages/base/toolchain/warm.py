"""A compiler that is kept running: a line asks, a line of JSON answers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path

from criticality.languages.base.toolchain.compiled import CompiledToolchain, Place
from criticality.testing import Diagnostic
from llm_runtime.errors import ConfigurationError
from sandbox import Channel, Gone, NoIsolation, Order, started

_ANSWER_S = 120.0


class WarmCompiler:
    """One process in a box, started when it is first asked, and again should it end.

    Args:
        order: what it runs in; it reads lines and answers each with ``{"errors": [{"place", "message"}]}``.
    """

    def __init__(self, order: Order) -> None:
        self._order = order
        self._channel: Channel | None = None

    async def ask(self, line: str) -> list[Diagnostic]:
        """Ask for the errors that it finds.

        Raises:
            ConfigurationError: it does not answer, or there is no sandbox here.
        """
        try:
            if self._channel is None or not self._channel.alive:
                await self.close()
                with started(self._order) as (_, start, stack):
                    self._channel = await Channel.to(start, stack)
            answer, _ = await self._channel.ask(line.encode(), seconds=_ANSWER_S)
            return [Diagnostic(error["place"], error["message"]) for error in answer["errors"]]
        except NoIsolation as fault:
            raise ConfigurationError(str(fault)) from None
        except BaseException as fault:
            await self.close()
            if isinstance(fault, Gone):
                raise ConfigurationError(f"the compiler stopped: {fault}; run the command again") from None
            raise

    async def close(self) -> None:
        """End the process."""
        channel, self._channel = self._channel, None
        if channel is not None:
            await channel.close()


class WarmToolchain(CompiledToolchain):
    """Tools whose compiler is kept running between checks."""

    def __init__(self) -> None:
        super().__init__()
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
