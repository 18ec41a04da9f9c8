"""The judge's cases as a person's tests: values as expressions that a language writes down."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC
from typing import Any

from criticality.judging.domain import Domain
from criticality.judging.wire import Codec
from criticality.language import Plan
from criticality.languages.base.expressions.nodes import Constant, Expression, Make, Member, Operation, Wrap
from criticality.lattice_plan import FunctionPlan
from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef
from criticality.spec.values import fields_of, root
from llm_runtime.grouping import grouped
from llm_runtime.structs import Struct

#: Calls of a function that are shown: so many that return, and so many that raise.
_RETURNS, _RAISES = 200, 60
_PARTS: dict[str, Any] = {"List": "list", "Set": "set", "Tuple": "tuple"}


class NoLiteral(ValueError):
    """A value of a type that languages have no short way to write down."""


class CaseRow(Struct):
    """One call: ``result`` is what it returns, ``error`` the name of what it raises."""

    args: tuple[Expression, ...]
    result: Expression | None
    error: str


def by_module(
    spec: Spec, plan: Plan, cases: Mapping[str, list[list[Any]]],
    test: Callable[[str, FunctionPlan, list[CaseRow]], str], between: str,
) -> dict[str, str]:  # fmt: skip
    """Return the tests of each module that has cases, each written by the language.

    Args:
        cases: by function, arguments, status and value as the judge's JSON has them.
        test: writes some calls of a function of a module.
    """
    codec, parts = Codec(Domain(spec), plan), defaultdict[str, list[str]](list)
    for name, function in codec.functions.items():
        rows = (_row(spec, function, *case) for case in codec.cases(name, cases.get(name, ())))
        made, module = grouped((bool(row.error), row) for row in rows if row is not None), name.partition(".")[0]
        if made:
            shown = [*made.get(False, ())[:_RETURNS], *made.get(True, ())[:_RAISES]]
            parts[module].append(test(module, function, shown))
    return {module: between.join(tests) for module, tests in parts.items()}


def _row(spec: Spec, function: FunctionPlan, args: tuple[Any, ...], error: str, result: Any) -> CaseRow | None:
    with suppress(NoLiteral):
        arguments = tuple(literal(spec, p.type, one) for p, one in zip(function.parameters, args, strict=True))
        if not error:
            return CaseRow(arguments, literal(spec, function.result, result), "")
        return CaseRow(arguments, None, error) if error in spec.errors else None
    return None


def literal(spec: Spec, kind: TypeRef, value: Any) -> Expression:
    """Return a value as an expression of its type.

    Raises:
        NoLiteral: bytes, days, identifiers and numbers without end are not written down.
    """
    match kind.name:
        case "Int" | "Decimal" | "Text" | "String" | "Bool" | "Unit":
            base: Any = {"Int": int, "Text": str, "String": str}.get(kind.name)
            return Constant(kind, base(value) if base else value)
        case "Float" if math.isfinite(value):
            return Constant(kind, float(value))
        case "Timestamp":
            seconds = Constant(TypeRef("Int"), int(value.replace(tzinfo=UTC).timestamp()))
            return Operation(kind, "to_timestamp", (seconds,))
        case "List" | "Set":
            items = sorted(value, key=repr) if kind.name == "Set" else value
            return Operation(kind, _PARTS[kind.name], tuple(literal(spec, kind.args[0], one) for one in items))
        case "Tuple":
            parts = zip(kind.args, value, strict=True)
            return Operation(kind, "tuple", tuple(literal(spec, arg, one) for arg, one in parts))
        case "Map":
            parts = (part for pair in value.items() for part in zip(kind.args, pair, strict=True))
            return Operation(kind, "map", tuple(literal(spec, arg, one) for arg, one in parts))
        case "Option":
            return Constant(kind, None) if value is None else Operation(
                kind, "some", (literal(spec, kind.args[0], value),)
            )  # fmt: skip
        case "Result":
            return literal(spec, kind.args[0], value)
        case name if name in spec.enums:
            return Member(kind, value.value)
        case name if name in spec.newtypes:
            return Wrap(kind, literal(spec, root(spec, kind), value))
        case name if name in spec.data_models:
            fields = ((field, literal(spec, of, getattr(value, field))) for field, of in fields_of(spec, name))
            return Make(kind, tuple(fields))
        case name:
            raise NoLiteral(name)
