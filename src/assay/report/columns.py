"""The columns of tables, and of cases beside each other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from llm_runtime.structs import Struct


class Column(Struct):
    """A table's column. Numbers are set flush right."""

    head: str
    kind: Literal["text", "number"] = "text"


def columns(*texts: str, numbers: Iterable[str] = ()) -> tuple[Column, ...]:
    """Return columns of texts, and behind them columns of numbers, by their heads."""
    return (*map(Column, texts), *(Column(head, "number") for head in numbers))
