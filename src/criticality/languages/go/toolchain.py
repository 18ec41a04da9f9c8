"""Go: build and vet with a kept build cache, and test binaries that are run in the box by themselves."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from criticality.judging.served import ServedProgram
from criticality.languages.base.toolchain.compiled import CompiledToolchain, Place, Wanted, not_built
from criticality.languages.base.toolchain.dependencies import Pinned, command
from criticality.languages.base.toolchain.programs import Program
from criticality.languages.base.toolchain.sandbox import Ended
from criticality.languages.base.toolchain.seal import seal
from criticality.testing import Diagnostic, TestReport, TestResult

GO = Program(
    "go", ("version",), "install Go 1.23 or newer (your system's package manager, or the Go site)", (1, 23)
)
CC = Program("cc", ("--version",), "install a C compiler: the race detector links with it", needed=False)
#: A test file with this line is built with the race detector, where there is a C compiler for it.
RACE = "//criticality:race"

_RAPID_PATH = "pgregory.net/rapid"
_FUNCTION = re.compile(r"^func ((?:Test|Fuzz)\w*)\(", re.MULTILINE)
_ERROR = re.compile(r"^(?:vet: )?(?:\./)?([^\s:]+\.go:\d+(?::\d+)?): (.+)$", re.MULTILINE)
_RESULT = re.compile(r"^\x16?--- (PASS|FAIL|SKIP): (\S+) \([\d.]+s\)$", re.MULTILINE)
_MARK = re.compile(r"^\x16?(?:=== (?:RUN|NAME|CONT|PAUSE) +|--- \w+: )(\S*).*$", re.MULTILINE)
_SAID = re.compile(r"^ +\w+\.go:\d+: ?", re.MULTILINE)
#: Where the words of a failure end: how to run it again, where it was, what else ended.
_AFTER = re.compile(r"\n\s*To reproduce, |\ngoroutine |\n\x16?FAIL|\n?exit status ")
_RAPID = re.compile(r"^\[rapid\] (?:failed|panic) after \d+ tests?: ?", re.MULTILINE)


async def _install(folder: Path) -> None:
    go = str(GO.path())
    environment = {**_environment(folder, folder / "tmp"), **_ONLINE}
    (folder / "tmp").mkdir()
    await command(folder, go, "vet", "./...", environment=environment)
    await command(folder, go, "test", "-c", "-o", "tmp/warm", ".", environment=environment)
    if CC.version is not None:
        race = {**environment, "CGO_ENABLED": "1"}
        await command(folder, go, "test", "-race", "-c", "-o", "tmp/warm", ".", environment=race)


#: Where modules come from while they are installed is the person's own setting.
_ONLINE = {"GOFLAGS": "-modcacherw -buildvcs=false", "GOPROXY": "", "GOSUMDB": ""}


def _environment(installed: Path, temporary: Path) -> dict[str, str]:
    return {
        "PATH": f"{GO.path().parent}:/usr/bin:/bin",
        "HOME": "/tmp",
        "GOCACHE": str(installed / "build-cache"),
        "GOMODCACHE": str(installed / "modules"),
        "GOPATH": str(installed / "path"),
        "GOTMPDIR": str(temporary),
        "GOTOOLCHAIN": "local",
        "GOTELEMETRY": "off",
        "GOENV": "off",
        "GOFLAGS": "-mod=mod -buildvcs=false",
        "GOPROXY": "off",
        "GOSUMDB": "off",
        "CGO_ENABLED": "0",
    }


class GoToolchain(CompiledToolchain):
    """go build, vet and test."""

    language = "criticality.languages.go"
    title = "Go"
    programs = (GO, CC)

    @classmethod
    def pinned(cls) -> Pinned:
        """rapid, as ``go.mod`` pins it, and the standard library, built with and without the race detector."""
        return Pinned("Go", "go", cls.manifest(), f"go {GO.version}", _install)

    @classmethod
    def served(cls, files: dict[str, str], variants: int) -> ServedProgram:
        installed, go = cls.pinned().folder, GO.path()
        # What preempts by a signal would have to be allowed to send signals.
        environment = {**_environment(installed, Path("/tmp")), "GODEBUG": "asyncpreemptoff=1", "GOMAXPROCS": "2"}
        build = (str(go), "build", "-ldflags=-s -w", "-o", "served", "./serve")
        return ServedProgram(
            command=("./served", seal()), files=files, build=(build,),
            read_only=(go.parent.parent, installed), environment=environment, memory=0, variants=variants,
            shared=(installed / "build-cache",),
        )  # fmt: skip

    async def examine(
        self, place: Place, installed: Path, tree: Mapping[str, str], changed: set[str]
    ) -> list[Diagnostic]:
        for words in (["build", "-gcflags=-e", "-o", "/dev/null", "./..."], ["vet", "./..."]):
            ended = await self._go(place, installed, words)
            if ended.state != "done" or ended.code != 0:
                diagnostics = [Diagnostic(where, what.strip()) for where, what in _ERROR.findall(ended.output)]
                return diagnostics or [Diagnostic("go.mod", _last(ended.output) or f"go was ended ({ended.state})")]
        return []

    async def run(self, place: Place, installed: Path, tree: Mapping[str, str], wanted: Wanted) -> TestReport:
        results: list[TestResult] = []
        state = "died"
        for folder, race, names in _packages(tree, wanted.files):
            binary = place.build / "tests"
            words = ["test", "-c", "-ldflags=-s -w", "-o", str(binary), *(["-race"] if race else []), f"./{folder}"]
            built = await self._go(place, installed, words, race=race)
            if built.state != "done" or built.code != 0:
                return not_built("; ".join(f"{w}: {m}" for w, m in _ERROR.findall(built.output)) or built.output)
            rapid = any(_RAPID_PATH in text for path, text in tree.items() if path.endswith("_test.go"))
            options = _options(wanted, rapid=rapid)
            state, ended_tests = await self._all(place, [str(binary), *options], wanted, names, race=race)
            results += ended_tests
            if state != "done" or (wanted.stop_early and any(r.outcome == "failed" for r in ended_tests)):
                break
        return TestReport(state, tuple(results))

    async def _all(
        self, place: Place, command: list[str], wanted: Wanted, names: list[str], *, race: bool
    ) -> tuple[str, list[TestResult]]:
        """Run tests until each has a result: one that panics ends its process, and those after it start anew."""
        results: list[TestResult] = []
        left: list[str] = list(names)
        until = time.monotonic() + wanted.seconds
        while left:
            ended = await self.execute(
                place, [*command, f"-test.run=^({'|'.join(left)})$"], wanted, readable=(), bound=not race,
                environment={"GORACE": "halt_on_error=1", "GOMAXPROCS": "4"},
                seconds=max(0.1, until - time.monotonic()),
            )  # fmt: skip
            ended_tests = go_results(ended.output, left) if ended.state == "done" else list[TestResult]()
            results += ended_tests
            left = [name for name in left if all(name != result.name for result in ended_tests)]
            if not ended_tests:
                return "timeout" if ended.state == "timeout" else "died", results
            if wanted.stop_early and ended.code != 0:
                break
        return "done", results

    async def _go(self, place: Place, installed: Path, words: list[str], *, race: bool = False) -> Ended:
        temporary = place.build / "tmp"
        temporary.mkdir(exist_ok=True)
        environment = _environment(installed, temporary) | ({"CGO_ENABLED": "1"} if race else {})
        return await self.build(
            place, [str(GO.path()), *words], readable=(GO.path().parent.parent, installed),
            writable=(installed / "build-cache",), environment=environment,
        )  # fmt: skip


def _packages(tree: Mapping[str, str], files: list[str]) -> Iterator[tuple[str, bool, list[str]]]:
    """Folders of packages with the tests that are wanted of each, those under the race detector apart."""
    groups: dict[tuple[str, bool], list[str]] = {}
    for file in files:
        race = RACE in tree[file].splitlines() and CC.version is not None
        key = (PurePosixPath(file).parent.as_posix(), race)
        groups.setdefault(key, []).extend(str(name) for name in _FUNCTION.findall(tree[file]))
    for (folder, race), names in groups.items():
        yield folder, race, names


def _options(wanted: Wanted, *, rapid: bool) -> list[str]:
    """Return flags of a test binary; those of rapid are there only where it is linked in."""
    options = ["-test.v=test2json", "-test.paniconexit0", "-test.parallel=4"]
    options += ["-test.failfast"] if wanted.stop_early else []
    if rapid:
        options += [
            f"-rapid.checks={wanted.examples}",
            "-rapid.seed=1",
            "-rapid.nofailfile",
            "-rapid.shrinktime=2s",
        ]
    return options


def go_results(output: str, names: list[str]) -> list[TestResult]:
    """Return the results in the form that ``go test -json`` reads; a race or a panic fails the test that ran."""
    output_of: dict[str, list[str]] = {}
    current, position = "", 0
    for mark in _MARK.finditer(output):
        output_of.setdefault(current, []).append(output[position : mark.start()])
        current, position = mark[1] or current, mark.end()
    output_of.setdefault(current, []).append(output[position:])
    results: dict[str, TestResult] = {}
    for word, name in _RESULT.findall(output):
        if name in names:
            outcome = {"PASS": "passed", "FAIL": "failed"}.get(word, "skipped")
            results[name] = TestResult(
                name, outcome, _message(output_of.get(name, [])) if outcome != "passed" else ""
            )
    broken = current.partition("/")[0]
    if broken in names and broken not in results and ("\npanic: " in output or "WARNING: DATA RACE" in output):
        results[broken] = TestResult(broken, "failed", _message(output_of.get(current, [])))
    return [results[name] for name in names if name in results]


def _message(parts: list[str]) -> str:
    text = "\n".join(part.strip("\n") for part in parts if part.strip())
    if "WARNING: DATA RACE" in text:
        return "two lanes touch the same memory, and one of them writes (data race)"
    words = _RAPID.sub("", _SAID.sub("", text))
    return _AFTER.split(words, maxsplit=1)[0].strip().removeprefix("panic: ")[:1500]


def _last(output: str) -> str:
    lines = [line for line in output.splitlines() if line.strip()]
    return lines[-1] if lines else ""
