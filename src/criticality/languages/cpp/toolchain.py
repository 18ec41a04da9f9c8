"""C++: g++ and GoogleTest with RapidCheck, each source compiled once for each of its texts."""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
from collections.abc import Mapping
from pathlib import Path

from criticality.judging.served import ServedProgram
from criticality.languages.base.data import texts
from criticality.languages.base.toolchain.compiled import CompiledToolchain, Place, Wanted, not_built, report
from criticality.languages.base.toolchain.dependencies import CommandFailed, Pinned, command
from criticality.languages.base.toolchain.programs import Program
from criticality.languages.base.toolchain.seal import seal
from criticality.testing import Diagnostic, TestReport, TestResult
from llm_runtime.tasks import gather

_GET = "install g++ 11 or newer (Debian: g++)"
GXX = Program("g++", ("-dumpfullversion",), _GET, at_least=(11,))
CMAKE = Program(
    "cmake", ("--version",), "install CMake 3.20 or newer: it builds what is delivered", (3, 20), needed=False
)

_PACKAGES = ("libgtest-dev", "librapidcheck-dev")
_HEADERS = ("gtest/gtest.h", "rapidcheck.h")
_BY_HAND = "install GoogleTest and RapidCheck where g++ finds them (Debian: libgtest-dev librapidcheck-dev)"
_WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion"]
#: What the language leaves undefined ends a test instead of passing it.
_FLAGS = ["-std=c++20", "-O0", "-D_GLIBCXX_ASSERTIONS", "-fsanitize=undefined", "-fno-sanitize-recover=all"]
_ERROR = re.compile(r"^(\S+?:\d+:\d+): (?:fatal )?error: (.+)$", re.MULTILINE)
_RUN = re.compile(r"^\[ RUN      \] \w+\.(\w+)$", re.MULTILINE)
_END = re.compile(r"^\[ +(OK|FAILED|SKIPPED) +\] \w+\.(\w+)", re.MULTILINE)
_TEST = re.compile(r"^(?:TEST|TEST_F|RC_GTEST_PROP)\(\s*(\w+)\s*,\s*(\w+)\s*[,)]", re.MULTILINE)
_FAILURE = re.compile(r"^\S+:\d+: Failure\n(?:Failed\n)?", re.MULTILINE)
_RAPIDCHECK = re.compile(r"^(?:\S+:\d+:\nRC_\w+\(.*\)\n\n|Exception thrown with message:\n)")
_UNCAUGHT = re.compile(
    r"(?:C\+\+ exception with description|what\(\): +)\s*\"?(.*?)\"?(?: thrown in .*)?$", re.MULTILINE
)


def _of_system() -> bool:
    return all(
        any(Path(root, header).is_file() for root in ("/usr/include", "/usr/local/include")) for header in _HEADERS
    )


async def _install(folder: Path) -> None:
    (folder / "usr/include").mkdir(parents=True)
    if not _of_system():
        try:
            await command(folder, "apt-get", "download", *_PACKAGES)
            for package in _downloaded(folder):
                await command(folder, "dpkg-deb", "-x", str(package), ".")
        except FileNotFoundError:
            raise CommandFailed(_BY_HAND) from None
    words = [str(GXX.path()), *_FLAGS, *_include(folder), "-x", "c++-header", "tests.hpp", "-o", "tests.hpp.gch"]
    await command(folder, *words)


def _downloaded(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.deb"))


def _include(installed: Path) -> list[str]:
    return ["-isystem", str(installed / "usr/include")]


def _libraries(installed: Path) -> list[str]:
    folders = sorted({path.parent for path in installed.glob("usr/lib/**/*.a")})
    return [*(f"-L{folder}" for folder in folders), "-lgtest_main", "-lgtest", "-lrapidcheck", "-pthread"]


class CppToolchain(CompiledToolchain):
    """g++, GoogleTest and RapidCheck."""

    language = "criticality.languages.cpp"
    title = "C++"
    programs = (GXX, CMAKE)

    @classmethod
    def pinned(cls) -> Pinned:
        """GoogleTest and RapidCheck, of the system or laid beside it, and their headers compiled."""
        files = texts(cls.language, "installed")
        where = "of the system" if _of_system() else "laid beside it"
        return Pinned("C++", "cpp", files, f"g++ {GXX.version} {where}", _install)

    @classmethod
    def served(cls, files: dict[str, str], variants: int) -> ServedProgram:
        words = (
            str(GXX.path()),
            *_FLAGS,
            "-fno-sanitize=vptr",
            "-w",
            "-I",
            "include",
            "-o",
            "served",
            "serve/main.cpp",
        )
        return ServedProgram(
            command=("./served", seal()), files=files, build=(words,), read_only=(Path("/etc/alternatives"),),
            environment={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TMPDIR": "/tmp"}, memory=0, variants=variants,
        )  # fmt: skip

    async def examine(
        self, place: Place, installed: Path, tree: Mapping[str, str], changed: set[str]
    ) -> list[Diagnostic]:
        headers = any(path.endswith((".hpp", ".h")) for path in changed)
        errors_of_all: list[Diagnostic] = []
        for path in _sources(tree):
            stamp = place.build / f"{path.replace('/', '-')}.checked"
            if headers or path in changed or not stamp.exists():
                stamp.unlink(missing_ok=True)
                errors = await self._compile(place, installed, [*_WARNINGS, "-fsyntax-only", path])
                errors_of_all += errors
                if not errors:
                    stamp.touch()
        return errors_of_all

    async def run(self, place: Place, installed: Path, tree: Mapping[str, str], wanted: Wanted) -> TestReport:
        sources = [*_sources(tree), *wanted.files]
        slots = asyncio.Semaphore(2)

        async def built(path: str) -> tuple[Path, list[Diagnostic]]:
            async with slots:
                return await self._object(place, installed, tree, path)

        objects = await gather(built(path) for path in sources)
        errors = [str(error) for _, faults in objects for error in faults]
        if errors:
            return not_built("; ".join(errors))
        binary = place.build / "tests"
        words = [*(str(made) for made, _ in objects), "-o", str(binary), *_libraries(installed)]
        errors = [str(error) for error in await self._compile(place, installed, words)]
        if errors:
            return not_built("; ".join(errors))
        names = [f"{suite}.{name}" for path in wanted.files for suite, name in _TEST.findall(tree[path])]
        return await self._all(place, binary, wanted, names)

    async def _all(self, place: Place, binary: Path, wanted: Wanted, names: list[str]) -> TestReport:
        """Run tests until each has a result: one that ends the process fails, and those after it start anew."""
        results: list[TestResult] = []
        until = time.monotonic() + wanted.seconds
        while names:
            options = [f"--gtest_filter={':'.join(names)}", "--gtest_color=no"]
            options += ["--gtest_fail_fast"] if wanted.stop_early else []
            ended = await self.execute(
                place, [str(binary), *options], wanted, readable=(), bound=True,
                environment={"RC_PARAMS": f"seed=1 max_success={wanted.examples}"},
                seconds=max(0.1, until - time.monotonic()),
            )  # fmt: skip
            if ended.state != "done":
                return report(ended, results)
            ended_tests = gtest_results(ended.output)
            results += ended_tests
            done = {result.name for result in ended_tests}
            names = [name for name in names if name.partition(".")[2] not in done]
            if not ended_tests:
                return report(ended, results, state="died")
            if wanted.stop_early and ended.code != 0:
                break
        return TestReport("done", tuple(results))

    async def _object(
        self, place: Place, installed: Path, tree: Mapping[str, str], path: str
    ) -> tuple[Path, list[Diagnostic]]:
        """Compile a source to its object file, unless the same text was compiled before with the same headers."""
        seen = [path, tree[path], *(f"{p}\0{t}" for p, t in sorted(tree.items()) if p.endswith((".hpp", ".h")))]
        made = place.build / f"{hashlib.sha256(chr(0).join(seen).encode()).hexdigest()[:24]}.o"
        if made.exists():
            return made, []
        ready = ["-I", "tests", "-include", str(installed / "tests.hpp")] if path.startswith("tests/") else []
        return made, await self._compile(place, installed, [*_FLAGS, *ready, "-c", path, "-o", str(made)])

    async def _compile(self, place: Place, installed: Path, words: list[str]) -> list[Diagnostic]:
        command = [str(GXX.path()), *_FLAGS, "-I", "include", *_include(installed), *words]
        ended = await self.build(
            place, command, readable=(installed,), environment={"PATH": "/usr/bin:/bin", "LC_ALL": "C"}
        )
        if ended.state == "done" and ended.code == 0:
            return []
        diagnostics = [Diagnostic(where, what) for where, what in _ERROR.findall(ended.output)]
        lines = ended.output.strip().splitlines() or [f"the compiler was ended ({ended.state})"]
        return diagnostics or [Diagnostic("", lines[-1])]


def _sources(tree: Mapping[str, str]) -> list[str]:
    return sorted(path for path in tree if path.startswith("src/") and path.endswith(".cpp"))


def gtest_results(output: str) -> list[TestResult]:
    """Return the results in GoogleTest's own words; a test that ended the whole process has failed."""
    results: list[TestResult] = []
    begun = list(_RUN.finditer(output))
    for number, run in enumerate(begun):
        story = output[run.end() : begun[number + 1].start() if number + 1 < len(begun) else len(output)]
        end = next((e for e in _END.finditer(story) if e[2] == run[1]), None)
        if end is None:
            results.append(TestResult(run[1], "failed", _words(story)))
        elif end[1] == "OK":
            results.append(TestResult(run[1], "passed", ""))
        else:
            outcome = "skipped" if end[1] == "SKIPPED" else "failed"
            results.append(TestResult(run[1], outcome, _words(story[: end.start()])))
    return results


def _words(story: str) -> str:
    uncaught = _UNCAUGHT.search(story)
    if uncaught:
        return uncaught[1][:1500]
    words = _RAPIDCHECK.sub("", _FAILURE.split(story)[-1].strip())
    return (words or "the process ended")[:1500]
