"""The lines that a live display tells, as a table: an event's type, and what is said of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from string import Formatter
from typing import Any, TypeAlias

from pydantic import BaseModel

from assay.report.clean import one_line
from assay.report.units import count_noun, in_words

Lines: TypeAlias = Mapping[type[BaseModel], str | Callable[[Any, Any], str | None]]
"""By the type of an event a template of its fields, or a function of fold and event.

Beside Python's own forms, ``{text:line}`` writes a text on one line of 160 characters at most, ``{text:line 90}``
of 90; ``{errors:count error}`` a number of things, or how many there are; ``{names:words}`` a list in words.
"""
WIDTH = 160


class _Words(Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        form, _, rest = format_spec.partition(" ")
        match form:
            case "line":
                return one_line(str(value), int(rest or WIDTH))
            case "count":
                return count_noun(value if isinstance(value, int) else len(value), rest)
            case "words":
                return in_words(list(value))
            case _:
                return str(super().format_field(value, format_spec))


_WORDS = _Words()


def line_of(lines: Lines, fold: object, event: BaseModel) -> str | None:
    """Return what is said of an event; ``None`` where nothing is."""
    says = lines.get(type(event))
    if isinstance(says, str):
        return _WORDS.vformat(says, (), event.__dict__)
    return says(fold, event) if says else None
