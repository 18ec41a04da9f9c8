"""Typed expressions in Java. Names that an expression binds are made new, since no lambda may hide a variable."""

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
from criticality.languages.java.names import ident, kind, member, quoted
from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef

#: Operations as text; operands are ``{0}``, ``{1}``.
_PLAIN = {
    "add": "({0} + {1})", "subtract": "({0} - {1})", "multiply": "({0} * {1})", "divide": "({0} / {1})",
    "floor_divide": "Math.floorDiv({0}, {1})", "modulo": "Math.floorMod({0}, {1})", "power": "power({0}, {1})",
    "negate": "(-{0})", "absolute": "Math.abs({0})", "to_decimal": "BigDecimal.valueOf({0})",
    "to_float": "((double) {0})", "truncate": "((long) {0})", "to_text": "String.valueOf({0})",
    "enum_text": "{0}.text()", "less": "(compare({0}, {1}) < 0)", "less_equal": "(compare({0}, {1}) <= 0)",
    "equal": "same({0}, {1})", "not": "!{0}", "some": "Optional.of({0})", "get": "{0}.orElseThrow()",
    "is_some": "{0}.isPresent()", "length": "((long) {0}.size())", "contains": "within({0}, {1})",
    "index": "at({0}, {1})", "slice": "part({0}, {1}, {2})", "concat": "joined({0}, {1})",
    "reversed": "reversed({0})", "sorted": "sortedBy({0}, item -> item)", "minimum": "least({0}, item -> item)",
    "maximum": "greatest({0}, item -> item)", "sum": "sum({0})", "zip": "zip({0}, {1})",
    "enumerate": "enumerate({0}, {1})", "range": "numbers({0}, {1})", "occurrences": "occurrences({0}, {1})",
    "position": "position({0}, {1})", "to_set": "setOf({0})", "distinct_list": "distinct({0})",
    "lookup": "found({0}, {1})", "keys": "ordered({0}.keySet())", "values": "valuesOf({0})",
    "entries": "entriesOf({0})", "to_map": "mapOf({0})", "to_list": "ordered({0})", "union": "union({0}, {1})",
    "intersection": "intersection({0}, {1})", "difference": "difference({0}, {1})",
    "subset": "{1}.containsAll({0})", "lower": "{0}.toLowerCase(Locale.ROOT)",
    "upper": "{0}.toUpperCase(Locale.ROOT)",
    "trim": "{0}.strip()", "starts_with": "{0}.startsWith({1})", "ends_with": "{0}.endsWith({1})",
    "is_digits": "allOf({0}, Character::isDigit)", "is_letters": "allOf({0}, Character::isLetter)",
    "is_ascii": "isAscii({0})", "split": "split({0}, {1})", "join": "String.join({0}, {1})",
    "substitute": "{0}.replace({1}, {2})", "characters": "characters({0})",
    "to_timestamp": "java.time.Instant.ofEpochSecond({0})",
}  # fmt: skip
_OF_TEXT = {
    "length": "lengthOf({0})", "index": "at(characters({0}), {1})", "concat": "({0} + {1})",
    "slice": 'String.join("", part(characters({0}), {1}, {2}))', "contains": "{0}.contains({1})",
    "occurrences": "((long) split({0}, {1}).size() - 1)",
}  # fmt: skip
_OF_NUMBER = {"less": "({0} < {1})", "less_equal": "({0} <= {1})"}
_OF_FLOAT = {
    **_OF_NUMBER, "floor_divide": "Math.floor({0} / {1})", "modulo": "({0} - {1} * Math.floor({0} / {1}))",
    "power": "Math.pow({0}, {1})",
}  # fmt: skip
_OF_DECIMAL = {
    "add": "{0}.add({1})", "subtract": "{0}.subtract({1})", "multiply": "{0}.multiply({1})",
    "divide": "{0}.divide({1}, MathContext.DECIMAL128)", "negate": "{0}.negate()", "absolute": "{0}.abs()",
    "less": "({0}.compareTo({1}) < 0)", "less_equal": "({0}.compareTo({1}) <= 0)", "equal": "same({0}, {1})",
    "floor_divide": "{0}.divide({1}, 0, RoundingMode.FLOOR)", "truncate": "{0}.longValue()",
    "modulo": "{0}.subtract({1}.multiply({0}.divide({1}, 0, RoundingMode.FLOOR)))",
}  # fmt: skip
_OF_MAP = {"contains": "{0}.containsKey({1})"}
_SPECIAL: Mapping[str, Mapping[str, str]] = {
    "Text": _OF_TEXT, "Int": _OF_NUMBER, "Float": _OF_FLOAT, "Decimal": _OF_DECIMAL, "Map": _OF_MAP,
    "Set": {"contains": "{0}.contains({1})"},
}  # fmt: skip


class Renderer:
    """Renders expressions of one system."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self._names: dict[str, str] = {}
        self._count = 0

    def render(self, node: Expression) -> str:
        """Return the expression.

        Raises:
            ExpressionFault: Java has no such operation.
        """
        match node:
            case Constant():
                return self._constant(node)
            case Variable():
                return self._names.get(node.name) or ident(node.name)
            case Field():
                return f"{self.render(node.record)}.{ident(node.name)}()"
            case Member():
                return f"{node.type.name}.{member(node.name)}"
            case Make():
                return f"new {node.type.name}({', '.join(self.render(value) for _, value in node.values)})"
            case Wrap():
                return f"new {node.type.name}({self.render(node.value)})"
            case Unwrap():
                return f"{self.render(node.value)}.value()"
            case Operation():
                return self._operation(node)
            case Conditional():
                return f"({self.render(node.test)} ? {self.render(node.yes)} : {self.render(node.no)})"
            case Quantifier():
                helper = "every" if node.every else "some"
                return self._through(node.clauses, node.condition, helper, helper)
            case Comprehension():
                return self._comprehension(node)
            case Keyed():
                helper = {"sorted": "sortedBy", "minimum": "least", "maximum": "greatest"}[node.name]
                items = self.render(node.items)
                return f"{helper}({items}, {self._lambda(((node.variable, node.kind),), node.key)})"

    def _bind(self, names: list[str]) -> tuple[dict[str, str], list[str]]:
        """Return new names for what is bound, and what names meant before."""
        before, made = dict(self._names), list[str]()
        for name in names:
            self._count += 1
            made.append(f"{ident(name)}{self._count}")
            self._names[name] = made[-1]
        return before, made

    def _lambda(self, bound: tuple[tuple[str, TypeRef], ...], body: Expression) -> str:
        before, names = self._bind([name for name, _ in bound])
        parameters = ", ".join(f"{kind(k, boxed=True)} {n}" for n, (_, k) in zip(names, bound, strict=True))
        code = f"({parameters}) -> {self.render(body)}"
        self._names = before
        return code

    def _through(self, clauses: tuple[Clause, ...], body: Expression, helper: str, last: str) -> str:
        """Loops inside of loops; the innermost is ``last``."""
        clause, rest = clauses[0], clauses[1:]
        source = self.render(clause.source)
        before, (name,) = self._bind([clause.variable])
        typed = f"({kind(clause.kind, boxed=True)} {name})"
        if clause.conditions:
            wanted = " && ".join(map(self.render, clause.conditions))
            source = f"where({source}, {typed} -> {wanted})"
        inner = self._through(rest, body, helper, last) if rest else self.render(body)
        self._names = before
        return f"{helper if rest else last}({source}, {typed} -> {inner})"

    def _comprehension(self, node: Comprehension) -> str:
        element = node.element
        if node.value is not None:
            pair = TypeRef("Tuple", node.type.args)
            element = Operation(pair, "tuple", (node.element, node.value))
        made = self._through(node.clauses, element, "flat", "each")
        helper = {"Set": "setOf", "Map": "mapOf"}.get(node.type.name)
        return f"{helper}({made})" if helper else made

    def _constant(self, node: Constant) -> str:
        match node.value:
            case None:
                return (
                    "null"
                    if node.type.name == "Unit"
                    else f"Optional.<{kind(node.type.args[0], boxed=True)}>empty()"
                )
            case bool() as value:
                return "true" if value else "false"
            case float() as value:
                return f"{value!r}d"
            case Decimal() as value:
                return f'new BigDecimal("{value:f}")'
            case int() as value:
                return f"{value}L" if value >= 0 else f"({value}L)"
            case str() as value:
                return quoted(value)

    def _operation(self, node: Operation) -> str:
        operands = [self.render(operand) for operand in node.operands]
        inner = ", ".join(kind(arg, boxed=True) for arg in node.type.args)
        match node.name:
            case "and" | "or":
                return f"({(' && ' if node.name == 'and' else ' || ').join(operands)})"
            case "list":
                return f"List.<{inner}>of({', '.join(operands)})"
            case "set":
                return f"setOf(List.<{inner}>of({', '.join(operands)}))"
            case "map":
                pairs = (
                    f"new Tuple2<{inner}>({k}, {v})" for k, v in zip(operands[::2], operands[1::2], strict=True)
                )
                return f"mapOf(List.<Tuple2<{inner}>>of({', '.join(pairs)}))"
            case "tuple":
                return f"new {kind(node.type)}({', '.join(operands)})"
            case "item":
                place = node.operands[1]
                assert isinstance(place, Constant)
                return f"{operands[0]}.item{int(str(place.value)) + 1}()"
            case "sum" if node.type.name != "Int":
                name = {"Decimal": "sumOfDecimals", "Float": "sumOfFloats"}[node.type.name]
                return f"{name}({operands[0]})"
            case "some":
                return f"Optional.<{inner}>of({operands[0]})"
            case "range" | "zip" if len(operands) != 2:
                raise ExpressionFault(f"Java has no such {node.name} here")
            case name:
                first = node.operands[0].type.name if node.operands else ""
                known = _SPECIAL.get(first, {}).get(name)
                pattern = known or (None if name == "power" and first == "Decimal" else _PLAIN[name])
                if pattern is None:
                    raise ExpressionFault(f"Java has no {name} of a {first} here")
                return pattern.format(*operands)
