"""Generated sources: a language's templates, and what of a specification they are filled with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from criticality import pages
from criticality.languages.base.naming import camel, pascal, snake
from criticality.spec.types import TypeRef
from llm_runtime.structs import Struct

_NAMES: dict[str, pages.Filter] = {"camel": camel, "pascal": pascal, "snake": snake}


class Check(Struct):
    """What must hold of a value when it is made.

    Args:
        code: the condition, or in some languages its opposite.
        words: what must be; of an invariant, its text.
        field: the field of a record that it is of; empty for an invariant and for a newtype.
        constraint: whether it is one, and no invariant.
    """

    code: str
    words: str
    field: str = ""
    constraint: bool = True


class Named(Struct):
    """A named type of a specification, as templates read it.

    Args:
        sort: ``enum``, ``error``, ``newtype`` or ``model``.
        doc: what the specification says of it, or its name.
        base: of a newtype, the root type.
        checked: whether a record's constructor has something to check.
    """

    name: str
    sort: str
    doc: str
    members: tuple[str, ...]
    base: TypeRef
    fields: tuple[tuple[str, TypeRef], ...]
    checks: tuple[Check, ...]
    checked: bool


def page(package: str, template: str, filters: Mapping[str, pages.Filter], values: Mapping[str, Any]) -> str:
    """Return a template of a language's folder, filled; its filters are the same for all its templates."""
    return pages.page(package, template, {**_NAMES, **filters}, values)
