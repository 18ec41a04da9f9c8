"""What the toolchains of all compiled languages share: a work copy for checks, a few for tests, one sandbox."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

from criticality.judging.served import ServedProgram
from criticality.language import Fact
from criticality.languages.base.data import project_files, texts
from criticality.languages.base.toolchain.dependencies import Pinned
from criticality.languages.base.toolchain.programs import Program
from criticality.languages.base.toolchain.sandbox import Ended, Job, Sandbox, can_confine, can_isolate
from criticality.languages.base.toolchain.workcopy import WorkCopy
from criticality.testing import Diagnostic, Limits, TestReport, TestResult

#: A build is given more than a test: compilers are large, and not what is distrusted.
BUILD_SECONDS = 180.0
BUILD_MEMORY = 6 << 30
_TASKS = 128


@dataclass(frozen=True, slots=True)
class Place:
    """Where one test run happens.

    Args:
        copy: the project.
        out: an empty folder for results.
        build: kept from run to run, for what a compiler makes.
    """

    copy: WorkCopy
    out: Path
    build: Path


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a test run is asked for: files, and how long and how hard they are run."""

    files: list[str]
    stop_early: bool
    examples: int
    seconds: float


class CompiledToolchain(ABC):
    """Checks and tests of source trees (path below the project -> text). Use it as ``async with``.

    Args:
        limits: what one test run may use.
        parallel: test runs at one time, 1 or more.
        isolated: with bubblewrap; left out, wherever it is installed.
    """

    #: The package of the language; its folder ``project`` holds manifests, ``installed`` what is built but once.
    language: ClassVar[str]
    title: ClassVar[str]
    #: What has to be on this machine.
    programs: ClassVar[tuple[Program, ...]]

    def __init__(self, limits: Limits | None = None, parallel: int = 2, *, isolated: bool | None = None) -> None:
        self.limits = limits or Limits()
        self.parallel = parallel
        self.isolated = can_isolate() if isolated is None else isolated
        self._temporary = tempfile.TemporaryDirectory(prefix="criticality-", ignore_cleanup_errors=True)
        self.root = Path(self._temporary.name)
        self.root.chmod(0o755)
        self.sandbox = Sandbox(self.root, isolated=self.isolated)
        self._checking = asyncio.Lock()
        self._check_place = self._place("check")
        self._places: asyncio.Queue[Place] = asyncio.Queue()
        for number in range(parallel):
            self._places.put_nowait(self._place(f"test-{number}"))

    @property
    def isolation(self) -> str:
        """What holds a test run, in words for the report."""
        if self.isolated:
            return "bubblewrap: no network, read-only system"
        return "limits on resources" + (", no new processes, no sockets" if can_confine() else " only")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Remove the work copies."""
        self._temporary.cleanup()

    async def check(self, tree: Mapping[str, str]) -> list[Diagnostic]:
        """Return what the compiler and its linter report of a tree.

        Raises:
            ConfigurationError: the compiler is not here, does not answer, or what it needs cannot be fetched.
        """
        installed = await self.pinned().ensure()
        async with self._checking:
            changed = self._check_place.copy.follow({**self.project(), **tree})
            return await self.examine(self._check_place, installed, tree, changed)

    async def test(
        self,
        tree: Mapping[str, str],
        tests: list[str],
        *,
        stop_early: bool = False,
        examples: int | None = None,
        seconds: float | None = None,
    ) -> TestReport:
        """Run test files of a tree, each property with 100 examples or with ``examples``.

        Raises:
            ConfigurationError: the tools are not here, or what they need cannot be fetched.
        """
        installed = await self.pinned().ensure()
        place = await self._places.get()
        try:
            place.copy.follow({**self.project(), **tree})
            _empty(place.out)
            wanted = Wanted(list(tests), stop_early, examples or 100, seconds or self.limits.seconds)
            return await self.run(place, installed, tree, wanted)
        finally:
            self._places.put_nowait(place)

    @classmethod
    @abstractmethod
    def pinned(cls) -> Pinned:
        """Return what has to be installed first."""

    @classmethod
    def served(cls, files: dict[str, str], variants: int) -> ServedProgram | None:
        """Return how a program of that text is built and started."""
        return None

    @classmethod
    def facts(cls) -> list[Fact]:
        """Return every program that the language stands on, and whether its packages are installed already."""
        facts = [Fact(p.name, p.version, p.get, p.needed) for p in cls.programs]
        if all(fact.version is not None for fact in facts if fact.needed):
            state = "installed" if cls.pinned().there else None
            facts.append(Fact("its packages", state, "they are fetched once, by the first check", needed=False))
        bubblewrap = "here" if can_isolate() else None
        facts.append(Fact("bwrap", bubblewrap, "install bubblewrap: it keeps tests off your files", needed=False))
        return facts

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

    @abstractmethod
    async def run(self, place: Place, installed: Path, tree: Mapping[str, str], wanted: Wanted) -> TestReport:
        """Do the test run itself."""

    async def build(
        self, place: Place, command: list[str], *, readable: tuple[Path, ...], environment: dict[str, str],
        writable: tuple[Path, ...] = (), seconds: float = BUILD_SECONDS,
    ) -> Ended:  # fmt: skip
        """Run a compiler: it starts processes and writes to the place's build folder, and that is all."""
        return await self.sandbox.run(
            Job(
                command=tuple(command),
                folder=place.copy.folder,
                readable=(place.copy.folder, *readable),
                writable=(place.build, *writable),
                environment=environment,
                seconds=seconds,
                memory=BUILD_MEMORY,
                tasks=4 * _TASKS,
                file=1 << 30,
                confined=False,
            )
        )

    async def execute(
        self, place: Place, command: list[str], wanted: Wanted, *, readable: tuple[Path, ...],
        environment: dict[str, str], seconds: float | None = None, bound: bool = False,
    ) -> Ended:  # fmt: skip
        """Run tests: no process, no socket, nothing to write to but the folder of results."""
        return await self.sandbox.run(
            Job(
                command=tuple(command),
                folder=place.copy.folder,
                readable=(place.copy.folder, place.build, *readable),
                writable=(place.out,),
                environment={**environment, "CRITICALITY_EXAMPLES": str(wanted.examples)},
                seconds=wanted.seconds if seconds is None else seconds,
                memory=self.limits.memory,
                tasks=_TASKS + self.limits.processes,
                confined=True,
                bound=bound,
            )
        )

    def _place(self, name: str) -> Place:
        folder = self.root / name
        for part in ("out", "build"):
            (folder / part).mkdir(parents=True, mode=0o755)
        return Place(WorkCopy(folder / "project"), folder / "out", folder / "build")


def _empty(folder: Path) -> None:
    for old in folder.iterdir():
        if old.is_dir() and not old.is_symlink():
            shutil.rmtree(old)
        else:
            old.unlink()


def report(ended: Ended, results: list[TestResult], *, state: str = "") -> TestReport:
    """Return the report of a run; one that was ended for what it held has ``died``."""
    known = {"done": "done", "timeout": "timeout"}
    return TestReport(state or known.get(ended.state, "died"), tuple(results))


def not_built(output: str) -> TestReport:
    """Report tests that do not compile as failed; the compiler's words are the reason."""
    return TestReport("done", (TestResult("collection", "failed", output[:1500]),))
