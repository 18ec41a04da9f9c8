"""The closed set of typed expressions that every language renders; each knows its type, in the neutral language.

What is implicit in Python is written out: a newtype is unwrapped before it is computed with and wrapped where one
is wanted, whole numbers become decimals, an optional value is taken out before it is used, names that a loop
unpacks are items of one variable. So a renderer decides nothing about types.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from decimal import Decimal
from typing import Literal, TypeAlias

from criticality.spec.types import TypeRef
from llm_runtime.structs import Struct

BOOL, INT, TEXT, DECIMAL, FLOAT = (TypeRef(name) for name in ("Bool", "Int", "Text", "Decimal", "Float"))

#: Operations on values, by what they take; ``List`` stands for a list or a newtype's unwrapped list.
OperationName: TypeAlias = Literal[
    # numbers of one type; `divide` never on Int; `floor_divide` and `modulo` round down, as in Python
    "add", "subtract", "multiply", "divide", "floor_divide", "modulo", "power", "negate", "absolute",
    # conversions: Int to Decimal, Int to Float, Decimal or Float to Int (towards zero), Int to Text, enum to Text
    "to_decimal", "to_float", "truncate", "to_text", "enum_text",
    # both operands of one type; `equal` compares by value, all the way down; order: numbers, texts, times, tuples
    "equal", "less", "less_equal",
    "and", "or", "not",
    # Option: make one, take the value out (fails where there is none), ask
    "some", "get", "is_some",
    # displays; the operands of `map` are keys and values in turn
    "list", "set", "map", "tuple",
    # any sized value; `contains` (container, item) also a key in a map and a text in a text
    "length", "contains",
    # lists and texts: (value, position), fails outside; (value, start, stop), clamped to what there is
    "index", "slice", "concat",
    # lists
    "reversed", "sorted", "sum", "minimum", "maximum", "zip", "enumerate", "range", "occurrences", "position",
    "to_set", "distinct_list",
    # a tuple and a constant Int
    "item",
    # maps: the value of a key, fails without it; lists of keys, values, (key, value)
    "lookup", "keys", "values", "entries", "to_map",
    # sets
    "to_list", "union", "intersection", "difference", "subset",
    # texts; `characters` is a list of texts of one character
    "lower", "upper", "trim", "starts_with", "ends_with", "is_digits", "is_letters", "is_ascii", "split", "join",
    "substitute", "characters",
    # a time from whole seconds since 1970
    "to_timestamp",
]  # fmt: skip


class _Typed(Struct):
    """What has a type."""

    type: TypeRef


class Constant(_Typed):
    """A value written down; ``None`` of a type ``Option`` is the absence of one."""

    value: bool | int | float | Decimal | str | None


class Variable(_Typed):
    """A field of the record that an invariant is of, or what a loop goes through."""

    name: str


class Field(_Typed):
    """A field of a record."""

    record: Expression
    name: str


class Member(_Typed):
    """A member of an enum, as the specification spells it."""

    name: str


class Make(_Typed):
    """A record made from all its fields, in their order; fails where an invariant does not hold."""

    values: tuple[tuple[str, Expression], ...]


class Wrap(_Typed):
    """A newtype made from a value of its root type; fails where a constraint does not hold."""

    value: Expression


class Unwrap(_Typed):
    """The value in a newtype, of its root type."""

    value: Expression


class Operation(_Typed):
    """An operation on values that binds no name."""

    name: OperationName
    operands: tuple[Expression, ...]


class Conditional(_Typed):
    """One of two values of a type; the other is not computed."""

    test: Expression
    yes: Expression
    no: Expression


class Clause(Struct):
    """``for variable in source if ...``: the source is a list whose elements have the type ``kind``."""

    variable: str
    kind: TypeRef
    source: Expression
    conditions: tuple[Expression, ...]


class Quantifier(_Typed):
    """Whether a condition holds for every combination, or for some; no further than needed."""

    every: bool
    clauses: tuple[Clause, ...]
    condition: Expression


class Comprehension(_Typed):
    """A list, a set or a map, by its type; ``element`` is the key of a map and ``value`` its value."""

    clauses: tuple[Clause, ...]
    element: Expression
    value: Expression | None = None


class Keyed(_Typed):
    """A list sorted by a key (ascending, stable), or its first element with the least or greatest key."""

    name: Literal["sorted", "minimum", "maximum"]
    items: Expression
    variable: str
    kind: TypeRef
    key: Expression


Expression: TypeAlias = (
    Constant | Variable | Field | Member | Make | Wrap | Unwrap | Operation | Conditional
    | Quantifier | Comprehension | Keyed
)  # fmt: skip


def walk(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and all that it is made of."""
    yield expression
    for part in fields(expression):
        yield from _inside(getattr(expression, part.name))


def _inside(value: object) -> Iterator[Expression]:
    if isinstance(value, tuple):
        for part in value:  # pyright: ignore[reportUnknownVariableType]
            yield from _inside(part)  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(value, Clause):
        yield from walk(value.source)
        yield from (node for condition in value.conditions for node in walk(condition))
    elif isinstance(value, Expression):
        yield from walk(value)
