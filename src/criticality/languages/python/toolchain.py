"""Python's tools around one system: a warm type checker, and one program for all bodies that are judged."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from criticality.judging.building import ServedProgram
from criticality.languages.base.data import read_text
from criticality.languages.base.toolchain.compiled import Place, ordered
from criticality.languages.base.toolchain.warm import WarmCompiler, WarmToolchain
from criticality.languages.python.names import PACKAGE
from llm_runtime.errors import MissingExtraError


class PythonToolchain(WarmToolchain):
    """mypy, strict; it looks at what stands below ``src`` alone.

    Raises:
        MissingExtraError: one of the tools is not installed.
    """

    language = PACKAGE

    def __init__(self) -> None:
        for name in ("mypy", "msgpack"):
            if importlib.util.find_spec(name) is None:
                raise MissingExtraError(f"checking generated Python with {name}", "code")
        super().__init__()

    @classmethod
    def served(cls, files: dict[str, str]) -> ServedProgram:
        run, found = (sys.executable, "-I", "-B"), importlib.util.find_spec("crosshair")
        homes = [Path(found.origin).parents[1]] if found and found.origin else []
        return ServedProgram(
            command=(*run, "server.py", "known.json"), files=files | {"solver.py": read_text(PACKAGE, "solver.py")},
            environment=cls.environment(), counted="steps", bits=0, read_only=tuple(homes), solved_by="CrossHair",
            solver=(*run, "solver.py", str(homes[0])) if homes else (),
        )  # fmt: skip

    def compiler(self, place: Place, installed: Path) -> WarmCompiler:
        script = self.root / "checker.py"
        script.write_text(read_text(self.language, "checker.py"), "utf-8")
        command = [sys.executable, "-I", script, place.copy.folder]
        return WarmCompiler(ordered(place, command, self.environment(), self.root))
