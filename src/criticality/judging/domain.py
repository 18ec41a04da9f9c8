"""The values of a specification as the judge has them: enums, errors, witnesses, records, and what reads them."""

from __future__ import annotations

import ast
import builtins
import dataclasses
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from functools import lru_cache, reduce
from types import CodeType
from typing import Any
from uuid import UUID

from criticality.spec.predicates import BUILTINS, parse_predicate
from criticality.spec.spec import DataModel, Spec
from criticality.spec.types import parse_type
from criticality.spec.values import in_order, root

_BASES: dict[str, type] = {
    "Int": int, "Decimal": Decimal, "Float": float, "Text": str, "String": str, "Bytes": bytes, "List": tuple,
}  # fmt: skip
#: Bits of a whole number beyond which a clause takes too much memory.
_MOST_BITS = 1 << 20


def _power(base: Any, exponent: Any) -> Any:
    if isinstance(base, int) and isinstance(exponent, int) and base.bit_length() * exponent > _MOST_BITS:
        raise MemoryError
    return base**exponent


def _shifted(number: int, by: int) -> int:
    if number.bit_length() + by > _MOST_BITS:
        raise MemoryError
    return number << by


def _matches(text: str, form: str) -> bool:
    return re.fullmatch(form, text, re.ASCII) is not None


class _Bounded(ast.NodeTransformer):
    """Writes powers and shifts as calls that come to an end, by names that nothing of a specification can have."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Pow | ast.LShift):
            return node
        name = ast.Name("_power" if isinstance(node.op, ast.Pow) else "_shifted", ast.Load())
        return ast.Call(name, [node.left, node.right], [])


_LANGUAGE: dict[str, Any] = {
    **{name: getattr(builtins, name) for name in BUILTINS if hasattr(builtins, name)}, "Decimal": Decimal,
    "reduce": reduce, "replace": dataclasses.replace, "_power": _power, "_shifted": _shifted, "matches": _matches,
}  # fmt: skip
_METHODS = frozenset(
    name
    for kind in (str, int, float, bytes, tuple, list, dict, set, frozenset, Decimal, UUID, date, datetime)
    for name in dir(kind)
    if not name.startswith("_")
) - {"format", "format_map", "mro"}  # fmt: skip


class Unfit(ValueError):
    """A value breaks what its type promises; one line says what."""


class NotEvaluable(ValueError):
    """An expression reads what no value has."""


class Domain:
    """The named types of a specification as classes, and the scope that predicates are evaluated in."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.types: dict[str, Any] = {}
        #: The code of each record's invariants.
        self.invariants: dict[str, list[str]] = {}
        self._codes: dict[str, CodeType] = {}
        fields = {f.name for model in spec.data_models.values() for f in model.fields}
        members = {m for group in spec.enums.values() for m in group}
        self._readable = _METHODS | fields | members | {m.upper() for m in members} | {"name", "value"}
        self.scope: dict[str, Any] = {"__builtins__": {}, **_LANGUAGE}
        for name in in_order(spec):
            self.types[name] = self.scope[name] = self._made(name)

    def code(self, expression: str) -> CodeType:
        """Compile an expression of the predicate language.

        Raises:
            NotEvaluable: it reads an attribute that neither a field nor a value's own method is.
        """
        if expression not in self._codes:
            tree = ast.fix_missing_locations(_Bounded().visit(ast.parse(expression, mode="eval")))
            for node in ast.walk(tree):
                if isinstance(node, ast.Attribute) and node.attr not in self._readable:
                    raise NotEvaluable(f"{node.attr!r} is no field, and no method of a value")
            self._codes[expression] = compile(tree, "<clause>", "eval")
        return self._codes[expression]

    def evaluate(self, expression: str, names: Mapping[str, Any]) -> Any:
        """Return what an expression comes to; names come before the domain's own."""
        return eval(self.code(expression), {**self.scope, **names})  # noqa: S307

    def _made(self, name: str) -> Any:
        spec = self.spec
        if name in spec.enums:
            return Enum(name, {written: m for m in spec.enums[name] for written in (m.upper(), m)})
        if name in spec.errors:
            return type(name, (Exception,), {})
        if name in spec.newtypes:
            return self._witness(name)
        return self._record(name, spec.data_models[name])

    def _witness(self, name: str) -> Any:
        new = self.spec.newtypes[name]
        base = root(self.spec, parse_type(new.base))
        if base.name not in _BASES:
            return _itself
        parent = self.types.get(parse_type(new.base).name, _BASES[base.name])
        broken = constraint_of(tuple(new.constraints))
        as_tuple = base.name == "List"

        def made(cls: Any, value: Any) -> Any:
            held = tuple(value) if as_tuple else value
            words = broken(held)
            if words:
                raise Unfit(f"{name}: {words}")
            return parent.__new__(cls, held)

        return type(name, (parent,), {"__new__": made} if as_tuple else {"__slots__": (), "__new__": made})

    def _record(self, name: str, model: DataModel) -> Any:
        checks = [(f.name, constraint_of(tuple(f.constraints))) for f in model.fields if f.constraints]
        names = [f.name for f in model.fields]
        rules = [parse_predicate(text, known={*names, *self.spec.enums}) for text in model.invariants]
        self.invariants[name] = [rule.code for rule in rules if rule.checkable]

        def check(record: Any) -> None:
            for field, broken in checks:
                words = broken(getattr(record, field))
                if words:
                    raise Unfit(f"{name}.{field} {words}")
            held = {field: getattr(record, field) for field in names}
            for rule in rules:
                if rule.code and not self.evaluate(rule.code, held):
                    raise Unfit(f"{name}: {rule.text}")

        made = dataclasses.make_dataclass(
            name, [(n, Any) for n in names], frozen=True, namespace={"__post_init__": check}
        )
        made.__doc__ = name
        return made


def _itself(value: Any) -> Any:
    return value


#: What must hold of a value beside the number in brackets, and the words for it. Those that are not here (unique,
#: immutable) speak of more than one value.
CHECKS: dict[str, tuple[Callable[[Any, int], bool], str]] = {
    "non_negative": (lambda v, n: v >= 0, "must not be negative"),
    "positive": (lambda v, n: v > 0, "must be positive"),
    "min": (lambda v, n: v >= n, "must be at least {}"),
    "max": (lambda v, n: v <= n, "must be at most {}"),
    "non_empty": (lambda v, n: len(v) > 0, "must not be empty"),
    "min_length": (lambda v, n: len(v) >= n, "must have a length of at least {}"),
    "max_length": (lambda v, n: len(v) <= n, "must have a length of at most {}"),
    "sorted": (lambda v, n: list(v) == sorted(v), "must be sorted ascending"),
    "distinct": (lambda v, n: len(set(v)) == len(v), "must not repeat a value"),
}


@lru_cache(maxsize=512)
def constraint_of(constraints: tuple[str, ...]) -> Callable[[Any], str]:
    """Return what says which of the constraints a value breaks, in words; empty where it breaks none."""
    named = [(name, int(rest.rstrip(")") or 0)) for name, _, rest in (c.partition("(") for c in constraints)]
    tests = [(*CHECKS[name], number) for name, number in named if name in CHECKS]
    if not tests:
        return lambda value: ""
    return lambda value: next((words.format(n) for holds, words, n in tests if not holds(value, n)), "")
