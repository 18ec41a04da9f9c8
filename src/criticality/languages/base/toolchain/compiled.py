"""What the toolchains of all compiled languages share: a work copy for checks, one sandbox."""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Self

from criticality.judging.served import BUILDING, ServedProgram, interpreter
from criticality.language import Fact
from criticality.languages.base.data import project_files, texts, vocabulary
from criticality.languages.base.grammar.table import Table, read_table
from criticality.languages.base.toolchain.dependencies import Pinned
from criticality.languages.base.toolchain.isolation import isolation, isolator
from criticality.languages.base.toolchain.programs import programs
from criticality.languages.base.toolchain.workcopy import WorkCopy
from criticality.testing import Diagnostic
from llm_runtime.rewording import reworded
from llm_runtime.structs import Struct
from sandbox import Completed, NoIsolation, Order, Root, run

#: What seals a program that is confined from outside, in the words that it says of itself.
CONFINED = "no processes, no sockets"
#: Where Debian's Java keeps its settings; no secret is among them.
SETTINGS = tuple(sorted(Path("/etc").glob("java-*-openjdk")))


class Place(Struct):
    """Where sources are checked: the project, and a folder that is kept from check to check for the compiler."""

    copy: WorkCopy
    build: Path


class CompiledToolchain(ABC):
    """Checks of source trees (path -> text), and how bodies are served. Use it as ``async with``."""

    #: The package of the language; its folder ``project`` holds manifests, ``installed`` what is built but once.
    language: ClassVar[str]

    def __init__(self) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="criticality-", ignore_cleanup_errors=True)
        self.root = Path(self._temporary.name)
        self.root.chmod(0o755)
        self._checking = asyncio.Lock()
        self._place = Place(WorkCopy(self.root / "project"), self.root / "build")
        self._place.build.mkdir(mode=0o755)

    @property
    def isolation(self) -> str:
        """What holds a test run, in words for the report."""
        return isolation()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Remove the work copies."""
        self._temporary.cleanup()

    async def check(self, tree: Mapping[str, str]) -> list[Diagnostic]:
        """Return what the compiler and its linter report of a tree.

        Raises:
            ConfigurationError: the compiler is not here, does not answer, or what it needs cannot be fetched.
        """
        pinned = self.pinned()
        installed = await pinned.ensure() if pinned else self.root
        async with self._checking:
            changed = self._place.copy.follow({**self.project(), **tree})
            return await self.examine(self._place, installed, tree, changed)

    @classmethod
    def table(cls) -> Table:
        """Return what the language's grammar is made of."""
        return read_table(cls.language)

    @classmethod
    def pinned(cls) -> Pinned | None:
        """Return what has to be installed first; nothing where the compiler is all."""
        return None

    @classmethod
    @abstractmethod
    def served(cls, files: dict[str, str]) -> ServedProgram:
        """Return how a program of that text is built and started."""

    @classmethod
    def facts(cls) -> list[Fact]:
        """Return every program that the language stands on, and whether its packages are installed already."""
        facts = [Fact(p.name, p.version, p.get, p.needed) for p in programs(cls.language)]
        if all(fact.version is not None for fact in facts if fact.needed) and (pinned := cls.pinned()):
            state = "installed" if pinned.there else None
            facts.append(Fact("its packages", state, "they are fetched once, by the first check", needed=False))
        return [*facts, isolator()]

    @classmethod
    def environment(cls, **places: object) -> dict[str, str]:
        """Return what the language's programs run with; ``places`` are folders of this machine."""
        return {name: value.format(**places) for name, value in vocabulary(cls.language)["environment"].items()}

    @classmethod
    def project(cls, name: str = "project", description: str = "A system under test.") -> dict[str, str]:
        """Return the manifests and settings of a project of that name."""
        return project_files(cls.language, name, description)

    @classmethod
    def manifest(cls) -> dict[str, str]:
        """Return the files that are installed once: a project, and what makes its packages be built."""
        return cls.project("installed", "What the tests stand on.") | texts(cls.language, "installed")

    @abstractmethod
    async def examine(
        self, place: Place, installed: Path, tree: Mapping[str, str], changed: set[str]
    ) -> list[Diagnostic]:
        """Do the check itself."""

    async def build(
        self, place: Place, command: list[str], *, readable: tuple[Path, ...], environment: dict[str, str],
        writable: tuple[Path, ...] = (),
    ) -> Completed:  # fmt: skip
        """Run a compiler: it starts processes and writes to the place's build folder, and that is all.

        Raises:
            ConfigurationError: there is no sandbox here.
        """
        order = ordered(place, command, environment, *readable)
        with reworded("", NoIsolation):
            return await run(replace(order, writable=(place.build, *writable)))


def ordered(place: Place, command: Iterable[object], environment: Mapping[str, str], *readable: Path) -> Order:
    """Return a compiler in a box that sees the project and the folders to be read, and writes nowhere."""
    return Order(
        tuple(map(str, command)), BUILDING, str(place.copy.folder), Root(whole=True), environment=environment,
        readable=(*interpreter(), *SETTINGS, place.copy.folder, *readable), python=sys.executable,
    )  # fmt: skip


def reported(pattern: re.Pattern[str], ended: Completed, place: str, title: str) -> list[Diagnostic]:
    """Return what a compiler reported: by a pattern of place and words, else its last line, of a place."""
    found = [Diagnostic(where, what.strip()) for where, what in pattern.findall(ended.text)]
    lines = [line for line in ended.text.splitlines() if line.strip()]
    return found or [Diagnostic(place, lines[-1] if lines else f"{title} was ended ({ended.ended})")]
