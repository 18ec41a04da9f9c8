"""Tests as the core sees them, in any language: a generated file, what a run may use, and what it said."""

from __future__ import annotations

from dataclasses import dataclass

from llm_runtime.models import Model


class ClaimTestFault(ValueError):
    """A structured claim cannot become a test; one line says why."""


class Limits(Model):
    """What one test run may use.

    Args:
        seconds: wall time.
        memory: bytes of address space a process.
        processes: processes and threads at one time.
    """

    seconds: float = 20.0
    memory: int = 2 << 30
    processes: int = 16


@dataclass(frozen=True, slots=True)
class TestFile:
    """A generated file, and the promise that each of its tests shows.

    Args:
        path: below the project, ``tests/property/...``.
        source: its text.
        promises: by test name, the clause or claim in words.
    """

    __test__ = False

    path: str
    source: str
    promises: dict[str, str]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One error of a compiler or type checker: ``place`` is a file and a line, for people."""

    place: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message


@dataclass(frozen=True, slots=True)
class TestResult:
    """One test: ``passed``, ``failed`` or ``skipped``, and the promise that broke."""

    __test__ = False

    name: str
    outcome: str
    message: str


@dataclass(frozen=True, slots=True)
class TestReport:
    """One run: ``done``, ``timeout`` (wall time), ``cpu`` (processor time) or ``died``."""

    __test__ = False

    state: str
    tests: tuple[TestResult, ...]

    @property
    def passed(self) -> bool:
        """Tell whether something ran and nothing failed."""
        return self.state == "done" and bool(self.tests) and all(t.outcome != "failed" for t in self.tests)

    @property
    def failures(self) -> tuple[TestResult, ...]:
        """The tests that failed."""
        return tuple(test for test in self.tests if test.outcome == "failed")
