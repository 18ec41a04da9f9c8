"""Rust: cargo with clippy over a kept target folder, and test binaries that are run in the box by themselves."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from criticality.judging.served import ServedProgram
from criticality.languages.base.toolchain.compiled import CompiledToolchain, Place, Wanted, not_built, report
from criticality.languages.base.toolchain.dependencies import Pinned, command
from criticality.languages.base.toolchain.programs import Program, prefix
from criticality.languages.base.toolchain.seal import seal
from criticality.testing import Diagnostic, TestReport, TestResult

_GET = "install Rust 1.85 or newer with rustup"
RUSTC = Program("rustc", ("--version",), _GET, at_least=(1, 85))
CARGO = Program("cargo", ("--version",), _GET, at_least=(1, 85))
CLIPPY = Program("cargo-clippy", ("--version",), "run: rustup component add clippy", needed=False)
LINKER = Program("cc", ("--version",), "install a C compiler: Rust links with it")

_RESULT = re.compile(r"^test (\S+)(?: - should panic)? \.\.\. (ok|FAILED|ignored)", re.MULTILINE)
_STORY = re.compile(r"^---- (\S+) stdout ----$", re.MULTILINE)
_PANIC = re.compile(r"^thread '.*' (?:\(\d+\) )?panicked at .*:\d+:\d+:$", re.MULTILINE)


async def _install(folder: Path) -> None:
    cargo = str(_root() / "bin/cargo")
    for words in (["test", "--no-run"], [_lint(), "--tests"]):
        await command(folder, cargo, *words, "--quiet", environment=_environment(folder, folder / "target"))


def _root() -> Path:
    """Return the toolchain itself: the programs on the path are often rustup's, which only choose one."""
    root = RUSTC.says("--print", "sysroot")
    return Path(root) if root else prefix(CARGO.path())


def _lint() -> str:
    return "clippy" if (_root() / "bin/cargo-clippy").exists() else "check"


def _environment(installed: Path, target: Path) -> dict[str, str]:
    return {
        "PATH": f"{_root() / 'bin'}:/usr/bin:/bin",
        "HOME": "/tmp",
        "CARGO_HOME": str(installed / "cargo-home"),
        "CARGO_TARGET_DIR": str(target),
        "CARGO_PROFILE_DEV_DEBUG": "0",
        "CARGO_INCREMENTAL": "1",
        "CARGO_TERM_COLOR": "never",
        "RUSTC": str(_root() / "bin/rustc"),
    }


class RustToolchain(CompiledToolchain):
    """cargo, clippy and libtest."""

    language = "criticality.languages.rust"
    title = "Rust"
    programs = (RUSTC, CARGO, CLIPPY, LINKER)

    @classmethod
    def pinned(cls) -> Pinned:
        """proptest, as ``Cargo.toml`` pins it, built for checks and for tests."""
        return Pinned("Rust", "rust", cls.manifest(), f"rustc {RUSTC.version}", _install)

    @classmethod
    def served(cls, files: dict[str, str], variants: int) -> ServedProgram:
        words = (
            str(_root() / "bin/rustc"), "--edition=2024", "-Copt-level=1", "-Coverflow-checks=on", "-Awarnings",
            "-o", "served", "src/main.rs",
        )  # fmt: skip
        return ServedProgram(
            command=("./served", seal()), files=files, build=(words,),
            read_only=(_root(), Path("/etc/alternatives")), environment={"PATH": "/usr/bin:/bin", "TMPDIR": "/tmp"},
            variants=variants,
        )  # fmt: skip

    async def examine(
        self, place: Place, installed: Path, tree: Mapping[str, str], changed: set[str]
    ) -> list[Diagnostic]:
        output = await self._cargo(place, installed, [_lint(), "--lib"])
        errors = [diagnostic(message) for message in _messages(output) if message["level"] == "error"]
        return errors or ([] if '"success":true' in output else [Diagnostic("Cargo.toml", _complaint(output))])

    async def run(self, place: Place, installed: Path, tree: Mapping[str, str], wanted: Wanted) -> TestReport:
        names = [Path(file).stem for file in wanted.files]
        output = await self._cargo(place, installed, ["test", "--no-run", *(f"--test={name}" for name in names)])
        if '"success":true' not in output:
            errors = "; ".join(str(diagnostic(m)) for m in _messages(output) if m["level"] == "error")
            return not_built(errors or _complaint(output))
        results: list[TestResult] = []
        state = "died"
        for binary in _binaries(output, names):
            ended = await self.execute(
                place, [binary, "--test-threads=1", "--color=never"], wanted, readable=(_root(),), bound=True,
                environment={"RUST_BACKTRACE": "0", "PROPTEST_CASES": str(wanted.examples)},
            )  # fmt: skip
            if ended.state != "done":
                return report(ended, results)
            ended_tests = list(libtest_results(ended.output))
            results += ended_tests
            if "\ntest result:" not in ended.output or (ended.code != 0) != any(
                r.outcome == "failed" for r in ended_tests
            ):
                return report(ended, results, state="died")
            state = "done"
            if wanted.stop_early and ended.code != 0:
                break
        return TestReport(state, tuple(results))

    async def _cargo(self, place: Place, installed: Path, words: list[str]) -> str:
        if not any(place.build.iterdir()):
            shutil.copytree(installed / "target", place.build, dirs_exist_ok=True, symlinks=True)
        self._lock(place, installed)
        ended = await self.build(
            place, [str(_root() / "bin/cargo"), *words, "--offline", "--message-format=json"],
            readable=(installed, _root()), writable=(place.copy.folder,),
            environment=_environment(installed, place.build),
        )  # fmt: skip
        return ended.output if ended.state == "done" else f"the compiler was ended ({ended.state})"

    def _lock(self, place: Place, installed: Path) -> None:
        """Write down the versions that are installed, under the project's own name."""
        lock = place.copy.folder / "Cargo.lock"
        if not lock.exists():
            manifest = tomllib.loads((place.copy.folder / "Cargo.toml").read_text("utf-8"))
            text = (installed / "Cargo.lock").read_text("utf-8")
            lock.write_text(text.replace('"installed"', f'"{manifest["package"]["name"]}"'), "utf-8")


def _messages(output: str) -> Iterator[Mapping[str, Any]]:
    """Yield what the compiler said; the summary that counts its errors is left out."""
    for line in output.splitlines():
        if line.startswith('{"reason":"compiler-message"'):
            message = json.loads(line)["message"]
            if not message["message"].startswith("aborting due to"):
                yield message


def diagnostic(message: Mapping[str, Any]) -> Diagnostic:
    """One message of rustc or clippy."""
    span = next((s for s in message["spans"] if s["is_primary"]), None)
    place = f"{span['file_name']}:{span['line_start']}:{span['column_start']}" if span else ""
    label = f" ({span['label']})" if span and span["label"] else ""
    return Diagnostic(place, " ".join(f"{message['message']}{label}".split()))


def _complaint(output: str) -> str:
    lines = [line for line in output.splitlines() if line and not line.startswith("{")]
    return next((line for line in lines if line.startswith("error")), lines[-1] if lines else "cargo said nothing")


def _binaries(output: str, names: list[str]) -> list[str]:
    """Return the test binaries, in the order of the names."""
    paths: dict[str, str] = {}
    for line in output.splitlines():
        if line.startswith('{"reason":"compiler-artifact"'):
            artifact = json.loads(line)
            if artifact.get("executable") and "test" in artifact["target"]["kind"]:
                paths[artifact["target"]["name"]] = artifact["executable"]
    return [paths[name] for name in names if name in paths]


def libtest_results(output: str) -> Iterator[TestResult]:
    """Yield the results in libtest's own words; a message is what was thrown last, after all shrinking."""
    stories = _STORY.split(output.partition("\nfailures:\n")[2].rpartition("\nfailures:\n")[0])
    stories_by_name = dict(zip(stories[1::2], stories[2::2], strict=True))
    for name, word in _RESULT.findall(output):
        outcome = {"ok": "passed", "FAILED": "failed"}.get(word, "skipped")
        yield TestResult(name.rpartition("::")[2], outcome, _thrown(stories_by_name.get(name, "")))


def _thrown(story: str) -> str:
    last = _PANIC.split(story)[-1].partition("\nnote: run with")[0].strip()
    return last.removeprefix("Test failed: ")[:1500]
