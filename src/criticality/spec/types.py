"""The neutral type language of a specification: a parser, and what it knows of each type.

::

    type  := NAME | NAME "<" type ("," type)* ">"

Languages map these names; none of them is written in a specification (CT20).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

from llm_runtime.errors import ConfigurationError
from llm_runtime.rewording import instead
from llm_runtime.structs import Struct

#: Types without arguments that every adapter maps.
SCALARS = frozenset({"Int", "Float", "Decimal", "Text", "String", "Bool", "Bytes", "UUID", "Date", "Timestamp", "Unit"})
#: Generic types, each with the number of its arguments; 0 is any number from 1 on.
GENERICS = {"List": 1, "Set": 1, "Option": 1, "Map": 2, "Result": 2, "Tuple": 0}

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*\Z")
_BRACKETS, _BACK = str.maketrans("<>[]", "[]<>"), str.maketrans("[]", "<>")
MAX_LENGTH = 300
MAX_DEPTH = 8


class TypeFault(ConfigurationError):
    """A type is not written in the neutral language, or not known."""


class TypeRef(Struct):
    """One type: ``Map<Text, List<Account>>`` is ``Map`` with two arguments."""

    name: str
    args: tuple[TypeRef, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}<{', '.join(map(str, self.args))}>" if self.args else self.name

    def parts(self) -> Iterator[TypeRef]:
        """Yield it and every type in it, outermost first."""
        yield self
        for arg in self.args:
            yield from arg.parts()

    def names(self) -> Iterator[str]:
        """Yield every name in it, outermost first."""
        return (part.name for part in self.parts())

    @property
    def depth(self) -> int:
        """How deep types are nested: 1 for a plain name."""
        return 1 + max((arg.depth for arg in self.args), default=0)


@lru_cache(maxsize=1024)
def parse_type(text: str) -> TypeRef:
    """Read a type.

    Raises:
        TypeFault: it is not in the language, too long, or nested deeper than 8.
    """
    if len(text) > MAX_LENGTH:
        raise TypeFault(f"a type is longer than {MAX_LENGTH} characters; name parts of it")
    fault = TypeFault(f"the type {text!r} cannot be read; a type is written as in Map<Text, List<Int>>")
    with instead(fault, SyntaxError, ValueError):
        # With its own brackets it would be a type of Python's.
        return _read(text, ast.parse(text.strip().translate(_BRACKETS), mode="eval").body, 1)


def _read(text: str, node: ast.expr, depth: int) -> TypeRef:
    if depth > MAX_DEPTH:
        raise TypeFault(f"the type {text!r} is nested deeper than {MAX_DEPTH}")
    match node:
        case ast.Name(id=name) if _NAME.match(name):
            args = list[ast.expr]()
        case ast.Subscript(value=ast.Name(id=name), slice=inner) if _NAME.match(name):
            args = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        case _:
            raise TypeFault(f"the type {text!r} needs a name where it has {ast.unparse(node).translate(_BACK)!r}")
    wanted = GENERICS.get(name)
    if (wanted is None and args) or (wanted is not None and not args) or (wanted and len(args) != wanted):
        raise TypeFault(f"the type {text!r}: {name} takes {wanted or 'no'} arguments, it has {len(args)}")
    return TypeRef(name, tuple(_read(text, arg, depth + 1) for arg in args))


class Param(Struct):
    """A named value of a type: ``amount: Decimal``."""

    name: str
    type: TypeRef

    def __str__(self) -> str:
        return f"{self.name}: {self.type}"


_PARAM = re.compile(r"[a-z_][a-z0-9_]{0,60}\Z")


def parse_param(text: str) -> Param:
    """Read ``name: Type``.

    Raises:
        TypeFault: it is not of that form.
    """
    name, colon, kind = text.partition(":")
    if not colon or not _PARAM.match(name.strip()):
        raise TypeFault(f"a parameter is written 'name: Type' in lower case; this is {text[:80]!r}")
    return Param(name.strip(), parse_type(kind))
