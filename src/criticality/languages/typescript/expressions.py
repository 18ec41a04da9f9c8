"""Typed expressions as TypeScript; operations that JavaScript lacks stand in ``by-value.ts``, imported as ``$``."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from decimal import Decimal

from criticality.languages.base.expressions.nodes import (
    Clause,
    Comprehension,
    Conditional,
    Constant,
    Expression,
    Field,
    Keyed,
    Make,
    Member,
    Operation,
    Quantifier,
    Unwrap,
    Variable,
    Wrap,
)
from criticality.languages.base.naming import camel
from criticality.languages.typescript.names import annotation, identifier
from criticality.spec.types import TypeRef

#: How tightly a text binds: conditional, or, and, equality, order, sum, product, sign, anything closed.
_LOOSE, _OR, _AND, _EQUAL, _ORDER, _SUM, _PRODUCT, _SIGN, _CLOSED = range(9)
_IDENTICAL = frozenset({"Int", "Float", "Text", "Bool", "UUID", "Date"})
_NUMBERS = {
    "add": (" + ", _SUM), "subtract": (" - ", _SUM), "multiply": (" * ", _PRODUCT), "divide": (" / ", _PRODUCT),
    "power": (" ** ", _CLOSED),
}  # fmt: skip
_DECIMALS = {
    "add": "plus", "subtract": "minus", "multiply": "times", "divide": "dividedBy", "power": "pow",
    "modulo": "modulo",
}  # fmt: skip
#: Operations that are a function of ``by-value.ts`` with all their operands.
_HELPERS = {
    "floor_divide": "floorDivide", "modulo": "modulo", "get": "get", "index": "at", "slice": "slice",
    "contains": "contains", "occurrences": "occurrences", "position": "position", "lookup": "lookup", "sum": "sum",
    "sorted": "sorted", "minimum": "minimum", "maximum": "maximum", "reversed": "reversed", "range": "range",
    "zip": "zip", "enumerate": "enumerate", "union": "union", "intersection": "intersection",
    "difference": "difference", "subset": "subset", "is_digits": "isDigits", "is_letters": "isLetters",
    "is_ascii": "isAscii", "characters": "characters",
}  # fmt: skip
_METHODS = {
    "lower": "toLowerCase", "upper": "toUpperCase", "trim": "trim", "starts_with": "startsWith",
    "ends_with": "endsWith", "split": "split", "substitute": "replaceAll",
}  # fmt: skip


def rendered(expression: Expression) -> str:
    """Return an expression as TypeScript."""
    return _write(expression)[0]


def _write(node: Expression) -> tuple[str, int]:
    match node:
        case Constant():
            return _constant(node)
        case Variable():
            return identifier(node.name), _CLOSED
        case Field():
            return f"{_in(node.record, _CLOSED)}.{camel(node.name)}", _CLOSED
        case Member():
            return f"{node.type.name}.{node.name}", _CLOSED
        case Make():
            return f"{node.type.name}({{ {_fields(node.values)} }})", _CLOSED
        case Wrap():
            return f"{node.type.name}({rendered(node.value)})", _CLOSED
        case Unwrap():
            return _write(node.value)
        case Operation():
            return _operation(node)
        case Conditional():
            test, yes, no = (_in(part, _OR) for part in (node.test, node.yes, node.no))
            return f"{test} ? {yes} : {no}", _LOOSE
        case Quantifier():
            return _quantifier(node.clauses, node), _CLOSED
        case Comprehension():
            return _comprehension(node), _CLOSED
        case Keyed():
            key = _arrow(identifier(node.variable), node.key)
            return f"$.{node.name}({rendered(node.items)}, {key})", _CLOSED


def _in(node: Expression, level: int) -> str:
    """Return an expression where something binds as tightly as that."""
    text, own = _write(node)
    return text if own >= level else f"({text})"


def _list(nodes: Sequence[Expression]) -> str:
    return ", ".join(map(rendered, nodes))


def _fields(values: Sequence[tuple[str, Expression]]) -> str:
    return ", ".join(f"{camel(name)}: {rendered(value)}" for name, value in values)


def _arrow(parameters: str, body: Expression, *, bare: bool = True) -> str:
    text = rendered(body)
    return f"({parameters}) => {f'({text})' if text.startswith('{') else text}"


def quoted(text: str) -> str:
    """Return a text as a literal."""
    return json.dumps(text, ensure_ascii=True)


def _constant(node: Constant) -> tuple[str, int]:
    match node.value:
        case None:
            return "undefined", _CLOSED
        case bool() as value:
            return "true" if value else "false", _CLOSED
        case Decimal() as value:
            return f'new Decimal("{value}")', _CLOSED
        case str() as value:
            return quoted(value), _CLOSED
        case value:
            return str(value), _CLOSED if value >= 0 else _SIGN


def _operation(node: Operation) -> tuple[str, int]:
    special = _SPECIAL.get(node.name)
    if special is not None:
        return special(node)
    kind = node.operands[0].type.name if node.operands else ""
    if node.name in _NUMBERS or (node.name == "modulo" and kind == "Decimal"):
        return _arithmetic(node, kind)
    if node.name in _METHODS:
        return f"{_in(node.operands[0], _CLOSED)}.{_METHODS[node.name]}({_list(node.operands[1:])})", _CLOSED
    return f"$.{_HELPERS[node.name]}({_list(node.operands)})", _CLOSED


def _arithmetic(node: Operation, kind: str) -> tuple[str, int]:
    left, right = node.operands
    if kind == "Decimal":
        return f"{_in(left, _CLOSED)}.{_DECIMALS[node.name]}({rendered(right)})", _CLOSED
    sign, level = _NUMBERS[node.name]
    if node.name == "power":
        return f"Math.pow({_list(node.operands)})", _CLOSED
    return f"{_in(left, level)}{sign}{_in(right, level + 1)}", level


def _equal(node: Operation) -> tuple[str, int]:
    left, right = node.operands
    if left.type.name in _IDENTICAL or isinstance(left, Member) or isinstance(right, Member):
        return f"{_in(left, _ORDER)} === {_in(right, _ORDER)}", _EQUAL
    return f"$.same({_list(node.operands)})", _CLOSED


def _order(node: Operation) -> tuple[str, int]:
    left, right = node.operands
    sign = "<" if node.name == "less" else "<="
    if left.type.name in ("Int", "Float"):
        return f"{_in(left, _SUM)} {sign} {_in(right, _SUM)}", _ORDER
    return f"$.compare({_list(node.operands)}) {sign} 0", _ORDER


def _not(node: Operation) -> tuple[str, int]:
    (inner,) = node.operands
    if isinstance(inner, Operation):
        if inner.name == "not":
            return _write(inner.operands[0])
        if inner.name == "is_some":
            return f"{_in(inner.operands[0], _ORDER)} === undefined", _EQUAL
        text, level = _write(inner)
        if inner.name == "equal" and level == _EQUAL:
            return text.replace(" === ", " !== ", 1) if text.count(" === ") == 1 else f"!({text})", _EQUAL
    return f"!{_in(inner, _SIGN)}", _SIGN


def _joined(sign: str, level: int) -> Callable[[Operation], tuple[str, int]]:
    return lambda node: (f" {sign} ".join(_in(part, level) for part in node.operands), level)


def _length(node: Operation) -> tuple[str, int]:
    (value,) = node.operands
    match value.type.name:
        case "Text":
            return f"$.characters({rendered(value)}).length", _CLOSED
        case "Set" | "Map":
            return f"{_in(value, _CLOSED)}.size", _CLOSED
        case _:
            return f"{_in(value, _CLOSED)}.length", _CLOSED


def _contains(node: Operation) -> tuple[str, int]:
    holder, item = node.operands
    match holder.type.name:
        case "Text":
            return f"{_in(holder, _CLOSED)}.includes({rendered(item)})", _CLOSED
        case "Set" | "Map":
            return f"{_in(holder, _CLOSED)}.has({rendered(item)})", _CLOSED
        case _ if item.type.name in _IDENTICAL:
            return f"{_in(holder, _CLOSED)}.includes({rendered(item)})", _CLOSED
        case _:
            return f"$.contains({_list(node.operands)})", _CLOSED


def _texts(name: str) -> Callable[[Operation], tuple[str, int]]:
    """Return an operation on the characters of a text, or on a list."""

    def write(node: Operation) -> tuple[str, int]:
        value, *rest = node.operands
        if value.type.name != "Text":
            return f"$.{_HELPERS[name]}({_list(node.operands)})", _CLOSED
        places = ", ".join(map(rendered, rest))
        code = f"$.{_HELPERS[name]}($.characters({rendered(value)}), {places})"
        return f'{code}.join("")' if name == "slice" else code, _CLOSED

    return write


def _concat(node: Operation) -> tuple[str, int]:
    if node.type.name == "Text":
        return " + ".join(_in(part, _PRODUCT) for part in node.operands), _SUM
    return f"[{', '.join(f'...{_in(part, _CLOSED)}' for part in node.operands)}]", _CLOSED


def _negate(node: Operation) -> tuple[str, int]:
    (value,) = node.operands
    if value.type.name == "Decimal":
        return f"{_in(value, _CLOSED)}.negated()", _CLOSED
    return f"-{_in(value, _CLOSED)}", _SIGN


def _absolute(node: Operation) -> tuple[str, int]:
    (value,) = node.operands
    code = (
        f"{_in(value, _CLOSED)}.absoluteValue()" if value.type.name == "Decimal" else f"Math.abs({rendered(value)})"
    )
    return code, _CLOSED


def _truncate(node: Operation) -> tuple[str, int]:
    (value,) = node.operands
    decimal = value.type.name == "Decimal"
    return f"Math.trunc({_in(value, _CLOSED) + '.toNumber()' if decimal else rendered(value)})", _CLOSED


def _floor_divide(node: Operation) -> tuple[str, int]:
    name = "floorDivideDecimal" if node.type.name == "Decimal" else "floorDivide"
    return f"$.{name}({_list(node.operands)})", _CLOSED


def _list_display(node: Operation) -> tuple[str, int]:
    inner = _list(node.operands)
    return (f"[{inner}]", _CLOSED) if inner else (f"([] as {annotation(node.type)})", _CLOSED)


def _set_display(node: Operation) -> tuple[str, int]:
    return f"new Set<{annotation(node.type.args[0])}>([{_list(node.operands)}])", _CLOSED


def _map_display(node: Operation) -> tuple[str, int]:
    pairs = zip(node.operands[::2], node.operands[1::2], strict=True)
    inner = ", ".join(f"[{rendered(key)}, {rendered(value)}]" for key, value in pairs)
    return f"new Map<{_of(node.type)}>([{inner}])", _CLOSED


def _of(kind: TypeRef) -> str:
    return ", ".join(map(annotation, kind.args))


def _sum(node: Operation) -> tuple[str, int]:
    return f"$.{'sumDecimals' if node.type.name == 'Decimal' else 'sum'}({_list(node.operands)})", _CLOSED


def _occurrences(node: Operation) -> tuple[str, int]:
    name = "parts" if node.operands[0].type.name == "Text" else "occurrences"
    return f"$.{name}({_list(node.operands)})", _CLOSED


def _form(template: str, level: int = _CLOSED) -> Callable[[Operation], tuple[str, int]]:
    """Return a template with ``{0}``, ``{1}`` for operands, each closed."""
    return lambda node: (template.format(*(_in(part, _CLOSED) for part in node.operands)), level)


_SPECIAL: dict[str, Callable[[Operation], tuple[str, int]]] = {
    "equal": _equal, "less": _order, "less_equal": _order, "not": _not, "and": _joined("&&", _AND),
    "or": _joined("||", _OR), "some": lambda node: _write(node.operands[0]),
    "is_some": _form("{0} !== undefined", _EQUAL),
    "to_decimal": lambda node: (f"new Decimal({rendered(node.operands[0])})", _CLOSED),
    "to_float": lambda node: _write(node.operands[0]), "enum_text": lambda node: _write(node.operands[0]),
    "to_text": lambda node: (f"String({rendered(node.operands[0])})", _CLOSED), "truncate": _truncate,
    "negate": _negate, "absolute": _absolute, "floor_divide": _floor_divide, "list": _list_display,
    "set": _set_display, "map": _map_display,
    "tuple": lambda node: (f"([{_list(node.operands)}] as const)", _CLOSED), "length": _length,
    "contains": _contains,
    "index": _texts("index"), "slice": _texts("slice"), "concat": _concat, "item": _form("{0}[{1}]"),
    "keys": _form("[...{0}.keys()]"), "values": _form("[...{0}.values()]"), "entries": _form("[...{0}]"),
    "to_set": lambda node: (f"new Set({rendered(node.operands[0])})", _CLOSED), "to_list": _form("[...{0}]"),
    "to_map": lambda node: (f"new Map({rendered(node.operands[0])})", _CLOSED), "sum": _sum,
    "occurrences": _occurrences, "join": _form("{1}.join({0})"),
    "to_timestamp": lambda node: (f"new Date({_in(node.operands[0], _PRODUCT)} * 1000)", _CLOSED),
}  # fmt: skip


def _source(clause: Clause) -> str:
    """Return the list of a clause with its conditions."""
    code = _in(clause.source, _CLOSED)
    for condition in clause.conditions:
        code += f".filter({_arrow(identifier(clause.variable), condition)})"
    return code


def _quantifier(clauses: Sequence[Clause], node: Quantifier) -> str:
    first, *rest = clauses
    name, variable = "every" if node.every else "some", identifier(first.variable)
    if not rest:
        return f"{_source(first)}.{name}({_arrow(variable, node.condition)})"
    return f"{_source(first)}.{name}(({variable}) => {_quantifier(rest, node)})"


def _comprehension(node: Comprehension) -> str:
    element = rendered(node.element)
    if node.value is not None:
        element = f"[{element}, {rendered(node.value)}] as const"
    code = _mapped(node.clauses, node.element, element)
    match node.type.name:
        case "Set":
            return f"new Set({code})"
        case "Map":
            return f"new Map({code})"
        case _:
            return code


def _mapped(clauses: Sequence[Clause], element: Expression, text: str) -> str:
    first, *rest = clauses
    variable = identifier(first.variable)
    if rest:
        return f"{_source(first)}.flatMap(({variable}) => {_mapped(rest, element, text)})"
    if text == variable:
        return _source(first)
    body = f"({text})" if text.startswith("{") else text
    return f"{_source(first)}.map(({variable}) => {body})"
