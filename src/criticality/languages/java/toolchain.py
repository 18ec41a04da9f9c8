"""Java: a warm javac, and JUnit 5 with jqwik behind a small launcher that writes its results as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from criticality.judging.served import ServedProgram
from criticality.languages.base.toolchain.compiled import CompiledToolchain, Place, Wanted, report
from criticality.languages.base.toolchain.dependencies import Pinned, command
from criticality.languages.base.toolchain.programs import Program, prefix
from criticality.languages.base.toolchain.sandbox import interpreter, java_settings
from criticality.languages.base.toolchain.seal import launched, launcher
from criticality.languages.base.toolchain.warm import WarmCompiler
from criticality.testing import Diagnostic, Limits, TestReport, TestResult

_GET = "install a Java development kit, version 17 or newer (Debian: openjdk-17-jdk-headless)"
JAVAC = Program("javac", ("--version",), _GET, at_least=(17,))
JAVA = Program("java", ("--version",), _GET, at_least=(17,))
MAVEN = Program("mvn", ("--version",), "install Apache Maven (Debian: maven)", at_least=(3, 6))

_GROUPS = ("org/junit/**", "net/jqwik", "org/opentest4j", "org/apiguardian")
#: Small and quick to start; a test run is over before better code would pay.
_QUICK = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xss16m")


async def _install(folder: Path) -> None:
    maven = [str(MAVEN.path()), "--batch-mode", "--quiet", f"-Dmaven.repo.local={folder / 'repository'}"]
    await command(folder, *maven, "test")
    sources = [str(path) for path in sorted((folder / "ours").glob("*.java"))]
    await command(folder, str(JAVAC.path()), "-cp", classpath(folder), "-d", str(folder / "ours"), *sources)


def classpath(installed: Path) -> str:
    """Return the jars of JUnit and jqwik, and our programs; of several versions of a jar the last."""
    jars: dict[str, Path] = {}
    for group in _GROUPS:
        for jar in sorted((installed / "repository").glob(f"{group}/**/*.jar"), key=_numbers):
            jars[jar.parent.parent.name] = jar
    return ":".join([str(installed / "ours"), *(str(jar) for _, jar in sorted(jars.items()))])


def _numbers(jar: Path) -> list[int]:
    """Return a jar's version, so that 1.11 comes after 1.9."""
    return [int(part) for part in re.findall(r"\d+", jar.parent.name)]


class JavaToolchain(CompiledToolchain):
    """javac, JUnit and jqwik."""

    language = "criticality.languages.java"
    title = "Java"
    programs = (JAVAC, JAVA, MAVEN)

    def __init__(self, limits: Limits | None = None, parallel: int = 2, *, isolated: bool | None = None) -> None:
        super().__init__(limits, parallel, isolated=isolated)
        self._compiler: WarmCompiler | None = None

    @classmethod
    def pinned(cls) -> Pinned:
        """JUnit and jqwik as ``pom.xml`` pins them, Maven's own plugins, and the two programs of ours, compiled."""
        return Pinned("Java", "java", cls.manifest(), f"javac {JAVAC.version}", _install)

    @classmethod
    def served(cls, files: dict[str, str], variants: int) -> ServedProgram:
        java, sources = JAVA.path(), sorted(path for path in files if path.endswith(".java"))
        build = (
            str(JAVAC.path()),
            *(f"-J{flag}" for flag in _QUICK),
            "-proc:none",
            "-nowarn",
            "-d",
            "classes",
            *sources,
        )
        run = (str(java), *_QUICK, "-Xmx512m", "-Xshare:auto", "-cp", "classes", "serving.Main")
        return ServedProgram(
            command=launched(run), files=files | launcher(), build=(build,), memory=0, variants=variants,
            read_only=(prefix(java), Path("/etc/alternatives"), *java_settings(), *interpreter()),
            environment=_environment(),
        )  # fmt: skip

    async def aclose(self) -> None:
        if self._compiler is not None:
            await self._compiler.close()
        await super().aclose()

    async def examine(
        self, place: Place, installed: Path, tree: Mapping[str, str], changed: set[str]
    ) -> list[Diagnostic]:
        if self._compiler is None:
            words = [str(JAVA.path()), *_QUICK, "-Xmx1g", "-cp", str(installed / "ours"), "Checker"]
            self._compiler = WarmCompiler([*words, str(place.copy.folder)], _environment())
        return await self._compiler.ask("check")

    async def run(self, place: Place, installed: Path, tree: Mapping[str, str], wanted: Wanted) -> TestReport:
        java = JAVA.path()
        heap = f"-Xmx{max(64, self.limits.memory * 3 // 4 >> 20)}m"
        words = [str(java), *_QUICK, heap, "-cp", classpath(installed), "Runner", str(place.copy.folder)]
        words += [str(place.out), str(wanted.examples), "stop" if wanted.stop_early else "all", *wanted.files]
        ended = await self.execute(
            place, words, wanted, readable=(installed, prefix(java)), environment=_environment()
        )
        if ended.state != "done":
            return report(ended, [])
        try:
            results = [TestResult(**one) for one in json.loads((place.out / "report.json").read_text("utf-8"))]
        except (OSError, ValueError, TypeError):
            return report(ended, [], state="died")
        return report(ended, results)


def _environment() -> dict[str, str]:
    return {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "LC_ALL": "C.UTF-8"}
