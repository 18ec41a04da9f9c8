"""One system with a type of every kind, and conditions that hold in Python: they have to hold in every language."""

from __future__ import annotations

from typing import Any

from criticality.lattice_plan import ModulePlan
from criticality.spec.claims import StructuredClaim
from criticality.spec.spec import Spec

SPEC: dict[str, Any] = {
    "system": {"name": "every-value", "description": "A value of every type."},
    "enums": {"Colour": ["red", "dark_blue"]},
    "newtypes": {
        "Price": {"base": "Decimal", "constraints": ["non_negative"]},
        "Share": {"base": "Float", "constraints": ["min(0)", "max(1)"]},
        "Label": {"base": "Text"},
        "Ranks": {"base": "List<Int>", "constraints": ["sorted", "distinct", "max_length(4)"]},
        "Tags": {"base": "Set<Text>"},
    },
    "errors": {"Missing": "There is no such thing"},
    "data_models": {
        "Item": {
            "fields": [
                {"name": "name", "type": "Label", "constraints": ["unique"]},
                {"name": "price", "type": "Price"},
                {"name": "colour", "type": "Colour"},
                {"name": "note", "type": "Option<Text>"},
                {"name": "amount", "type": "Int", "constraints": ["positive"]},
            ],
        },
        "Parcel": {
            "fields": [
                {"name": "items", "type": "List<Item>"},
                {"name": "by_name", "type": "Map<Text, Int>"},
                {"name": "tags", "type": "Tags"},
                {"name": "corner", "type": "Tuple<Int, Int>"},
                {"name": "ready", "type": "Bool"},
                {"name": "made", "type": "Timestamp"},
                {"name": "day", "type": "Date"},
                {"name": "key", "type": "UUID"},
                {"name": "raw", "type": "Bytes"},
                {"name": "share", "type": "Share"},
            ],
            "invariants": ["corner[0] <= corner[1] or ready"],
        },
    },
    "interfaces": {"Values": {"methods": [{"name": "keep", "params": ["parcel: Parcel"], "returns": "Parcel"}]}},
    "claims": {"value_001": {"text": "Every value is what it is", "type": "behavioral"}},
}  # fmt: skip

MODULE: dict[str, Any] = {
    "name": "shelf", "purpose": "Values as they are.", "interfaces": ["Values"],
    "functions": [
        {
            "name": "keep", "params": ["parcel: Parcel"], "returns": "Parcel", "doc": "Give back what was given.",
            "contracts": [
                "ENSURES: result == parcel", "ENSURES: result.items == old(parcel.items)",
                "ENSURES: all(item.price >= 0 for item in result.items)", "PURITY: pure", "CLAIM_REF: value_001",
            ],
        },
        {
            "name": "look_up", "params": ["parcel: Parcel", "wanted: Text"], "returns": "Result<Int, Missing>",
            "doc": "Find a number by its name.",
            "contracts": [
                "ENSURES: wanted not in parcel.by_name implies raises(Missing)",
                "ENSURES: wanted in parcel.by_name implies not raises(Missing)",
                "ENSURES: result == parcel.by_name.get(wanted, 0)", "PURITY: pure",
            ],
        },
        {
            "name": "check_ranks", "params": ["ranks: Ranks"], "returns": "Unit", "doc": "Do nothing to ranks.",
            "contracts": ["ENSURES: len(ranks) <= 4", "PURITY: pure"],
        },
    ],
}  # fmt: skip

#: Conditions that are true in Python, on values written down.
TRUE = [
    "sorted([3, 1, 2]) == [1, 2, 3]", "sorted([3, 1, 2], reverse=True)[0] == 3", "sum([1, 2, 3]) == 6",
    "min([4, 2]) + max(4, 2) == 6", "[x * x for x in range(4) if x % 2 == 1] == [1, 9]", "len('héé') == 3",
    "-7 // 2 == -4 and -7 % 2 == 1", "abs(-3) == 3", "'ab' + 'c' == 'abc'", "'abc'[1] == 'b'",
    "'abc'[-2:] == 'bc'", "[1, 2, 3][1:] == [2, 3]", "[1, 2] + [3] == [1, 2, 3]",
    "list(reversed([1, 2])) == [2, 1]",
    "any(a > 1 for a in [1, 2]) and not all(a > 1 for a in [1, 2])",
    "[a for a, b in zip([1, 2], [2, 1]) if a < b] == [1]", "[i + x for i, x in enumerate([5, 5])] == [5, 6]",
    "'b' in 'abc' and 2 in [1, 2] and 'z' not in 'abc'", "{1, 2} & {2, 3} == {2}", "{1, 2} | {3} == {1, 2, 3}",
    "{1, 2} - {2} == {1}", "{1} <= {1, 2}", "len({'a': 1, 'b': 2}) == 2", "{'a': 1}['a'] == 1",
    "{'a': 1}.get('b', 7) == 7", "'a' in {'a': 1}", "sorted({'b': 1, 'a': 2}.keys()) == ['a', 'b']",
    "sum({'b': 1, 'a': 2}.values()) == 3",
    "{k: v + 1 for k, v in {'a': 1}.items()} == {'a': 2}",
    "Decimal('1.50') + Decimal('0.5') == Decimal('2')", "Decimal('1.0') == Decimal('1.00')",
    "Decimal('7') // Decimal('2') == 3", "sum([Decimal('0.1'), Decimal('0.2')]) == Decimal('0.3')",
    "0.5 + 0.25 == 0.75", "int(2.9) == 2", "'a-b'.split('-') == ['a', 'b']", "'-'.join(['a', 'b']) == 'a-b'",
    "'AbC'.lower() == 'abc' and 'AbC'.upper() == 'ABC'", "' a '.strip() == 'a'", "'abc'.startswith('ab')",
    "'123'.isdigit() and not 'a1'.isdigit()", "'a.b'.replace('.', '') == 'ab'", "str(12) == '12'",
    "'aXbX'.count('X') == 2 and [1, 1, 2].count(1) == 2", "[5, 6].index(6) == 1", "'abc' < 'abd'",
    "(1, 2) < (1, 3)",
    "max(['a', 'ccc'], key=lambda word: len(word)) == 'ccc'", "reduce(lambda a, b: a * b, [2, 3], 1) == 6",
    "[x for row in [[1], [2, 3]] for x in row] == [1, 2, 3]", "Colour.RED != Colour.DARK_BLUE",
    "Colour.DARK_BLUE.value == 'dark_blue'", "Price(Decimal('1.5')) == Price(Decimal('1.50'))",
    "Ranks([1, 2])[0] == 1", "len(Tags({'a', 'a'})) == 1",
    "Item(Label('a'), Price(Decimal('1')), Colour.RED, None, 1).note is None",
    "replace(Item(Label('a'), Price(Decimal('1')), Colour.RED, 'x', 1), note=None).note is None",
    "Item(Label('a'), Price(Decimal('1')), Colour.RED, 'x', 1).note == 'x'",
    "(3 if 1 < 2 else 4) == 3", "not (1 > 2) and (1 > 2 or True)", "set([1, 1]) == {1}", "list('ab') == ['a', 'b']",
]  # fmt: skip


def spec() -> Spec:
    """The specification, read."""
    return Spec.model_validate(SPEC)


def plan() -> tuple[ModulePlan, ...]:
    """The lattice, read."""
    return (ModulePlan.model_validate(MODULE),)


def claims() -> list[StructuredClaim]:
    """Claims with every condition, a few a test; and one that draws a value of each type."""
    groups = [TRUE[place : place + 8] for place in range(0, len(TRUE), 8)]
    tests = [{"name": f"group_{number}", "check": group} for number, group in enumerate(groups)]
    drawn = {
        "name": "drawn", "variables": ["parcel: Parcel", "ranks: Ranks", "pair: Tuple<Int, Text>"],
        "check": ["keep(parcel) == parcel", "len(ranks) <= 4", "pair[0] == pair[0]", "parcel.share <= 1"],
    }  # fmt: skip
    parts = [tests[:6], [*tests[6:], drawn]]
    shared = {"id": "value_001", "type": "behavioral", "subject": "a value", "predicate": "is what it is"}
    functions = ["shelf.keep", "shelf.look_up", "shelf.check_ranks"]
    return [
        StructuredClaim.model_validate({**shared, "id": f"value_{n:03}", "functions": functions[:n], "tests": part})
        for n, part in enumerate(parts, start=1)
    ]
