"""Methods of texts, lists, maps and sets."""

from __future__ import annotations

import ast

from criticality.languages.base.expressions import loops
from criticality.languages.base.expressions.conversions import ExpressionFault, operation
from criticality.languages.base.expressions.nodes import (
    BOOL,
    INT,
    TEXT,
    Conditional,
    Constant,
    Expression,
    OperationName,
)
from criticality.languages.base.expressions.scope import Reader
from criticality.spec.types import TypeRef

_TEXTS = TypeRef("List", (TEXT,))
#: Methods of a text: the operation, and the type of what comes back; arguments are texts.
_TEXT_METHODS: dict[str, tuple[OperationName, int, TypeRef]] = {
    "lower": ("lower", 0, TEXT), "upper": ("upper", 0, TEXT), "strip": ("trim", 0, TEXT),
    "startswith": ("starts_with", 1, BOOL), "endswith": ("ends_with", 1, BOOL), "split": ("split", 1, _TEXTS),
    "isdigit": ("is_digits", 0, BOOL), "isdecimal": ("is_digits", 0, BOOL), "isalpha": ("is_letters", 0, BOOL),
    "isascii": ("is_ascii", 0, BOOL), "count": ("occurrences", 1, INT), "replace": ("substitute", 2, TEXT),
}  # fmt: skip
_SET_METHODS: dict[str, OperationName] = {
    "union": "union", "intersection": "intersection", "difference": "difference", "issubset": "subset",
}  # fmt: skip


def outside(node: ast.expr) -> ExpressionFault:
    """Return the fault of an expression that is refused as a whole."""
    return ExpressionFault(f"{ast.unparse(node)!r} is outside what typed languages render")


def one(node: ast.Call) -> ast.expr:
    """Return the only argument of a call."""
    if len(node.args) != 1 or node.keywords:
        raise ExpressionFault(f"{ast.unparse(node)!r} takes one argument")
    return node.args[0]


def method(reader: Reader, node: ast.Call, called: ast.Attribute) -> Expression:
    """Read a call of a method.

    Raises:
        ExpressionFault: typed languages have no such method.
    """
    if node.keywords:
        raise outside(node)
    value, name = reader.plain(called.value), called.attr
    match value.type.name:
        case "Text" if name == "join":
            return operation("join", TEXT, value, reader.convert.to(loops.iterated(reader, one(node)), _TEXTS))
        case "Text" if name in _TEXT_METHODS:
            known, wanted, kind = _TEXT_METHODS[name]
            if len(node.args) != wanted:
                raise ExpressionFault(f"{ast.unparse(node)!r}: {name} takes {wanted} arguments here")
            return operation(known, kind, value, *(reader.convert.to(reader.read(a), TEXT) for a in node.args))
        case "Map":
            return _of_map(reader, node, value, name)
        case "Set" if name in _SET_METHODS:
            other = reader.read(one(node), value.type)
            if other.type.name == "List":
                other = operation("to_set", TypeRef("Set", other.type.args), other)
            kind = reader.convert.common(value.type, other.type)
            first, second = reader.convert.to(value, kind), reader.convert.to(other, kind)
            return operation(_SET_METHODS[name], BOOL if name == "issubset" else kind, first, second)
        case "List" if name in ("count", "index"):
            item = reader.read(one(node), value.type.args[0])
            kind = reader.convert.common(value.type.args[0], item.type)
            whole = reader.convert.to(value, TypeRef("List", (kind,)))
            search: OperationName = "occurrences" if name == "count" else "position"
            return operation(search, INT, whole, reader.convert.to(item, kind))
        case _:
            raise ExpressionFault(f"{ast.unparse(node)!r}: a {value.type} has no such method in typed languages")


def _of_map(reader: Reader, node: ast.Call, value: Expression, name: str) -> Expression:
    key, held = value.type.args
    if name == "get" and len(node.args) in (1, 2):
        place = reader.convert.to(reader.read(node.args[0], key), key)
        entry = operation("lookup", held, value, place)
        there = operation("contains", BOOL, value, place)
        if len(node.args) == 1:
            kind = TypeRef("Option", (held,))
            return Conditional(kind, there, reader.convert.to(entry, kind), Constant(kind, None))
        default = reader.read(node.args[1], held)
        kind = reader.convert.common(reader.convert.root(held), default.type)
        return Conditional(kind, there, reader.convert.to(entry, kind), reader.convert.to(default, kind))
    views: dict[str, tuple[OperationName, TypeRef]] = {
        "keys": ("keys", key), "values": ("values", held), "items": ("entries", TypeRef("Tuple", (key, held))),
    }  # fmt: skip
    if node.args or name not in views:
        raise outside(node)
    view, item = views[name]
    return operation(view, TypeRef("List", (item,)), value)
