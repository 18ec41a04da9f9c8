"""Tests as the core sees them, in any language: a generated file, what a run may use, and what it said."""

from __future__ import annotations

from dataclasses import dataclass

from llm_runtime.models import Model


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
class Diagnostic:
    """One error of a compiler or type checker: ``place`` is a file and a line, for people."""

    place: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message
