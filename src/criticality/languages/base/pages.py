"""Generated sources: a language's templates, and what of a specification they are filled with.

``«name»`` is a value and a line that begins with ``%%`` a statement, since no target language has these.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeAlias, cast

from jinja2 import Environment, FunctionLoader, StrictUndefined

from criticality.languages.base.data import read_text
from criticality.languages.base.naming import camel, pascal, snake
from criticality.spec.types import TypeRef
from llm_runtime.structs import Struct

#: What a template writes a value with: a function of the value and of what stands in brackets.
Filter: TypeAlias = Callable[[Any], Any] | Callable[[Any, Any], Any] | Callable[[Any, Any, Any], Any]
_STATEMENT = re.compile(r"^[ \t]*%% (.*)$", re.MULTILINE)


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


def flat(text: str) -> str:
    """Return a text on one line."""
    return " ".join(text.split())


def sentence(text: str) -> str:
    """Return a text on one line, with a full stop at its end."""
    return flat(text) if flat(text).endswith(".") else f"{flat(text)}."


def page(package: str, template: str, filters: Mapping[str, Filter], values: Mapping[str, Any]) -> str:
    """Return a template of a language's folder, filled; its filters are the same for all its templates."""
    environment = _environment(package)
    cast("dict[str, Any]", environment.filters).update(filters)
    return environment.get_template(template).render(values)


@cache
def _environment(package: str) -> Environment:
    made = Environment(
        loader=FunctionLoader(lambda name: _STATEMENT.sub(r"«% \1 %»", read_text(package, "templates", name))),
        undefined=StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True,
        variable_start_string="«", variable_end_string="»", block_start_string="«%", block_end_string="%»",
        comment_start_string="«#", comment_end_string="#»",
    )  # fmt: skip
    own: dict[str, Filter] = {
        "flat": flat, "sentence": sentence, "camel": camel, "pascal": pascal, "snake": snake,
        "bare": lambda text: flat(text).rstrip("."), "closed": lambda text: text.replace("*/", "* /"),
    }  # fmt: skip
    cast("dict[str, Any]", made.filters).update(own)
    return made
