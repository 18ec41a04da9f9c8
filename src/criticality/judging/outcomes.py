"""How a call of a served body may end, and the calls that it made on its way."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeAlias

from llm_runtime.errors import LlmRuntimeError
from llm_runtime.structs import Struct


class JudgeFailed(LlmRuntimeError):
    """The judge could not do its work. That says nothing about a body, and none is refused for it."""


class Call:
    """A call that a body made to another function of the project, and how it ended; read when it is looked at.

    Raises, from its properties:
        Unreadable: what the body's process reported is no such call.
    """

    def __init__(self, name: str, read: Callable[[], tuple[tuple[Any, ...], Outcome]]) -> None:
        self.name, self._read = name, read

    @cached_property
    def _both(self) -> tuple[tuple[Any, ...], Outcome]:
        return self._read()

    @property
    def args(self) -> tuple[Any, ...]:
        """What it was called with."""
        return self._both[0]

    @property
    def outcome(self) -> Outcome:
        """How it ended."""
        return self._both[1]


class Returned(Struct):
    """It came back with a value."""

    value: Any
    trace: tuple[Call, ...] | None = ()


class Raised(Struct):
    """It ended with an error: ``kind`` is its name."""

    kind: str
    message: str
    trace: tuple[Call, ...] | None = ()


class Died(Struct):
    """It gave no answer that can be taken: why, in words, without code."""

    reason: str

    @property
    def from_outside(self) -> bool:
        """Whether a signal ended it that a machine in need sends; a body that is to blame dies of it again."""
        return "SIGKILL" in self.reason or "SIGTERM" in self.reason


class NoSuchValue(Struct):
    """The language cannot hold an argument, so the call says nothing of the body: why, in words."""

    reason: str


Outcome: TypeAlias = Returned | Raised | Died | NoSuchValue
