"""Calls in predicates: the system's functions, the language's own, and methods of texts and collections."""

from __future__ import annotations

import ast
from decimal import Decimal, InvalidOperation
from typing import Literal

from criticality.languages.base.expressions import loops, methods
from criticality.languages.base.expressions.conversions import NUMBERS, UNKNOWN, ExpressionFault, normal, operation
from criticality.languages.base.expressions.nodes import (
    BOOL,
    DECIMAL,
    FLOAT,
    INT,
    TEXT,
    Clause,
    Comprehension,
    Conditional,
    Constant,
    Expression,
    Keyed,
    Make,
    OperationName,
    Quantifier,
    Variable,
)
from criticality.languages.base.expressions.scope import Reader
from criticality.spec.types import TypeRef, parse_type
from llm_runtime.rewording import instead

_INTS = TypeRef("List", (INT,))


def call(reader: Reader, node: ast.Call, wanted: TypeRef | None) -> Expression:
    """Any call.

    Raises:
        ExpressionFault: it is outside what typed languages render.
    """
    if isinstance(node.func, ast.Attribute):
        return methods.method(reader, node, node.func)
    if not isinstance(node.func, ast.Name):
        raise methods.outside(node)
    name, spec = node.func.id, reader.scope.spec
    if name in spec.newtypes:
        kind = TypeRef(name)
        return reader.convert.to(reader.read(methods.one(node), reader.convert.root(kind)), kind)
    return _record(reader, node, name) if name in spec.data_models else _builtin(reader, node, name, wanted)


def _record(reader: Reader, node: ast.Call, name: str) -> Expression:
    fields = {f.name: normal(parse_type(f.type)) for f in reader.scope.spec.data_models[name].fields}
    arguments = dict(zip(fields, node.args, strict=False)) | {k.arg: k.value for k in node.keywords if k.arg}
    if set(arguments) != set(fields) or len(node.args) + len(node.keywords) != len(fields):
        raise ExpressionFault(f"{ast.unparse(node)!r}: a {name} is made of {', '.join(fields)}")
    return Make(
        TypeRef(name), tuple((n, reader.convert.to(reader.read(arguments[n], k), k)) for n, k in fields.items())
    )


def _builtin(reader: Reader, node: ast.Call, name: str, wanted: TypeRef | None) -> Expression:
    match name:
        case "len":
            value = reader.plain(methods.one(node))
            if value.type.name not in ("List", "Set", "Map", "Text", "Bytes"):
                raise ExpressionFault(f"{ast.unparse(node)!r}: a {value.type} has no length")
            return operation("length", INT, value)
        case "all" | "any":
            return _quantified(reader, node, every=name == "all")
        case "min" | "max":
            return _extreme(reader, node, "minimum" if name == "min" else "maximum")
        case "sorted":
            return _sorted(reader, node)
        case "sum":
            return _sum(reader, node)
        case "abs":
            value = reader.number(methods.one(node))
            return operation("absolute", value.type, value)
        case "range":
            bounds = [reader.convert.to(reader.number(a), INT) for a in node.args]
            bounds = [Constant(INT, 0), *bounds] if len(bounds) == 1 else bounds
            return operation("range", _INTS, *bounds)
        case "int" | "float" | "Decimal" | "str" | "bool":
            return _scalar(reader, node, name)
        case _:
            return _collection(reader, node, name, wanted)


def _quantified(reader: Reader, node: ast.Call, *, every: bool) -> Expression:
    argument = methods.one(node)
    if isinstance(argument, ast.GeneratorExp | ast.ListComp | ast.SetComp):
        return loops.quantified(reader, argument, every=every)
    source = loops.iterated(reader, argument)
    name, kind = reader.convert.fresh(), source.type.args[0]
    return Quantifier(BOOL, every, (Clause(name, kind, source, ()),), reader.convert.truth(Variable(kind, name)))


def _values(reader: Reader, node: ast.expr) -> Expression:
    """Return a list of values to compute with."""
    values = loops.iterated(reader, node)
    kind = values.type.args[0]
    root = reader.convert.root(kind.args[0] if kind.name == "Option" else kind)
    return reader.convert.to(values, TypeRef("List", (root,)))


def _sum(reader: Reader, node: ast.Call) -> Expression:
    if not node.args or len(node.args) > 2 or node.keywords:
        raise methods.outside(node)
    values = _values(reader, node.args[0])
    if values.type.args[0] == BOOL:
        name = reader.convert.fresh()
        one = Conditional(INT, Variable(BOOL, name), Constant(INT, 1), Constant(INT, 0))
        values = Comprehension(_INTS, (Clause(name, BOOL, values, ()),), one)
    kind = values.type.args[0]
    if kind.name not in NUMBERS:
        raise ExpressionFault(f"{ast.unparse(node)!r}: {kind} has no sum")
    total = operation("sum", kind, values)
    if len(node.args) == 2:
        start = reader.number(node.args[1])
        kind = reader.convert.common(start.type, kind)
        return operation("add", kind, reader.convert.to(start, kind), reader.convert.to(total, kind))
    return total


def _extreme(reader: Reader, node: ast.Call, name: Literal["minimum", "maximum"]) -> Expression:
    options = {k.arg: k.value for k in node.keywords}
    if len(node.args) == 1:
        if "key" in options:
            if set(options) != {"key"}:
                raise methods.outside(node)
            return _keyed(reader, loops.iterated(reader, node.args[0]), options["key"], name)
        values = _values(reader, node.args[0])
        extreme = operation(name, values.type.args[0], values)
        if "default" not in options:
            return extreme
        default = reader.convert.to(reader.plain(options["default"]), extreme.type)
        some = operation("less", BOOL, Constant(INT, 0), operation("length", INT, values))
        return Conditional(extreme.type, some, extreme, default)
    if options:
        raise methods.outside(node)
    items = [reader.convert.plain(value) for value in reader.alike(node.args)]
    return operation(name, items[0].type, operation("list", TypeRef("List", (items[0].type,)), *items))


def _sorted(reader: Reader, node: ast.Call) -> Expression:
    options = {k.arg: k.value for k in node.keywords}
    if len(node.args) != 1 or set(options) - {"key", "reverse"}:
        raise methods.outside(node)
    turned = options.get("reverse")
    if turned is not None and not (isinstance(turned, ast.Constant) and isinstance(turned.value, bool)):
        raise ExpressionFault(f"{ast.unparse(node)!r}: reverse is True or False")
    backwards = isinstance(turned, ast.Constant) and turned.value is True
    if "key" not in options:
        values = _values(reader, node.args[0])
        ordered_values = operation("sorted", values.type, values)
        return operation("reversed", values.type, ordered_values) if backwards else ordered_values
    items = loops.iterated(reader, node.args[0])
    if not backwards:
        return _keyed(reader, items, options["key"], "sorted")
    # Equal keys keep their order: turned around before and after.
    ordered = _keyed(reader, operation("reversed", items.type, items), options["key"], "sorted")
    return operation("reversed", items.type, ordered)


def _keyed(
    reader: Reader, items: Expression, key: ast.expr, name: Literal["sorted", "minimum", "maximum"]
) -> Expression:
    kind = items.type.args[0]
    (variable,), value = _applied(reader, key, (kind,))
    return Keyed((items.type if name == "sorted" else kind), name, items, variable, kind, reader.convert.plain(value))


def _applied(reader: Reader, function: ast.expr, kinds: tuple[TypeRef, ...]) -> tuple[list[str], Expression]:
    """Return a lambda's or a function's value for variables of these types, and the variables' names."""
    if not isinstance(function, ast.Lambda) or len(function.args.args) != len(kinds):
        raise ExpressionFault(f"{ast.unparse(function)!r} is no function of {len(kinds)} values")
    before, names = dict(reader.names), [argument.arg for argument in function.args.args]
    reader.names |= {name: Variable(kind, name) for name, kind in zip(names, kinds, strict=True)}
    value = reader.read(function.body)
    reader.names = before
    return names, value


def _scalar(reader: Reader, node: ast.Call, name: str) -> Expression:
    argument = methods.one(node)
    if name == "bool":
        return reader.condition(argument)
    value = reader.plain(argument)
    match name, value.type.name:
        case "Decimal", "Text" if isinstance(value, Constant):
            with instead(ExpressionFault(f"{ast.unparse(node)!r} is no number"), InvalidOperation):
                return Constant(DECIMAL, Decimal(str(value.value)))
        case "Decimal", "Int" | "Decimal":
            return reader.convert.to(value, DECIMAL)
        case "float", "Int" | "Float":
            return reader.convert.to(value, FLOAT)
        case "int", "Int" | "Bool":
            return reader.number(argument)
        case "int", "Decimal" | "Float":
            return operation("truncate", INT, value)
        case "str", "Text":
            return value
        case "str", "Int":
            return operation("to_text", TEXT, value)
        case _:
            raise ExpressionFault(f"{ast.unparse(node)!r}: languages write a {value.type} differently")


def _collection(reader: Reader, node: ast.Call, name: str, wanted: TypeRef | None) -> Expression:
    if name in ("list", "tuple", "set", "frozenset", "dict") and not node.args and not node.keywords:
        kind = {"dict": "Map", "set": "Set", "frozenset": "Set"}.get(name, "List")
        fits = wanted is not None and reader.convert.root(wanted).name == kind
        inner = reader.convert.root(wanted).args if wanted is not None and fits else None
        empty: OperationName = "map" if kind == "Map" else "set" if kind == "Set" else "list"
        return operation(empty, TypeRef(kind, inner or (UNKNOWN,) * (2 if kind == "Map" else 1)))
    match name:
        case "list" | "tuple":
            return reader.convert.listed(reader.read(methods.one(node), wanted))
        case "set" | "frozenset":
            source = loops.iterated(reader, methods.one(node))
            return operation("to_set", TypeRef("Set", source.type.args), source)
        case "dict":
            source = reader.plain(methods.one(node))
            if source.type.name == "Map":
                return source
            pair = source.type.args[0] if source.type.name == "List" else UNKNOWN
            if pair.name != "Tuple" or len(pair.args) != 2:
                raise ExpressionFault(f"{ast.unparse(node)!r}: a map is made of pairs")
            return operation("to_map", TypeRef("Map", pair.args), source)
        case "reversed":
            source = loops.iterated(reader, methods.one(node))
            return operation("reversed", source.type, source)
        case "zip":
            lists = [loops.iterated(reader, argument) for argument in node.args]
            pair = TypeRef("Tuple", tuple(part.type.args[0] for part in lists))
            return operation("zip", TypeRef("List", (pair,)), *lists)
        case "enumerate":
            source = loops.iterated(reader, node.args[0])
            start = [k.value for k in node.keywords if k.arg == "start"] + node.args[1:]
            first = reader.convert.to(reader.number(start[0]), INT) if start else Constant(INT, 0)
            pair = TypeRef("Tuple", (INT, source.type.args[0]))
            return operation("enumerate", TypeRef("List", (pair,)), source, first)
        case _:
            raise methods.outside(node)
