"""What a compiler or type checker says, as the core sees it in any language."""

from __future__ import annotations

from llm_runtime.structs import Struct


class Diagnostic(Struct):
    """One error of a compiler or type checker: ``place`` is a file and a line, for people."""

    place: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message
