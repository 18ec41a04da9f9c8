"""The tools of the compiled languages: what is here, the files of a project, checks and tests in a box."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from criticality.testing import Limits
from criticality.toolchains.programs import Program
from criticality.toolchains.projects import project_files

if TYPE_CHECKING:
    from criticality.language import Fact
    from criticality.toolchains.compiled import CompiledToolchain
    from criticality.toolchains.dependencies import Pinned

__all__ = ["TOOLCHAINS", "facts", "pinned", "project_files", "toolchain"]

#: The class of each language's toolchain, in the module of its name.
TOOLCHAINS = {
    "typescript": "TypeScriptToolchain",
    "rust": "RustToolchain",
    "go": "GoToolchain",
    "java": "JavaToolchain",
    "cpp": "CppToolchain",
}


def toolchain(language: str, limits: Limits | None = None, parallel: int = 2) -> CompiledToolchain:
    """The tools of a language.

    Args:
        language: one of :data:`TOOLCHAINS`.
        parallel: test runs at one time, 1 or more.
    """
    made: CompiledToolchain = getattr(_module(language), TOOLCHAINS[language])(limits, parallel)
    return made


def pinned(language: str) -> Pinned:
    """What the tests of a language stand on."""
    found: Pinned = _module(language).pinned()
    return found


def facts(language: str) -> list[Fact]:
    """Every program that a language stands on, and whether its packages are installed already."""
    from criticality.language import Fact
    from criticality.toolchains.sandbox import can_isolate

    programs: tuple[Program, ...] = _module(language).PROGRAMS
    found = [Fact(p.name, p.version, p.get, p.needed) for p in programs]
    if all(fact.version is not None for fact in found if fact.needed):
        state = "installed" if pinned(language).there else None
        found.append(Fact("its packages", state, "they are fetched once, by the first check", needed=False))
    bubblewrap = "here" if can_isolate() else None
    found.append(Fact("bwrap", bubblewrap, "install bubblewrap: it keeps tests off your files", needed=False))
    return found


def _module(language: str) -> ModuleType:
    return import_module(f"criticality.toolchains.{language}")
