"""Typed expressions in C++, over the functions of ``support/values.hpp``."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from criticality.languages.base.brackets import negated
from criticality.languages.base.expressions.conversions import ExpressionFault
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
from criticality.languages.cpp.names import ident, member, owned
from criticality.languages.cpp.witnesses import checks_of
from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef

#: Operations as text; operands are ``{0}``, ``{1}``.
_PLAIN = {
    "add": "({0} + {1})", "subtract": "({0} - {1})", "multiply": "({0} * {1})", "divide": "({0} / {1})",
    "floor_divide": "values::floor_divide({0}, {1})", "modulo": "values::modulo({0}, {1})",
    "power": "values::power({0}, {1})", "negate": "(-{0})", "absolute": "values::absolute({0})",
    "to_decimal": "Decimal({0})", "to_float": "static_cast<double>({0})",
    "truncate": "static_cast<std::int64_t>({0})", "to_text": "std::to_string({0})",
    "enum_text": "std::string(text({0}))", "equal": "({0} == {1})", "less": "({0} < {1})",
    "less_equal": "({0} <= {1})", "get": "{0}.value()", "is_some": "{0}.has_value()",
    "length": "values::length({0})", "contains": "values::contains({0}, {1})", "index": "values::index({0}, {1})",
    "slice": "values::slice({0}, {1}, {2})", "concat": "values::concat({0}, {1})",
    "reversed": "values::reversed({0})", "sorted": "values::sorted({0})", "sum": "values::sum({0})",
    "minimum": "values::minimum({0})", "maximum": "values::maximum({0})", "zip": "values::zip({0}, {1})",
    "enumerate": "values::enumerate({0}, {1})", "range": "values::range({0}, {1})",
    "occurrences": "values::occurrences({0}, {1})", "position": "values::position({0}, {1})",
    "to_set": "values::to_set({0})", "distinct_list": "values::distinct({0})", "lookup": "{0}.at({1})",
    "keys": "values::keys({0})", "values": "values::held({0})", "entries": "values::entries({0})",
    "to_map": "values::to_map({0})", "to_list": "values::to_list({0})", "union": "values::united({0}, {1})",
    "intersection": "values::kept({0}, {1}, true)", "difference": "values::kept({0}, {1}, false)",
    "subset": "values::subset({0}, {1})", "lower": "values::lower({0})", "upper": "values::upper({0})",
    "trim": "values::trim({0})", "starts_with": "{0}.starts_with({1})", "ends_with": "{0}.ends_with({1})",
    "is_digits": "values::all_bytes({0}, [](int byte) {{ return std::isdigit(byte); }})",
    "is_letters": "values::all_bytes({0}, [](int byte) {{ return std::isalpha(byte); }})",
    "is_ascii": "({0}.empty() || values::all_bytes({0}, [](int byte) {{ return byte < 128; }}))",
    "split": "values::split({0}, {1})", "join": "values::join({0}, {1})",
    "substitute": "values::substitute({0}, {1}, {2})", "characters": "values::characters({0})",
    "to_timestamp": "Timestamp{{{0}}}",
}  # fmt: skip


class Renderer:
    """Renders expressions of one system."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec

    def render(self, node: Expression) -> str:
        """Return the expression.

        Raises:
            ExpressionFault: C++ has no such operation.
        """
        match node:
            case Constant():
                return self._constant(node)
            case Variable():
                return ident(node.name)
            case Field():
                access = "()" if checks_of(self.spec, node.record.type.name) else ""
                return f"{self.render(node.record)}.{ident(node.name)}{access}"
            case Member():
                return f"{node.type.name}::{member(node.name)}"
            case Make():
                return self._make(node.type.name, {name: self.render(value) for name, value in node.values})
            case Wrap():
                return f"{node.type.name}({self.render(node.value)})"
            case Unwrap():
                return f"{self.render(node.value)}.get()"
            case Operation():
                return self._operation(node)
            case Conditional():
                return f"({self.render(node.test)} ? {self.render(node.yes)} : {self.render(node.no)})"
            case Quantifier():
                return self._quantifier(node, node.clauses)
            case Comprehension():
                return self._comprehension(node)
            case Keyed():
                key = _lambda([(node.variable, node.kind)], node.key.type, self.render(node.key))
                return f"values::{node.name}_by_key({self.render(node.items)}, {key})"

    def _constant(self, node: Constant) -> str:
        match node.value:
            case None:
                return f"{owned(node.type)}()"
            case bool() as value:
                return "true" if value else "false"
            case int() as value:
                return f"std::int64_t{{{value}}}"
            case float() as value:
                return f"{value!r}"
            case Decimal() as value:
                places = max(0, -int(value.as_tuple().exponent))
                if places > 6:
                    raise ExpressionFault(f"{value} has more than six places")
                return f"Decimal::of({int(value.scaleb(places))}, {places})"
            case str() as value:
                return f"std::string({quoted(value)})"

    def _make(self, name: str, values: Mapping[str, str]) -> str:
        joined = ", ".join(values.values())
        return f"{name}({joined})" if checks_of(self.spec, name) else f"{name}{{{joined}}}"

    def _operation(self, node: Operation) -> str:
        operands = [self.render(operand) for operand in node.operands]
        match node.name:
            case "and" | "or":
                return f"({(' && ' if node.name == 'and' else ' || ').join(operands)})"
            case "not":
                return negated(operands[0])
            case "list" | "set":
                return f"{owned(node.type)}{{{', '.join(operands)}}}"
            case "map":
                pairs = [f"{{{key}, {value}}}" for key, value in zip(operands[::2], operands[1::2], strict=True)]
                return f"{owned(node.type)}{{{', '.join(pairs)}}}"
            case "tuple" | "some":
                return f"{owned(node.type)}({', '.join(operands)})"
            case "item":
                place = node.operands[1]
                assert isinstance(place, Constant)
                return f"std::get<{place.value}>({operands[0]})"
            case "truncate" if node.operands[0].type.name == "Decimal":
                return f"{operands[0]}.trunc()"
            case "floor_divide" | "modulo" | "power" if node.operands[0].type.name == "Decimal":
                raise ExpressionFault(f"C++ has no {node.name} of a Decimal here")
            case "zip" if len(operands) != 2:
                raise ExpressionFault("C++ goes through two lists at once, no more")
            case name:
                return _PLAIN[name].format(*operands)

    def _quantifier(self, node: Quantifier, clauses: tuple[Clause, ...]) -> str:
        if not clauses:
            return self.render(node.condition)
        clause, word = clauses[0], "all" if node.every else "any"
        inner = self._quantifier(node, clauses[1:])
        if clause.conditions:
            wanted = " && ".join(f"({self.render(condition)})" for condition in clause.conditions)
            inner = f"!({wanted}) || {inner}" if node.every else f"{wanted} && {inner}"
        condition = _lambda([(clause.variable, clause.kind)], TypeRef("Bool"), inner)
        return f"values::{word}({self.render(clause.source)}, {condition})"

    def _comprehension(self, node: Comprehension) -> str:
        element = self.render(node.element)
        if node.value is not None:
            inner = f"made.insert_or_assign({element}, {self.render(node.value)});"
        else:
            inner = f"made.{'push_back' if node.type.name == 'List' else 'insert'}({element});"
        for clause in reversed(node.clauses):
            if clause.conditions:
                wanted = " && ".join(f"({self.render(condition)})" for condition in clause.conditions)
                inner = f"if ({wanted}) {{ {inner} }}"
            kind = f"const {owned(clause.kind)}&"
            inner = f"for ({kind} {ident(clause.variable)} : {self.render(clause.source)}) {{ {inner} }}"
        return f"[&] {{ {owned(node.type)} made; {inner} return made; }}()"


def _lambda(parameters: list[tuple[str, TypeRef]], result: TypeRef, body: str) -> str:
    params = ", ".join(f"const {owned(kind)}& {ident(name)}" for name, kind in parameters)
    return f"[&]({params}) -> {owned(result)} {{ return {body}; }}"


def quoted(text: str) -> str:
    """Return a string literal; what is not ASCII is written byte by byte."""
    made = ""
    for byte in text.encode():
        char = chr(byte)
        made += f"\\{char}" if char in '"\\' else char if " " <= char <= "~" and char != "?" else f"\\{byte:03o}"
    return f'"{made}"'
