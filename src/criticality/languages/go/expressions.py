"""Typed expressions in Go; what the language has no expression for is a function literal that is called at once."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

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
from criticality.languages.base.naming import pascal
from criticality.languages.go.names import constructor, ident, kind, member, quoted
from criticality.languages.go.witnesses import checked
from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef, parse_type
from criticality.spec.values import constraints_of

#: Operations as text; operands are ``{0}``, ``{1}``.
_PLAIN = {
    "add": "({0} + {1})", "subtract": "({0} - {1})", "multiply": "({0} * {1})", "divide": "({0} / {1})",
    "floor_divide": "floorDivide({0}, {1})", "modulo": "modulo({0}, {1})", "power": "power({0}, {1})",
    "negate": "(-{0})", "absolute": "absolute({0})",
    "to_float": "float64({0})", "to_text": "strconv.Itoa({0})", "enum_text": "string({0})",
    "less": "(compare({0}, {1}) < 0)", "less_equal": "(compare({0}, {1}) <= 0)", "equal": "same({0}, {1})",
    "not": "!{0}", "some": "pointer({0})", "get": "taken({0})", "is_some": "({0} != nil)",
    "length": "len({0})", "contains": "within({0}, {1})", "index": "at({0}, {1})", "slice": "part({0}, {1}, {2})",
    "concat": "joined({0}, {1})", "reversed": "reversed({0})", "sorted": "sortedBy({0}, itself)",
    "minimum": "least({0}, itself)", "maximum": "greatest({0}, itself)", "sum": "sum({0})",
    "zip": "zip({0}, {1})", "enumerate": "enumerate({0}, {1})", "range": "numbers({0}, {1})",
    "occurrences": "occurrences({0}, {1})", "position": "position({0}, {1})", "to_set": "setOf({0})",
    "distinct_list": "distinct({0})", "lookup": "found({0}, {1})", "keys": "keysOf({0})", "values": "valuesOf({0})",
    "entries": "entriesOf({0})", "to_map": "mapOf({0})", "to_list": "keysOf({0})", "union": "union({0}, {1})",
    "intersection": "intersection({0}, {1})", "difference": "difference({0}, {1})", "subset": "subset({0}, {1})",
    "lower": "strings.ToLower({0})", "upper": "strings.ToUpper({0})", "trim": "strings.TrimSpace({0})",
    "starts_with": "strings.HasPrefix({0}, {1})", "ends_with": "strings.HasSuffix({0}, {1})",
    "is_digits": "allOf({0}, unicode.IsDigit)", "is_letters": "allOf({0}, unicode.IsLetter)",
    "is_ascii": "isASCII({0})", "split": "strings.Split({0}, {1})", "join": "strings.Join({1}, {0})",
    "substitute": "strings.ReplaceAll({0}, {1}, {2})", "characters": "characters({0})",
    "to_timestamp": "time.Unix(int64({0}), 0).UTC()",
}  # fmt: skip
_OF_TEXT = {
    "length": "utf8.RuneCountInString({0})", "index": "at(characters({0}), {1})", "concat": "({0} + {1})",
    "slice": 'strings.Join(part(characters({0}), {1}, {2}), "")', "contains": "strings.Contains({0}, {1})",
    "less": "({0} < {1})", "less_equal": "({0} <= {1})", "equal": "({0} == {1})",
    "occurrences": "strings.Count({0}, {1})",
}  # fmt: skip
_OF_NUMBER = {"less": "({0} < {1})", "less_equal": "({0} <= {1})", "equal": "({0} == {1})"}
_OF_FLOAT = {
    **_OF_NUMBER, "floor_divide": "math.Floor({0} / {1})", "modulo": "({0} - {1} * math.Floor({0}/{1}))",
    "power": "math.Pow({0}, {1})", "absolute": "math.Abs({0})", "truncate": "truncated({0})",
}  # fmt: skip
_OF_DECIMAL = {
    "add": "{0}.Add({1})", "subtract": "{0}.Sub({1})", "multiply": "{0}.Mul({1})", "divide": "{0}.Quo({1})",
    "negate": "{0}.Neg()", "absolute": "{0}.Abs()", "less": "({0}.Cmp({1}) < 0)",
    "less_equal": "({0}.Cmp({1}) <= 0)", "equal": "({0} == {1})", "floor_divide": "{0}.Quo({1}).Floor()",
    "modulo": "{0}.Sub({1}.Mul({0}.Quo({1}).Floor()))", "truncate": "{0}.Int()",
}  # fmt: skip
_OF_MAP = {"contains": "has({0}, {1})"}
_SPECIAL: Mapping[str, Mapping[str, str]] = {
    "Text": _OF_TEXT, "Int": _OF_NUMBER, "Float": _OF_FLOAT, "Decimal": _OF_DECIMAL, "Map": _OF_MAP, "Set": _OF_MAP,
    "Bool": {"equal": "({0} == {1})"},
}  # fmt: skip


class Renderer:
    """Renders expressions of one system.

    Args:
        prefix: of the names of the domain; empty inside of it.
    """

    def __init__(self, spec: Spec, *, prefix: str = "domain.") -> None:
        self.spec, self.prefix = spec, prefix

    def kind(self, type_: TypeRef) -> str:
        """Return a type as Go writes it here."""
        return kind(self.spec, type_, prefix=self.prefix)

    def render(self, node: Expression) -> str:
        """Return the expression.

        Raises:
            ExpressionFault: Go has no such operation.
        """
        match node:
            case Constant():
                return self._constant(node)
            case Variable():
                return ident(node.name)
            case Field():
                return self._field(self.render(node.record), node.record.type, node.name)
            case Member():
                return f"{self.prefix}{member(node.type.name, node.name)}"
            case Make():
                return self._make(node.type.name, {name: self.render(value) for name, value in node.values})
            case Wrap():
                made = f"{self.prefix}{constructor(node.type.name)}({self.render(node.value)})"
                return f"must({made})" if constraints_of(self.spec, node.type.name) else made
            case Unwrap():
                return f"{self.render(node.value)}.Value()"
            case Operation():
                return self._operation(node)
            case Conditional():
                type_ = self.kind(node.type)
                yes, no = (f"func() {type_} {{ return {self.render(n)} }}" for n in (node.yes, node.no))
                return f"pick({self.render(node.test)}, {yes}, {no})"
            case Quantifier():
                return self._quantifier(node)
            case Comprehension():
                return self._comprehension(node)
            case Keyed():
                helper = {"sorted": "sortedBy", "minimum": "least", "maximum": "greatest"}[node.name]
                key = (
                    f"func({ident(node.variable)} {self.kind(node.kind)}) any {{ return {self.render(node.key)} }}"
                )
                return f"{helper}({self.render(node.items)}, {key})"

    def _constant(self, node: Constant) -> str:
        match node.value:
            case None:
                return "struct{}{}" if node.type.name == "Unit" else f"({self.kind(node.type)})(nil)"
            case bool() as value:
                return "true" if value else "false"
            case float() as value:
                return f"float64({value!r})"
            case Decimal() as value:
                return f'must({self.prefix}NewDecimal("{value:f}"))'
            case int() as value:
                return str(value) if value >= 0 else f"({value})"
            case str() as value:
                return quoted(value)

    def _field(self, record: str, owner: TypeRef, name: str) -> str:
        return f"{record}.{pascal(name)}" + ("()" if checked(self.spec, owner.name) else "")

    def _make(self, name: str, values: Mapping[str, str]) -> str:
        if checked(self.spec, name):
            return f"must({self.prefix}{constructor(name)}({', '.join(values.values())}))"
        fields = ", ".join(f"{pascal(field)}: {value}" for field, value in values.items())
        return f"{self.prefix}{name}{{{fields}}}"

    def _operation(self, node: Operation) -> str:
        operands = [self.render(operand) for operand in node.operands]
        match node.name:
            case "and" | "or":
                return f"({(' && ' if node.name == 'and' else ' || ').join(operands)})"
            case "list":
                return f"{self.kind(node.type)}{{{', '.join(operands)}}}"
            case "set":
                return f"setOf([]{self.kind(node.type.args[0])}{{{', '.join(operands)}}})"
            case "map":
                pairs = (f"{key}: {value}" for key, value in zip(operands[::2], operands[1::2], strict=True))
                return f"{self.kind(node.type)}{{{', '.join(pairs)}}}"
            case "tuple":
                items = ", ".join(f"Item{place}: {value}" for place, value in enumerate(operands, start=1))
                return f"{self.kind(node.type)}{{{items}}}"
            case "item":
                place = node.operands[1]
                assert isinstance(place, Constant)
                return f"{operands[0]}.Item{int(str(place.value)) + 1}"
            case "to_decimal":
                return f"{self.prefix}DecimalOf({operands[0]})"
            case "sum" if node.type.name == "Decimal":
                zero = f"{self.prefix}Decimal"
                step = f"func(a, b {zero}) {zero} {{ return a.Add(b) }}"
                return f"folded({operands[0]}, {zero}{{}}, {step})"
            case "range" if len(operands) != 2:
                raise ExpressionFault("Go has no range with steps here")
            case "zip" if len(operands) != 2:
                raise ExpressionFault("Go has no zip of more than two lists here")
            case name:
                return self._by_table(node, name, operands)

    def _by_table(self, node: Operation, name: str, operands: list[str]) -> str:
        first = node.operands[0].type.name if node.operands else ""
        special = _SPECIAL.get(first, _OF_NUMBER if first in self.spec.enums else {})
        pattern = special.get(name) or (None if first == "Decimal" else _PLAIN.get(name))
        if pattern is None:
            raise ExpressionFault(f"Go has no {name} of a {first} here")
        return pattern.format(*operands)

    def _quantifier(self, node: Quantifier) -> str:
        helper, inner = ("every" if node.every else "some"), self.render(node.condition)
        for clause in reversed(node.clauses):
            inner = f"{helper}({self._filtered(clause)}, {self._function(clause, 'bool', inner)})"
        return inner

    def _comprehension(self, node: Comprehension) -> str:
        element, type_ = self.render(node.element), self.kind(node.type.args[0])
        if node.value is not None:
            type_ = f"{self.prefix}Tuple2[{', '.join(map(self.kind, node.type.args))}]"
            element = f"{type_}{{Item1: {element}, Item2: {self.render(node.value)}}}"
        *outer, last = node.clauses
        made = f"each({self._filtered(last)}, {self._function(last, type_, element)})"
        for clause in reversed(outer):
            made = f"flat({self._filtered(clause)}, {self._function(clause, f'[]{type_}', made)})"
        helper = {"Set": "setOf", "Map": "mapOf"}.get(node.type.name)
        return f"{helper}({made})" if helper else made

    def _filtered(self, clause: Clause) -> str:
        source = self.render(clause.source)
        if not clause.conditions:
            return source
        wanted = " && ".join(map(self.render, clause.conditions))
        return f"where({source}, {self._function(clause, 'bool', wanted)})"

    def _function(self, clause: Clause, result: str, body: str) -> str:
        return f"func({ident(clause.variable)} {self.kind(clause.kind)}) {result} {{ return {body} }}"


def fields_of(spec: Spec, name: str) -> dict[str, TypeRef]:
    """Return the fields of a record with their types."""
    return {field.name: parse_type(field.type) for field in spec.data_models[name].fields}
