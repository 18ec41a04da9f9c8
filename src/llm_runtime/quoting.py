"""Tells a model's own object from one that it was shown: a quote is no answer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from typing import Any, Generic, TypeVar, cast

from pydantic import BaseModel, ValidationError

from llm_runtime.decoding import unescaped
from llm_runtime.objects import Objects

T = TypeVar("T", bound=BaseModel)

_POINT_ZERO = re.compile(r"(?<=\d)\.0(?=[,}\]])")
#: How deep objects are looked for in the strings of objects.
_DEPTH = 4
_SMALL = 200


class Material(Generic[T]):
    """All that a model had before it when it was asked for an object of type ``model``."""

    def __init__(self, text: str, model: type[T]) -> None:
        # Where no brace stands, nor one that is escaped, no object does, and most of what is shown is prose.
        self._text = text if "{" in text or "\\" in text else ""
        self._model = model

    def holds(self, spelling: str, value: T) -> bool:
        """Tell whether an object stands there: as it is spelled, escapes and spaces aside, or by its value."""
        # What was shown may lack the brackets at the end: whoever quotes it adds them.
        quote = _plain(spelling).rstrip("}]")
        at = self._plain.find(quote)
        while at >= 0 and self._plain[at + len(quote) : at + len(quote) + 1] not in ("", ",", "}", "]"):
            at = self._plain.find(quote, at + 1)
        return at >= 0 or (bool(self._values) and _canonical(value) in self._values)

    @cached_property
    def _plain(self) -> str:
        return _plain(self._text)

    @cached_property
    def _values(self) -> set[str]:
        values = set[str]()
        for data in _dicts(self._text, _DEPTH):
            with suppress(ValidationError):
                values.add(_canonical(self._model.model_validate(data)))
        return values


def _canonical(value: BaseModel) -> str:
    """Return a value's JSON, the same for 1 and 1.0 and for whatever order of names."""
    return _POINT_ZERO.sub("", json.dumps(value.model_dump(mode="json"), sort_keys=True))


def _plain(text: str) -> str:
    """Return what is left of a text when nothing in it is escaped any more, without quotes and white space."""
    text = unescaped(text) if "\\" in text else text
    return "".join(text.split()).replace('"', "").replace("'", "")


def _dicts(text: str, depth: int) -> Iterator[dict[str, Any]]:
    """Yield every object in a text, those in objects and in their strings too."""
    if not depth or "{" not in text:
        return
    rest: list[object] = [place.data for place in Objects(text, inside_broken=True) if place.data is not None]
    while rest:
        value = rest.pop()
        if isinstance(value, dict):
            yield (data := cast("dict[str, Any]", value))
            rest.extend(data.values())
        elif isinstance(value, list):
            rest.extend(cast("list[object]", value))
        elif isinstance(value, str):
            yield from _dicts(value, depth - 1)


def says_little(data: object, model: type[BaseModel]) -> bool:
    """Tell whether an object holds no number and no words of its own: an honest one may well be the same."""
    if len(str(data)) > _SMALL:
        return False
    try:
        return not any(_fits(other, model) for other in _reworded(data))
    except _Number:
        return False


class _Number(Exception):
    """There is a number, and numbers are chosen."""


def _reworded(value: object) -> Iterator[object]:
    """Yield the value again and again, with another one of its strings changed each time."""
    if isinstance(value, str):
        yield value + "?"
    elif isinstance(value, dict):
        data = cast("dict[str, object]", value)
        for name, inner in data.items():
            yield from ({**data, name: other} for other in _reworded(inner))
    elif isinstance(value, list):
        items = cast("list[object]", value)
        for index, inner in enumerate(items):
            yield from ([*items[:index], other, *items[index + 1 :]] for other in _reworded(inner))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        raise _Number


def _fits(data: object, model: type[BaseModel]) -> bool:
    try:
        model.model_validate(data)
    except ValidationError:
        return False
    return True
