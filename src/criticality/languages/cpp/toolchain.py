"""C++: g++, each source checked once for each of its texts, and one program for all bodies that are judged."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from criticality.judging.served import ServedProgram
from criticality.languages.base.toolchain.compiled import CompiledToolchain, Place, reported
from criticality.languages.base.toolchain.programs import programs
from criticality.testing import Diagnostic
from sandbox.filter import sealing

GXX, CMAKE = programs("criticality.languages.cpp")

_WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion"]
#: What the language leaves undefined ends a call instead of passing it.
_FLAGS = ["-std=c++20", "-O0", "-D_GLIBCXX_ASSERTIONS", "-fsanitize=undefined", "-fno-sanitize-recover=all"]
_ERROR = re.compile(r"^(\S+?:\d+:\d+): (?:fatal )?error: (.+)$", re.MULTILINE)


class CppToolchain(CompiledToolchain):
    """g++."""

    language = "criticality.languages.cpp"

    @classmethod
    def served(cls, files: dict[str, str]) -> ServedProgram:
        words = (
            str(GXX.path()), *_FLAGS, "-fno-sanitize=vptr", "-fsanitize-undefined-trap-on-error", "-w", "-I",
            "include", "-o", "served", "serve/main.cpp",
        )  # fmt: skip
        return ServedProgram(
            command=("./served", sealing().hex()), files=files, build=(words,),
            environment=cls.environment() | {"TMPDIR": "/tmp"}, todo=cls.table().todo,
        )  # fmt: skip

    async def examine(
        self, place: Place, installed: Path, tree: Mapping[str, str], changed: set[str]
    ) -> list[Diagnostic]:
        headers = any(path.endswith((".hpp", ".h")) for path in changed)
        errors_of_all: list[Diagnostic] = []
        for path in sorted(path for path in tree if path.startswith("src/") and path.endswith(".cpp")):
            stamp = place.build / f"{path.replace('/', '-')}.checked"
            if headers or path in changed or not stamp.exists():
                stamp.unlink(missing_ok=True)
                errors = await self._compile(place, [*_WARNINGS, "-fsyntax-only", path])
                errors_of_all += errors
                if not errors:
                    stamp.touch()
        return errors_of_all

    async def _compile(self, place: Place, words: list[str]) -> list[Diagnostic]:
        command = [str(GXX.path()), *_FLAGS, "-I", "include", *words]
        ended = await self.build(place, command, readable=(), environment=self.environment())
        return reported(_ERROR, ended, "", "the compiler") if ended.code else []
