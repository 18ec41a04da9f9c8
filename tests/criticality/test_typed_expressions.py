"""Predicates as typed expressions: what is inferred, what is written out, and what is refused."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from criticality.languages.base.expressions import ExpressionFault, Scope, condition, typed
from criticality.languages.base.expressions.nodes import (
    BOOL,
    Comprehension,
    Conditional,
    Keyed,
    Make,
    Operation,
    Quantifier,
    Unwrap,
    Wrap,
    walk,
)
from criticality.spec.predicates import parse_predicate
from criticality.spec.spec import Spec
from criticality.spec.types import parse_type

SPEC = Spec.model_validate(
    {
        "system": {"name": "till", "description": "A till and what is in it."},
        "enums": {"Colour": ["red", "dark_blue"]},
        "newtypes": {
            "Cents": {"base": "Int", "constraints": ["non_negative"]},
            "Price": {"base": "Cents", "constraints": ["positive"]},
            "Rate": {"base": "Decimal", "constraints": ["max(1)"]},
            "Tags": {"base": "List<Text>", "constraints": ["distinct"]},
        },
        "errors": {"Sold": "It is gone"},
        "data_models": {
            "Item": {
                "fields": [
                    {"name": "price", "type": "Price"},
                    {"name": "rate", "type": "Rate"},
                    {"name": "tags", "type": "Tags"},
                    {"name": "note", "type": "Option<Text>"},
                    {"name": "colour", "type": "Colour"},
                ]
            }
        },
        "interfaces": {"Till": {"methods": [{"name": "total", "params": ["items: List<Item>"], "returns": "Cents"}]}},
        "claims": {"total_001": {"text": "The total is what was paid", "type": "invariant"}},
    }
)
VARIABLES = {
    "item": "Item", "items": "List<Item>", "price": "Price", "cents": "Cents", "count": "Int", "ratio": "Float",
    "names": "Set<Text>", "stock": "Map<Text, Cents>", "text": "Text", "maybe": "Option<Cents>",
    "pair": "Tuple<Int, Text>",
    "result": "List<Cents>", "exact": "Decimal",
}  # fmt: skip
SCOPE = Scope(SPEC, {name: parse_type(kind) for name, kind in VARIABLES.items()})


def kind(code: str) -> str:
    return str(typed(parse_predicate(code).code, SCOPE).type)


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("price + 1", "Int"), ("item.rate * 2", "Decimal"), ("ratio * count", "Float"), ("count // 2", "Int"),
        ("sum(i.price for i in items)", "Int"), ("sum(i.rate for i in items)", "Decimal"),
        ("sum(i.price > 3 for i in items)", "Int"), ("[i.price for i in items]", "List<Price>"),
        ("{i.colour for i in items}", "Set<Colour>"), ("{n: 1 for n in names}", "Map<Text, Int>"),
        ("items[0]", "Item"), ("items[1:]", "List<Item>"), ("text[-1]", "Text"), ("stock['a']", "Cents"),
        ("stock.get('a')", "Option<Cents>"), ("stock.get('a', 0)", "Int"),
        ("stock.items()", "List<Tuple<Text, Cents>>"),
        ("max(items, key=lambda i: i.price)", "Item"),
        ("sorted(items, key=lambda i: (-i.price, i.note is None))", "List<Item>"),
        ("min(cents, 5)", "Int"), ("Cents(5)", "Cents"),
        ("Item(Price(1), Rate(0), ('a',), None, Colour.RED)", "Item"),
        ("pair[1]", "Text"),
        ("Colour.DARK_BLUE", "Colour"), ("Colour.red.value", "Text"),
        ("list(zip(items, result))", "List<Tuple<Item, Cents>>"),
        ("1 if text else None", "Option<Int>"), ("tuple(names)", "List<Text>"),
        ("len(item.tags)", "Int"), ("item.tags + ('new',)", "List<Text>"), ("names | {'a'}", "Set<Text>"),
        ("','.join(sorted(names))", "Text"), ("int(exact)", "Int"), ("Decimal('0.5') + count", "Decimal"),
    ],
)  # fmt: skip
def test_types_are_inferred(code: str, wanted: str) -> None:
    assert kind(code) == wanted


@pytest.mark.parametrize(
    "code",
    [
        "price <= cents", "item in items", "text in names", "'a' in stock", "result == [price, 3]", "maybe is None",
        "maybe == 3", "0 < count <= 5", "not items", "names <= {'a', 'b'}",
        "all(i.price > 0 for i in items if i.note is not None)", "any(a == b for a, b in zip(result, result))",
        "result == ()", "item.colour == Colour.RED", "item == items[-1]",
        "all(n in stock for n in names)", "text.isdigit() and text.count('a') == 0",
        "len(set(result)) == len(result)",
        "count in (1, 2, 3)", "item.note == 'x'", "all(x >= y for x, y in zip(result, result[1:]))",
        "exact == 1", "item.rate < 0.5", "{**{}} == stock" if False else "stock == {}",
    ],
)  # fmt: skip
def test_conditions_are_truth_values(code: str) -> None:
    assert condition(parse_predicate(code).code, SCOPE).type == BOOL


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("count / 2 == 1", "whole numbers are divided by //"), ("round(ratio) == 1", "outside"),
        ("item.weight > 1", "has no weight"), ("price == text", "nothing in common"),
        ("text < 3", "nothing in common"),
        ("missing > 1", "no value here"), ("Colour.GREEN == item.colour", "no member GREEN"),
        ("str(exact) == '1'", "differently"),
        ("exact + ratio > 1", "nothing in common"), ("items[::2] == items", "a slice with a step"),
        ("count is None", "never None"),
        ("item < item", "no order"), ("[] == []", "nothing"),
("text.encode() == text", "no such method"),
        ("pair[count] == 1", "constant"),
    ],
)  # fmt: skip
def test_what_typed_languages_do_not_render_is_refused_in_one_line(code: str, said: str) -> None:
    with pytest.raises(ExpressionFault, match=said) as refused:
        condition(code, SCOPE)
    assert "\n" not in str(refused.value)


def test_conversions_are_written_out() -> None:
    compared = condition("price == count", SCOPE)
    assert isinstance(compared, Operation) and isinstance(compared.operands[0], Unwrap)
    made = typed("Cents(count)", SCOPE)
    assert isinstance(made, Wrap)
    exact = condition("exact == count", SCOPE)
    assert isinstance(exact, Operation) and exact.operands[1] == Operation(
        parse_type("Decimal"), "to_decimal", (typed("count", SCOPE),)
    )
    taken = typed("stock.get('x') + 1", SCOPE)
    assert any(isinstance(node, Operation) and node.name == "get" for node in walk(taken))
    last = typed("items[-2]", SCOPE)
    assert any(isinstance(node, Operation) and node.name == "subtract" for node in walk(last))


def test_binding_nodes_carry_the_types_of_what_they_bind() -> None:
    keyed = typed("sorted(items, key=lambda i: i.price)", SCOPE)
    assert isinstance(keyed, Keyed) and str(keyed.kind) == "Item"
    unpacked = condition("all(a > b for a, b in zip(result, result))", SCOPE)
    assert isinstance(unpacked, Quantifier) and unpacked.clauses[0].variable == "each_1"
    made = typed("Item(1, Rate(0), [], 'x', Colour.RED)", SCOPE)
    assert isinstance(made, Make) and [name for name, _ in made.values] == ["price", "rate", "tags", "note", "colour"]
    assert isinstance(typed("stock.get('a', 0)", SCOPE), Conditional)
    assert isinstance(typed("{i.colour for i in items}", SCOPE), Comprehension)


NAMES = st.sampled_from(
    ["count", "cents", "price", "ratio", "exact", "text", "items", "result", "maybe", "pair", "7", "'a'", "None"]
)
WRITTEN = st.recursive(
    NAMES,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "//", "%", "<", "==", "in", "and", "or",
        "implies"]), inner).map(
            lambda parts: f"({' '.join(parts)})"
        ),
        st.tuples(st.sampled_from(["len", "sum", "abs", "min", "sorted", "set", "list", "any", "Cents",
        "total"]), inner).map(
            lambda parts: f"{parts[0]}({parts[1]})"
        ),
        st.tuples(inner, inner).map(lambda parts: f"[{parts[0]} for x in {parts[1]}]"),
        st.tuples(inner, inner, inner).map(lambda parts: f"({parts[0]} if {parts[1]} else {parts[2]})"),
        inner.map(lambda part: f"(not {part})"),
        inner.map(lambda part: f"{part}[0]"),
    ),
    max_leaves=8,
)  # fmt: skip


@example("(count implies len(count))[0][0]")
@given(WRITTEN)
def test_whatever_is_written_is_typed_throughout_or_refused(written: str) -> None:
    code = parse_predicate(written).code
    try:
        found = typed(code, SCOPE)
    except ExpressionFault as refused:
        assert "\n" not in str(refused)
        return
    for node in walk(found):
        assert "?" not in str(node.type)
        if isinstance(node, Operation) and node.name in ("equal", "less", "less_equal", "add"):
            assert node.operands[0].type == node.operands[1].type
        if isinstance(node, Operation) and node.name in ("and", "or", "not"):
            assert {operand.type for operand in node.operands} == {BOOL}


@example("(count implies len(count))[0][0]")
@given(WRITTEN)
def test_reading_twice_gives_the_same(written: str) -> None:
    code = parse_predicate(written).code

    def read() -> Any:
        try:
            return typed(code, SCOPE)
        except ExpressionFault as refused:
            return str(refused)

    assert read() == read()
    assert ast.parse(code, mode="eval")
