"""What predicates can say is said alike in Rust and in C++: conditions that hold in Python hold there, too."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from tools_here import require

from criticality.artifacts import Body
from criticality.languages import language
from criticality.lattice_plan import ModulePlan
from criticality.spec.claims import StructuredClaim
from criticality.spec.literals import Literals
from criticality.spec.spec import read_spec
from criticality.testing import Limits, TestReport

SPEC = read_spec(
    {
        "system": {"name": "small", "description": "A system to speak of."},
        "enums": {"Colour": ["red", "green"]},
        "newtypes": {
            "Size": {"base": "Int", "constraints": ["positive", "max(9)"]},
            "Names": {"base": "List<Text>", "constraints": ["sorted", "distinct", "max_length(4)"]},
            "Price": {"base": "Decimal", "constraints": ["non_negative"]},
        },
        "errors": {"Odd": "It is odd"},
        "data_models": {
            "Pair": {
                "fields": [{"name": "left", "type": "Int"}, {"name": "right", "type": "Int"}],
                "invariants": ["left <= right"],
            },
            "Thing": {
                "fields": [
                    {"name": "name", "type": "Text"}, {"name": "size", "type": "Size"},
                    {"name": "colour", "type": "Colour"}, {"name": "type", "type": "Option<Int>"},
                ],
            },
        },
        "interfaces": {
            "Small": {"methods": [{"name": "half", "params": ["n: Int"], "returns": "Result<Int, Odd>"}]},
        },
        "claims": {"all_001": {"text": "Everything is as it should be", "type": "behavioral"}},
    }
)  # fmt: skip
PLAN = (
    ModulePlan.model_validate(
        {
            "name": "small_things", "purpose": "Small things.",
            "functions": [
                {
                    "name": "half", "params": ["n: Int"], "returns": "Result<Int, Odd>", "doc": "Half of a number.",
                    "contracts": ["ENSURES: result * 2 == n", "ENSURES: n % 2 == 1 implies raises(Odd)"],
                },
                {
                    "name": "count",
                    "params": ["names: Names", "pair: Pair", "price: Price", "seen: Map<Text, Int>"],
                    "returns": "Int", "doc": "How many names there are.",
                    "contracts": ["ENSURES: result == len(names)", "INVARIANT: pair.left <= pair.right"],
                },
            ],
        }
    ),
)  # fmt: skip
STEPS = [
    "xs = [3, 1, 2]", "words = ['b', 'a', 'é']", "ages = {'ann': 31, 'bob': 7}", "few = {1, 2}",
    "thing = Thing('x y', Size(4), Colour.RED, None)", "pair = Pair(1, 5)", "half_of_six = half(6)",
]  # fmt: skip
HOLD = {
    "numbers": [
        "7 // 2 == 3 and -7 // 2 == -4 and -7 % 3 == 2 and 7 % -3 == -2", "abs(-3) == 3",
        "Decimal('1.25') + 1 == Decimal('2.25') and Decimal('0.1') * 3 == Decimal('0.3')", "float(3) / 2 == 1.5",
        "min(3, 1, 2) == 1 and max(xs) == 3", "divmod(7, 2) == (3, 1)", "int(Decimal('-1.5')) == -1",
        "half_of_six == 3",
    ],
    "lists": [
        "len(xs) == 3 and sum(xs) == 6 and sorted(xs) == [1, 2, 3]", "list(reversed(xs)) == [2, 1, 3]",
        "xs[0] == 3 and xs[-1] == 2 and xs[1:] == [1, 2] and xs[:9] == xs", "xs + [4] == [3, 1, 2, 4] and 2 in xs",
        "list(zip(xs, words)) == [(3, 'b'), (1, 'a'), (2, 'é')]", "xs.count(1) == 1 and xs.index(2) == 2",
        "[i for i, x in enumerate(xs) if x > 1] == [0, 2] and list(range(1, 4)) == [1, 2, 3]",
        "sorted(xs, key=lambda x: -x) == [3, 2, 1] and reduce(lambda a, b: a * 10 + b, xs, 0) == 312",
    ],
    "texts": [
        "'b' + 'a' == 'ba' and len(words[2]) == 1 and 'x' in thing.name", "thing.name.split(' ') == ['x', 'y']",
        "'-'.join(words) == 'b-a-é' and 'aXa'.lower() == 'axa' and 'ab'.upper() == 'AB'", "' a '.strip() == 'a'",
        "'abc'.startswith('ab') and 'abc'.endswith('bc') and 'aba'.replace('a', 'c') == 'cbc'",
        "'123'.isdigit() and not ''.isdigit() and 'ab'.isalpha()", "'abc'[1] == 'b' and 'abc'[1:] == 'bc'",
        "str(12) == '12' and 'a' < 'b' and [c for c in 'ab'] == ['a', 'b']",
    ],
    "maps_and_sets": [
        "ages['ann'] == 31 and 'bob' in ages and 'eve' not in ages and len(ages) == 2", "ages.get('eve', 0) == 0",
        "sorted(ages.keys()) == ['ann', 'bob'] and sum(ages.values()) == 38",
        "sorted(k for k, v in ages.items() if v > 9) == ['ann']", "{w: len(w) for w in words}['a'] == 1",
        "few | {3} == {1, 2, 3} and few & {2, 9} == {2} and few - {1} == {2}", "few <= set(xs) and 1 in few",
        "len({x % 2 for x in xs}) == 2 and len(set(xs)) == len(xs)",
    ],
    "records": [
        "thing.size == 4 and thing.colour == Colour.RED and thing.colour.value == 'red' and thing.type is None",
        "replace(thing, type=3).type == 3 and replace(thing, type=3) != thing", "replace(pair, right=9).right == 9",
        "pair == Pair(1, 5) and [pair, Pair(0, 0)] == [Pair(1, 5), Pair(0, 0)]", "Size(3) < thing.size",
        "(1 if thing.type is None else 2) == 1", "all(a < b for a in [1, 2] for b in [3, 4] if a != b)",
        "any(x == y for x in xs for y in few) and not all(x in few for x in xs)",
    ],
}  # fmt: skip
BODIES = {
    "rust": {
        "half": "if n % 2 == 0 {\n    Ok(n / 2)\n} else {\n    Err(Error::Odd)\n}",
        "count": "names.get().len() as i64",
    },
    "cpp": {
        "half": "if (n % 2 != 0) {\n  throw Odd();\n}\nreturn n / 2;", "count": "return std::ssize(names.get());",
    },
}  # fmt: skip
shared_loop = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module", scope="module", params=list(BODIES))
async def report(request: pytest.FixtureRequest) -> AsyncIterator[tuple[str, TestReport]]:
    """Every test of the small system, run once."""
    name = request.param
    await require(name)
    target = language(name)
    bodies = {f"small_things.{f}": Body(text, "", "worker", 1) for f, text in BODIES[name].items()}
    tree = target.sources(SPEC, PLAN, bodies) | target.test_support(SPEC, Literals(("ann",), ("b",), (7,)))
    claim = StructuredClaim.model_validate(
        {
            "id": "all_001", "type": "behavioral", "subject": "everything", "predicate": "holds",
            "functions": ["small_things.half"],
            "tests": [{"name": topic, "steps": STEPS, "check": checks} for topic, checks in HOLD.items()],
        }
    )  # fmt: skip
    files = [target.claim_test(SPEC, PLAN, claim, SPEC.claims["all_001"].text)]
    files += [target.contract_test(SPEC, PLAN, PLAN[0], function) for function in PLAN[0].functions]
    tree |= {file.path: file.source for file in files}
    async with language(name).toolchain(parallel=1, limits=Limits(seconds=120)) as tools:
        assert await tools.check(tree) == []
        yield name, await tools.test(tree, [file.path for file in files], seconds=120)


def _half(n: int) -> int:
    return n // 2


def test_the_conditions_hold_in_python() -> None:
    from dataclasses import make_dataclass, replace
    from decimal import Decimal
    from enum import Enum
    from functools import reduce

    scope: dict[str, Any] = {
        "Decimal": Decimal, "reduce": reduce, "replace": replace, "Size": int, "half": _half,
        "Colour": Enum("Colour", {"RED": "red", "GREEN": "green"}),
        "Pair": make_dataclass("Pair", ["left", "right"]),
        "Thing": make_dataclass("Thing", ["name", "size", "colour", "type"]),
    }  # fmt: skip
    for step in STEPS:
        exec(step, scope)
    for checks in HOLD.values():
        for check in checks:
            assert eval(check, scope), check  # noqa: S307 -- written above


@pytest.mark.toolchain
@shared_loop
async def test_the_conditions_hold_in_the_language(report: tuple[str, TestReport]) -> None:
    results = {test.name: (test.outcome, test.message) for test in report[1].tests}
    for topic in HOLD:
        assert results.get(f"all_001_{topic}") == ("passed", ""), results


@pytest.mark.toolchain
@shared_loop
async def test_witnesses_records_and_maps_are_drawn_and_lent(report: tuple[str, TestReport]) -> None:
    assert report[1].passed, report[1].failures
    assert {test.name for test in report[1].tests} >= {"count_ensures_1", "count_invariant_1", "half_ensures_2"}
