"""Typed expressions in Rust: every value is rendered as one's own, so that no test has to think of lifetimes."""

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
from criticality.languages.rust.names import ident, is_copied, member, own, owned
from criticality.languages.rust.witnesses import checks_of
from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef
from criticality.spec.values import constraints_of

#: Operations as text; operands are ``{0}``, ``{1}``; those on texts and on numbers with a point differ below.
_PLAIN = {
    "add": "({0} + {1})", "subtract": "({0} - {1})", "multiply": "({0} * {1})", "divide": "({0} / {1})",
    "floor_divide": "values::floor_divide({0}, {1})", "modulo": "values::modulo({0}, {1})",
    "power": '{0}.pow(u32::try_from({1}).expect("an exponent"))', "negate": "(-{0})", "absolute": "{0}.abs()",
    "to_decimal": "Decimal::from({0})", "to_float": "({0} as f64)", "truncate": "({0} as i64)",
    "to_text": "{0}.to_string()", "enum_text": "{0}.text().to_string()",
    "equal": "({0} == {1})", "less": "({0} < {1})", "less_equal": "({0} <= {1})",
    "some": "Some({0})", "get": '{0}.expect("a value")', "is_some": "{0}.is_some()",
    "length": "({0}.len() as i64)", "contains": "{0}.contains(&{1})", "index": "values::index(&{0}, {1})",
    "slice": "values::slice(&{0}, {1}, {2})", "concat": "[{0}, {1}].concat()",
    "reversed": "{0}.into_iter().rev().collect::<Vec<_>>()", "sorted": "values::sorted({0})",
    "minimum": "values::minimum({0})", "maximum": "values::maximum({0})",
    "enumerate": "({1}..).zip({0}).collect::<Vec<_>>()",
    "occurrences": "values::occurrences(&{0}, &{1})",
    "position": "values::position(&{0}, &{1})",
    "to_set": "{0}.into_iter().collect::<BTreeSet<_>>()", "distinct_list": "values::distinct({0})",
    "lookup": '{0}.get(&{1}).cloned().expect("a key of the map")', "keys": "{0}.into_keys().collect::<Vec<_>>()",
    "values": "{0}.into_values().collect::<Vec<_>>()", "entries": "{0}.into_iter().collect::<Vec<_>>()",
    "to_map": "{0}.into_iter().collect::<BTreeMap<_, _>>()", "to_list": "{0}.into_iter().collect::<Vec<_>>()",
    "union": "(&{0} | &{1})", "intersection": "(&{0} & &{1})", "difference": "(&{0} - &{1})",
    "subset": "{0}.is_subset(&{1})",
    "lower": "{0}.to_lowercase()", "upper": "{0}.to_uppercase()", "trim": "{0}.trim().to_string()",
    "starts_with": "{0}.starts_with(&{1})", "ends_with": "{0}.ends_with(&{1})",
    "is_digits": "values::all_characters(&{0}, char::is_numeric)",
    "is_letters": "values::all_characters(&{0}, char::is_alphabetic)", "is_ascii": "{0}.is_ascii()",
    "split": "{0}.split(&{1}).map(str::to_string).collect::<Vec<_>>()", "join": "{1}.join(&{0})",
    "substitute": "{0}.replace(&{1}, &{2})", "characters": "values::characters(&{0})",
    "to_timestamp": "Timestamp({0})",
}  # fmt: skip
_OF_TEXT = {
    "length": "({0}.chars().count() as i64)", "index": "values::index(&values::characters(&{0}), {1})",
    "slice": "values::slice(&values::characters(&{0}), {1}, {2}).concat()",
}  # fmt: skip
_OF_MAP = {"contains": "{0}.contains_key(&{1})"}
_WITH_POINT = {
    "floor_divide": "({0} / {1}).floor()", "modulo": "({0} - {1} * ({0} / {1}).floor())", "power": "{0}.powf({1})",
}  # fmt: skip


class Renderer:
    """Renders expressions of one system."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec

    def render(self, node: Expression) -> str:
        """Return the expression; its value is owned.

        Raises:
            ExpressionFault: Rust has no such operation.
        """
        match node:
            case Constant():
                return self._constant(node)
            case Variable():
                return ident(node.name) if is_copied(self.spec, node.type) else f"{ident(node.name)}.clone()"
            case Field():
                return self._field(node)
            case Member():
                return f"{node.type.name}::{member(node.name)}"
            case Make():
                return self._make(node.type.name, {name: self.render(value) for name, value in node.values})
            case Wrap():
                expect = (
                    f'.expect("a value of {node.type.name}")' if constraints_of(self.spec, node.type.name) else ""
                )
                return f"{node.type.name}::new({self.render(node.value)}){expect}"
            case Unwrap():
                return own(self.spec, node.type, f"{self.render(node.value).removesuffix('.clone()')}.get()")
            case Operation():
                return self._operation(node)
            case Conditional():
                return (
                    f"(if {self.render(node.test)} {{ {self.render(node.yes)} }} else {{ {self.render(node.no)} }})"
                )
            case Quantifier():
                return self._quantifier(node, node.clauses)
            case Comprehension():
                return self._comprehension(node)
            case Keyed():
                key = f"|{self._bound(node.variable, node.kind)}| {self.render(node.key)}"
                return f"values::{node.name}_by_key({self.render(node.items)}, {key})"

    def _bound(self, name: str, kind: TypeRef) -> str:
        return f"{ident(name)}: {owned(kind)}"

    def _constant(self, node: Constant) -> str:
        match node.value:
            case None:
                return "()" if node.type.name == "Unit" else f"None::<{owned(node.type.args[0])}>"
            case bool() as value:
                return "true" if value else "false"
            case int() as value:
                return f"{value}_i64" if value >= 0 else f"({value}_i64)"
            case float() as value:
                return f"({value!r}_f64)"
            case Decimal() as value:
                return f'"{value:f}".parse::<Decimal>().expect("a decimal number")'
            case str() as value:
                return f"{quoted(value)}.to_string()"

    def _field(self, node: Field) -> str:
        record = self.render(node.record)
        if checks_of(self.spec, node.record.type.name):
            return own(self.spec, node.type, f"{record.removesuffix('.clone()')}.{ident(node.name)}()")
        place = f"{record.removesuffix('.clone()')}.{ident(node.name)}"
        return (
            place
            if is_copied(self.spec, node.type) or not isinstance(node.record, Variable)
            else f"{place}.clone()"
        )

    def _make(self, name: str, values: Mapping[str, str]) -> str:
        if checks_of(self.spec, name):
            return f'{name}::new({", ".join(values.values())}).expect("a value of {name}")'
        return f"{name} {{ {', '.join(f'{ident(field)}: {value}' for field, value in values.items())} }}"

    def _operation(self, node: Operation) -> str:
        texts = [self.render(operand) for operand in node.operands]
        first = node.operands[0].type.name if node.operands else ""
        match node.name:
            case "equal" | "less" | "less_equal":
                texts = _compared(node.operands, texts)
                return _PLAIN[node.name].format(*texts)
            case "and" | "or":
                return f"({(' && ' if node.name == 'and' else ' || ').join(texts)})"
            case "not":
                return negated(texts[0])
            case "list":
                return f"vec![{', '.join(texts)}]" if texts else f"{_turbofish(node.type)}::new()"
            case "set":
                return f"BTreeSet::from([{', '.join(texts)}])" if texts else f"{_turbofish(node.type)}::new()"
            case "map":
                pairs = [f"({key}, {value})" for key, value in zip(texts[::2], texts[1::2], strict=True)]
                return f"BTreeMap::from([{', '.join(pairs)}])" if pairs else f"{_turbofish(node.type)}::new()"
            case "tuple":
                return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"
            case "item":
                place = node.operands[1]
                assert isinstance(place, Constant)
                return f"{texts[0]}.{place.value}"
            case "sum":
                return f"{texts[0]}.into_iter().sum::<{owned(node.type)}>()"
            case "range":
                return f"({texts[0]}..{texts[1]}).collect::<Vec<_>>()"
            case "zip" if len(texts) == 2:
                return f"{texts[0]}.into_iter().zip({texts[1]}).collect::<Vec<_>>()"
            case "truncate" if first == "Decimal":
                return f"{texts[0]}.trunc()"
            case "concat" if first == "Text":
                return f"[{texts[0]}, {texts[1]}].concat()"
            case name:
                special = {"Text": _OF_TEXT, "Map": _OF_MAP, "Decimal": _WITH_POINT, "Float": _WITH_POINT}.get(
                    first, {}
                )
                pattern = special.get(name) or _PLAIN.get(name)
                if pattern is None or (name == "power" and first == "Decimal"):
                    raise ExpressionFault(f"Rust has no {name} of a {first} here")
                return pattern.format(*texts)

    def _quantifier(self, node: Quantifier, clauses: tuple[Clause, ...]) -> str:
        if not clauses:
            return self.render(node.condition)
        clause, word = clauses[0], "all" if node.every else "any"
        inner = self._quantifier(node, clauses[1:])
        if clause.conditions:
            wanted = " && ".join(f"({self.render(condition)})" for condition in clause.conditions)
            inner = f"!({wanted}) || {inner}" if node.every else f"{wanted} && {inner}"
        bound = self._bound(clause.variable, clause.kind)
        return f"{self.render(clause.source)}.into_iter().{word}(|{bound}| {inner})"

    def _comprehension(self, node: Comprehension) -> str:
        element = self.render(node.element)
        if node.value is not None:
            inner = f"made.insert({element}, {self.render(node.value)});"
        else:
            inner = f"made.{'push' if node.type.name == 'List' else 'insert'}({element});"
        for clause in reversed(node.clauses):
            if clause.conditions:
                wanted = " && ".join(f"({self.render(condition)})" for condition in clause.conditions)
                inner = f"if {wanted} {{ {inner} }}"
            inner = f"for {ident(clause.variable)} in {self.render(clause.source)} {{ {inner} }}"
        return f"({{ let mut made = {_turbofish(node.type)}::new(); {inner} made }})"


def _compared(operands: tuple[Expression, ...], texts: list[str]) -> list[str]:
    """Values that are only looked at need no copies."""
    for copied in (".clone()", ".to_string()", ".to_vec()"):
        places = all(isinstance(node, Variable | Field | Unwrap | Constant) for node in operands)
        if places and all(text.endswith(copied) for text in texts):
            return [text.removesuffix(copied) for text in texts]
    return texts


def _turbofish(kind: TypeRef) -> str:
    """``Vec<i64>`` -> ``Vec::<i64>``."""
    head, _, rest = owned(kind).partition("<")
    return f"{head}::<{rest}"


def quoted(text: str) -> str:
    """Return a string literal."""
    shown = (f"\\u{{{ord(c):x}}}" if not c.isprintable() else f"\\{c}" if c in '"\\' else c for c in text)
    return f'"{"".join(shown)}"'
