"""Python's tools around one system: a warm type checker, and one program for all bodies that are judged."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from criticality.judging.served import ServedProgram
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
        return ServedProgram(
            command=(sys.executable, "-I", "-B", "server.py", "known.json"), files=files,
            environment=cls.environment(), counted="steps", bits=0,
        )  # fmt: skip

    def compiler(self, place: Place, installed: Path) -> WarmCompiler:
        script = self.root / "checker.py"
        script.write_text(read_text(self.language, "checker.py"), "utf-8")
        command = [sys.executable, "-I", script, place.copy.folder]
        return WarmCompiler(ordered(place, command, self.environment(), self.root))
