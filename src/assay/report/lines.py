"""The lines that a live display tells, as a table: an event's type, and what is said of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from string import Formatter
from typing import Any, TypeAlias

from pydantic import BaseModel

from assay.report import units
from assay.report.clean import one_line
from assay.report.units import count_noun, in_words

Lines: TypeAlias = Mapping[type[BaseModel], str | Callable[[Any, Any], str | None]]
"""By the type of an event a template of its fields, or a function of fold and event.

Beside Python's own forms, ``{text:line}`` writes a text on one line of 160 characters at most, ``{text:line 90}``
of 90; ``{errors:count error}`` a number of things, or how many there are; ``{names:words}`` a list in words.
"""
FORMS: Mapping[str, Callable[[Any], str]] = {
    "length": lambda held: str(len(held)),
    "list": ", ".join,
    "money": units.money,
    "number": units.count,
    "percent": units.whole_percent,
    "points": units.points,
    "reach": units.reach,
    "short": units.short_count,
    "time": lambda seconds: units.duration(round(seconds * 1000)),
}
"""Those that every report has: amounts, and what is in a list."""
WIDTH = 160
_FIRST = re.compile(r"[.\[]")


class FieldWriter(Formatter):
    """Texts with fields, in the forms above and those of ``forms``; what is not there is written as a dash."""

    def __init__(self, forms: Mapping[str, Callable[[Any], str]] | None = None) -> None:
        self.forms = {**FORMS, **(forms or {})}

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:
        """Return a value by its path; ``None`` where the way there ends in nothing."""
        try:
            return super().get_field(field_name, args, kwargs)
        except (AttributeError, KeyError, TypeError) as fault:
            # A name that no data have is a slip of whoever wrote the text.
            known = _FIRST.split(field_name)[0] in kwargs
            if not known or (isinstance(fault, AttributeError) and fault.obj is not None):
                raise
            return None, field_name

    def format_field(self, value: Any, format_spec: str) -> str:
        """Write a value in its form."""
        form, _, rest = format_spec.partition(" ")
        if value is None:
            return "–"
        if form in self.forms:
            return self.forms[form](value)
        match form:
            case "line":
                return one_line(str(value), int(rest or WIDTH))
            case "count":
                return count_noun(value if isinstance(value, int) else len(value), rest)
            case "words":
                return in_words(list(value))
            case _:
                return str(super().format_field(value, format_spec))


_WORDS = FieldWriter()


def line_of(lines: Lines, fold: object, event: BaseModel) -> str | None:
    """Return what is said of an event; ``None`` where nothing is."""
    says = lines.get(type(event))
    if isinstance(says, str):
        return _WORDS.vformat(says, (), event.__dict__)
    return says(fold, event) if says else None
