"""Forms: texts with places in them, as a language writes values, operations and checks; read from ``forms.toml``.

A form is a text, or how tightly that text binds and the text: ``[5, "{0:5} + {1:6}"]``. A place with a number asks
for brackets around what binds less. Without numbers everything is closed, as it is where forms bring brackets.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias, cast

from criticality.languages.base.data import read_text
from llm_runtime.structs import Struct

CLOSED = 9
Forms: TypeAlias = Mapping[str, tuple[int, str]]
_LIST = re.compile(r"(\d?)(.*)", re.DOTALL)


class Written(Struct):
    """A text and how tightly it binds."""

    text: str
    level: int = CLOSED

    def __format__(self, wanted: str) -> str:
        return f"({self.text})" if wanted and self.level < int(wanted) else self.text

    def __str__(self) -> str:
        return self.text


class Several(tuple[Written, ...]):
    """Texts in a row; a place says what stands between them, a comma where it says nothing."""

    __slots__ = ()

    def __format__(self, wanted: str) -> str:
        match = _LIST.fullmatch(wanted)
        assert match is not None
        return (match[2] or ", ").join(format(one, match[1]) for one in self)


@cache
def forms(package: str) -> Forms:
    """Return a language's forms by name; those of one type's values are ``Text.length`` and the like."""
    return dict(_flat(tomllib.loads(read_text(package, "forms.toml")), ""))


def _flat(read: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, tuple[int, str]]]:
    for name, form in read.items():
        if isinstance(form, Mapping):
            yield from _flat(cast(Mapping[str, Any], form), f"{prefix}{name}.")
        else:
            yield prefix + name, (CLOSED, form) if isinstance(form, str) else (int(form[0]), str(form[1]))


def chosen(known: Forms, names: Sequence[str]) -> tuple[int, str] | None:
    """Return the first form that there is of one of these names; none where it is empty, too."""
    form = next((known[name] for name in names if name in known), None)
    return form if form and form[1] else None
