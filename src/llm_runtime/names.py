"""What a caller may name is a type: models, addresses, folders, files, tools, runs. One function finds every name.

A field has one of these types where its value decides whom the program speaks to or what it opens. Permission and
estimates go by the types, so that a new field of a new kind of run is one of theirs at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union, cast, get_args, get_origin

from pydantic import BaseModel

from llm_runtime.structs import Struct

_PATHLIKE = re.compile(r"[/\\]|^[.~]")
Kind: TypeAlias = Literal["model", "embedder", "address", "folder", "file", "tool", "run"]
"""An ``embedder`` is a model that makes vectors and answers no calls."""


class Name(Struct):
    """One name, and the field of the outermost model that holds it."""

    kind: Kind
    text: str
    field: str


class Names(Struct):
    """Says in an ``Annotated`` that a text, or each of several, is a name.

    Args:
        kind: what it names.
        reads: ``(text) -> pairs of kind and text``, where it may name something else, or nothing.
    """

    kind: Kind
    reads: Callable[[str], Iterable[tuple[Kind, str]]] | None = None


class FieldsOf(Struct):
    """Says in an ``Annotated`` that a dictionary holds fields of a model."""

    model: type[BaseModel]


def _source(text: str) -> list[tuple[Kind, str]]:
    return [] if text.startswith("data:") else [("address" if "://" in text else "file", text)]


def _tool(text: str) -> list[tuple[Kind, str]]:
    kind, _, detail = text.partition(":")
    named: list[tuple[Kind, str]] = [("tool", text)]
    return [*named, ("folder", detail)] if kind == "files" or _PATHLIKE.search(detail) else named


ModelName: TypeAlias = Annotated[str, Names("model")]
Address: TypeAlias = Annotated[str, Names("address")]
Folder: TypeAlias = Annotated[str, Names("folder")]
FilePath: TypeAlias = Annotated[str, Names("file")]
Source: TypeAlias = Annotated[str, Names("file", _source)]
"""A file of this machine, an address, or a picture itself as a ``data:`` address, which names nothing."""
ToolName: TypeAlias = Annotated[str, Names("tool", _tool)]
RunName: TypeAlias = Annotated[str, Names("run")]


def names_in(model: BaseModel) -> Iterator[Name]:
    """Yield every name in a model and in what it holds, in the order of its fields."""
    for field, info in type(model).model_fields.items():
        found = list(_found(getattr(model, field), info.annotation, info.metadata))
        for at, (kind, text) in enumerate(found):
            if (kind, text) not in found[:at]:
                yield Name(kind, text, field)


def _found(value: Any, annotation: Any, marks: Iterable[Any] = ()) -> Iterator[tuple[Kind, str]]:
    if isinstance(value, BaseModel):
        for name in names_in(value):
            yield name.kind, name.text
        return
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        yield from _found(value, inner[0], (*marks, *inner[1:]))
    elif origin in (Union, UnionType):
        for one in inner:
            yield from _found(value, one, marks)
    elif isinstance(value, str):
        for mark in marks:
            if isinstance(mark, Names) and value.strip():
                yield from mark.reads(value) if mark.reads else list[tuple[Kind, str]]([(mark.kind, value)])
    elif isinstance(value, Mapping):
        fields = next((mark.model for mark in marks if isinstance(mark, FieldsOf)), annotation)
        yield from _in_mapping(cast("Mapping[Any, Any]", value), fields, inner, marks)
    elif isinstance(value, list | tuple | set | frozenset):
        each = inner if origin is tuple and inner[-1:] != (...,) else None
        for at, one in enumerate(cast("Iterable[Any]", value)):
            of = (each[at] if at < len(each) else Any) if each else inner[0] if inner else Any
            yield from _found(one, of, marks)


def _in_mapping(
    value: Mapping[Any, Any], fields: Any, inner: tuple[Any, ...], marks: Iterable[Any]
) -> Iterator[tuple[Kind, str]]:
    if isinstance(fields, type) and issubclass(fields, BaseModel):
        for name, info in fields.model_fields.items():
            if name in value:
                yield from _found(value[name], info.annotation, info.metadata)
        return
    of_key, of_value = inner if len(inner) == 2 else (Any, Any)
    for key, one in value.items():
        yield from _found(key, of_key)
        yield from _found(one, of_value, marks)
