"""Java: a warm javac, and one program for all bodies that are judged."""

from __future__ import annotations

from pathlib import Path

from criticality.judging.served import ServedProgram
from criticality.languages.base.data import texts
from criticality.languages.base.toolchain.compiled import CONFINED, SETTINGS, Place, ordered
from criticality.languages.base.toolchain.dependencies import Pinned, command
from criticality.languages.base.toolchain.programs import prefix, programs
from criticality.languages.base.toolchain.warm import WarmCompiler, WarmToolchain

JAVAC, JAVA = programs("criticality.languages.java")

#: Small and quick to start; a hearing is over before better code would pay.
_QUICK = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xss16m")


async def _install(folder: Path) -> None:
    sources = [str(path) for path in sorted((folder / "ours").glob("*.java"))]
    await command(folder, str(JAVAC.path()), "-d", str(folder / "ours"), *sources)


class JavaToolchain(WarmToolchain):
    """javac."""

    language = "criticality.languages.java"

    @classmethod
    def pinned(cls) -> Pinned:
        """Our own checker, compiled."""
        return Pinned("Java", "java", texts(cls.language, "installed"), f"javac {JAVAC.version}", _install)

    @classmethod
    def served(cls, files: dict[str, str]) -> ServedProgram:
        java, sources = JAVA.path(), sorted(path for path in files if path.endswith(".java"))
        build = (
            str(JAVAC.path()), *(f"-J{flag}" for flag in _QUICK), "-proc:none", "-nowarn", "-Xmaxerrs", "1000",
            "-d", "classes", *sources,
        )  # fmt: skip
        run = (str(java), *_QUICK, "-Xmx512m", "-Xshare:auto", "-cp", "classes", "serving.Main")
        return ServedProgram(
            command=(*run, CONFINED), confined=True, files=files, build=(build,), memory=0,
            todo=cls.table().todo, read_only=(prefix(java), *SETTINGS), environment=cls.environment(),
        )  # fmt: skip

    def compiler(self, place: Place, installed: Path) -> WarmCompiler:
        java = JAVA.path()
        words = [java, *_QUICK, "-Xmx1g", "-cp", installed / "ours", "Checker", place.copy.folder]
        return WarmCompiler(ordered(place, words, self.environment(), installed, prefix(java)))
