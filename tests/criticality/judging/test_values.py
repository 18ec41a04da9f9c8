"""Values as they are made from what must hold of them: all, related, long, of a form, in a body's branches."""

from __future__ import annotations

import builtins
import json
from itertools import pairwise
from typing import Any

import account_system as example
import pytest
import seeded
from turnstile_system import needs_toolchain

from criticality.judging.clauses import Condition, branches
from criticality.judging.domain import Domain
from criticality.judging.judge import Judge
from criticality.judging.served import Process
from criticality.judging.values import Case, Counts, Values
from criticality.judging.wire import array, from_json, pack, same, to_json
from criticality.spec.contracts import parse_contract
from criticality.spec.literals import literals_of
from criticality.spec.predicates import PredicateFault, parse_predicate
from criticality.spec.types import parse_param
from llm_runtime.canonical import canonical_json

FEW = Counts(200, 60, 100)
ASCENDING = "all(items[i] < items[i + 1] for i in range(len(items) - 1))"
APART = "all(a.last < b.first for a, b in zip(spans, spans[1:]))"


def cases(
    project: str, params: list[str], requires: list[str], bodies: tuple[str, ...] = (), counts: Counts = FEW
) -> list[Case]:
    domain = Domain(seeded.ruled_out(project).spec)
    written = [parse_predicate(text) for text in requires]
    contract = parse_contract([f"REQUIRES: {text}" for text in requires] or ["PURITY: pure"])
    kinds = list(map(parse_param, params))
    values = Values(domain, literals_of([contract], (), "\n".join(bodies)), "it", bodies=bodies)
    return list(values.cases(kinds, [Condition(domain, p.code) for p in written], counts=counts))


def fitting(found: list[Case], params: list[str], requires: list[str]) -> bool:
    scope: dict[str, Any] = {
        name: getattr(builtins, name) for name in ("all", "len", "range", "zip", "sum", "sorted", "list")
    }
    names = [parse_param(text).name for text in params]
    return all(
        eval(text, {**scope, **dict(zip(names, one.args, strict=True))})  # noqa: S307
        for one in found
        for text in requires
    )


@pytest.mark.parametrize(
    ("project", "params", "requires"),
    [
        ("merging", ["items: List<Int>"], [ASCENDING]),
        ("merging", ["items: List<Int>"], ["list(items) == sorted(items)"]),
        ("merging", ["items: List<Int>"], ["all(b - a >= 3 for a, b in zip(items, items[1:]))"]),
        ("merging", ["items: List<Int>", "most: Int"], ["all(i >= 0 for i in items)", "sum(items) <= most"]),
        ("spans", ["spans: List<Span>", "at: Int"], [APART]),
        (
            "spans",
            ["spans: List<Span>"],
            ["all(a.first < b.first and b.last < a.last for a, b in zip(spans, spans[1:]))"],
        ),
        ("book", ["makers: List<Order>"], ["all(a.price <= b.price for a, b in zip(makers, makers[1:]))"]),
    ],
)
def test_sequences_of_a_quantified_clause_hold_related_items_and_keep_their_size(
    project: str, params: list[str], requires: list[str]
) -> None:
    found = cases(project, params, requires)
    assert fitting(found, params, requires)
    several = [one for one in found if len(one.args[0]) >= 3]
    assert len(found) > 100 and len(several) > len(found) / 10
    long = {len(one.args[0]) for one in found if one.origin == "long"}
    assert {64, 300} <= long, long


def test_a_small_domain_is_tried_whole_and_one_that_clauses_bound_too() -> None:
    found = cases("dates", ["year: Year", "month: Month"], ["1890 <= year <= 2320"], counts=Counts())
    assert len(found) == 431 * 12 == len({one.args for one in found})
    assert len(cases("merging", ["a: Int", "b: Bool"], ["0 <= a and a < 50"])) == 100


def test_points_lie_in_what_they_are_asked_of_and_beside_it() -> None:
    found = [one.args for one in cases("spans", ["spans: List<Span>", "at: Int"], [APART]) if len(one.args[0]) > 2]
    places = {"first", "last", "before", "behind"}
    for spans, at in found:
        places -= {"first"} if any(s.first == at for s in spans) else set()
        places -= {"last"} if any(s.last == at for s in spans) else set()
        places -= {"before"} if any(s.first == at + 1 for s in spans) else set()
        places -= {"behind"} if any(s.last == at - 1 for s in spans) else set()
    assert not places
    sums = cases("stock", ["lots: List<Lot>", "wanted: Count"], [])
    assert any(
        sum(lot.size for lot in lots[:3]) == wanted > 0 for lots, wanted in (one.args for one in sums) if len(lots) > 3
    )


def test_texts_are_of_a_stated_form_and_just_outside_of_it() -> None:
    form = "matches(text, '[a-z]{2}-[0-9]{1,3}(/x)?')"
    inside = cases("merging", ["text: Text"], [form])
    assert len(inside) > 60 and any(one.args[0].endswith("/x") for one in inside)
    around = cases("merging", ["text: Text", "n: Int"], [f"n > 3 implies {form}"])
    assert any("-" in one.args[0] and one.args[1] <= 3 for one in around)
    for refused in ("matches(text, '^a$')", "matches(text, text)", "matches(text, '(')", "matches(text, '(?=a)b')"):
        with pytest.raises(PredicateFault):
            parse_predicate(refused)


def test_what_a_body_is_written_with_is_tried() -> None:
    found = [one.args[0] for one in cases("merging", ["n: Int"], [], ("if n * 2 == 154308:\n    return 1",))]
    assert 77154 in found or 154308 in found
    lists = cases("merging", ["items: List<Int>"], [], ("return any(item == 77777 for item in items)",))
    assert any(77777 in one.args[0] for one in lists)


@pytest.mark.parametrize(
    ("text", "names", "value"),
    [
        ("n ** 3 + (1 << n) ^ ~n", {"n": 5}, (5**3 + (1 << 5)) ^ ~5),
        ("ord(c) - 97 < 26 and chr(ord(c) + 1)", {"c": "a"}, "b"),
        ("n < 1000000000000000000000", {"n": 1}, True),
        ("matches(text, '[0-9]+')", {"text": "12\n"}, False),
    ],
)
def test_the_language_holds_what_experts_write(text: str, names: dict[str, Any], value: Any) -> None:
    domain = Domain(seeded.ruled_out("merging").spec)
    assert domain.evaluate(parse_predicate(text).code, names) == value
    with pytest.raises(MemoryError):
        domain.evaluate(parse_predicate("2 ** 100 ** n").code, {"n": 9})


def test_only_if_allows_an_error_and_asks_for_none() -> None:
    read = parse_predicate("raises(BadNumber) only if len(text) > 3")
    assert read.raised == {"BadNumber"} and not read.when
    assert read.code == parse_predicate("raises(BadNumber) implies (len(text) > 3)").code


def test_an_invariant_may_name_a_member_of_an_enum() -> None:
    spec = seeded.ruled_out("spans").spec.model_dump()
    spec["enums"] = {"Side": ["buy", "sell"]}
    fields = [{"name": "side", "type": "Side"}, {"name": "n", "type": "Int"}]
    spec["data_models"]["Order"] = {"fields": fields, "invariants": ["side == Side.BUY implies n > 0"]}
    domain = Domain(seeded.Spec.model_validate(spec))
    values = Values(domain, literals_of([], ()), "it")
    found = list(values.cases([parse_param("one: Order")], [], counts=FEW))
    assert len(found) > 30 and all(one.args[0].n > 0 for one in found if one.args[0].side.name == "BUY")


def test_of_a_whole_that_is_all_alike_one_number_is_another_in_some_cases() -> None:
    square = "all(len(row) == len(grid) for row in grid)"
    found = [one.args[0] for one in cases("merging", ["grid: List<List<Int>>"], [square])]
    numbers = [sorted(n for row in grid for n in row) for grid in found if len(grid) > 5]
    assert any(row[0] == row[-2] != row[-1] or row[0] != row[1] == row[-1] for row in numbers)


QUARTERS = "ENSURES: result == income // 4"


@needs_toolchain
@pytest.mark.parametrize(
    ("body", "clause", "broken"),
    [
        ("return income // 4", QUARTERS, ""),
        ("return int(income / 4)", QUARTERS, QUARTERS),
        ("return ((income + (1 << 31)) % (1 << 32) - (1 << 31)) // 4", QUARTERS, QUARTERS),
        # What takes long on numbers that nothing bounds is no fault.
        ("left = income\nwhile left >= 4:\n    left -= 4\nreturn (income - left) // 4", QUARTERS, ""),
        pytest.param(
            "return income // 4",
            "ENSURES: result == sum(1 for n in range(income) if n % 4 == 3)",
            "",
            marks=pytest.mark.long,
        ),
    ],
    ids=["right", "floats", "wraps", "long", "slow"],
)
def test_numbers_are_tried_where_their_widths_end(
    body: str, clause: str, broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    function = {"params": ["income: Int"], "returns": "Int", "contracts": ["REQUIRES: income >= 0", clause]}
    table = {"quarters": {"functions": {"quarter": function}, "right": [{"quarter": body}]}}
    monkeypatch.setattr(seeded, "table", lambda name: table)
    with Judge(seeded.hearing(seeded.ruled_out("quarters"), ["it.quarter"], counts=Counts(30, 10, 20))) as judge:
        verdict = judge.heard()
    assert [fault.promise for fault in verdict.faults] == [broken] * bool(broken)
    assert (verdict.guilty, verdict.unjudged["it.quarter"]) == (None, {})


@needs_toolchain
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("if sum(items) * 7919 % 104729 == 3 and len(items) == 11 and items[5] == 99991:\n    return 0\n"
         "return sum(1 for item in items if item < wanted)", "no case that REQUIRES admits comes to"),
        ("return sum(1 for item in items if item < wanted) + (len(items) > 4)", "ENSURES: result == sum"),
    ],
)  # fmt: skip
def test_a_branch_that_no_case_enters_keeps_a_body_out(body: str, said: str) -> None:
    one = seeded.ruled_out("merging")
    with Judge(seeded.hearing(one, ["it.place"], {"it.place": body}, counts=FEW)) as judge:
        verdict = judge.heard()
    assert said in verdict.faults[0].what


def test_a_parameter_is_a_value_though_a_function_is_called_so_too() -> None:
    one = seeded.ruled_out("shadowing")
    with Judge(seeded.hearing(one, ["it.nth"], counts=FEW)) as judge:
        held = [case.args for case in judge.cases("it.nth")]
        verdict = judge.heard()
    assert held and all(1 <= nth <= 4 and low <= len for nth, low, len in held)
    assert (verdict.faults, verdict.guilty) == ([], None)


def test_keys_point_at_what_they_are_keys_of_and_none_stands_there_twice() -> None:
    domain = Domain(example.spec())
    kinds = [parse_param("accounts: List<Account>"), parse_param("order: Transfer")]
    ascending = Condition(domain, "all(a.balance <= b.balance for a, b in zip(accounts, accounts[1:]))")
    found = list(Values(domain, literals_of([], ()), "it").cases(kinds, [ascending]))
    ids = [{account.id for account in accounts} for accounts, _ in (one.args for one in found)]
    assert all(len(held) == len(one.args[0]) for held, one in zip(ids, found, strict=True))
    both = [one for held, one in zip(ids, found, strict=True) if {one.args[1].source, one.args[1].target} <= held]
    assert len(both) > 20


def test_a_goal_is_of_the_type_of_the_place_that_it_is_put_at() -> None:
    """A key is no map, and an option that holds nothing has no fields."""
    spec = seeded.ruled_out("spans").spec.model_dump()
    fields = [{"name": "name", "type": "Text"}, {"name": "above", "type": "Option<Span>"}]
    spec["data_models"]["Node"] = {"fields": fields}
    domain = Domain(seeded.Spec.model_validate(spec))
    kinds = [parse_param(text) for text in ("stock: Map<Text, Int>", "line: Node", "wanted: Option<Text>", "day: Date")]
    clauses = (
        "line.name in stock",
        "line.name not in stock",
        "line.above is not None and line.above.first == 7",
        "day.year == 1999",
    )
    bodies = tuple(f"if {clause}:\n    return 1" for clause in (*clauses, "wanted is None or wanted == line.name"))
    found = [one.args for one in Values(domain, literals_of([], ()), "it", bodies=bodies).cases(kinds, [], counts=FEW)]
    assert all(type(stock) is dict and (wanted is None or type(wanted) is str) for stock, _, wanted, _ in found)
    assert any(line.name in stock for stock, line, _, _ in found)
    assert any(line.above is not None and line.above.first == 7 for _, line, _, _ in found)


@pytest.mark.parametrize("count", [0, 3, 15, 16, 70_000])
def test_an_array_of_values_that_are_bytes_already_is_that_of_the_values(count: int) -> None:
    numbers = list(range(count))
    assert array([pack(number) for number in numbers]) == pack(numbers)


POINTS = {
    "functions": {
        "at": {"params": ["items: List<Int>", "place: Int"], "returns": "Int", "contracts": ["ENSURES: result >= 0"]},
        "both": {
            "params": ["one: List<Int>", "two: List<Int>"], "returns": "List<Int>", "calls": ["at"],
            "contracts": ["ENSURES: all(at(result, n) == at(one, n) + at(two, n) for n in (*one, *two))"],
        },
    },
    "right": [{"at": "return items.count(place)"}, {"both": "return (*one, *two)"}],
    "wrong": [],
}  # fmt: skip


@needs_toolchain
def test_what_a_contract_asks_point_by_point_is_answered_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    alone, gathered = [0], [0]
    one_by_one, many = Process.call_packed, Process.call_many_packed

    def call_packed(self: Process, name: str, packed: bytes) -> Any:
        alone[0] += name == "it.at"
        return one_by_one(self, name, packed)

    def call_many_packed(self: Process, calls: Any) -> Any:
        calls = list(calls)
        gathered[0] += len(calls) * (len(calls) > 1)
        return many(self, calls)

    monkeypatch.setattr(seeded, "table", lambda name: {"points": POINTS})
    monkeypatch.setattr(Process, "call_packed", call_packed)
    monkeypatch.setattr(Process, "call_many_packed", call_many_packed)
    for body, right in (("return (*one, *two)", True), ("return (*one, *two[:5])", False)):
        alone[0] = gathered[0] = 0
        hearing = seeded.hearing(seeded.ruled_out("points"), ["it.both"], {"it.both": body}, counts=FEW)
        with Judge(hearing) as judge:
            verdict = judge.heard()
        assert (verdict.faults == []) is right
        assert not right or gathered[0] > 3 * alone[0], (alone, gathered)


def test_a_branch_within_another_is_come_to_where_both_conditions_hold() -> None:
    body = "if month == 2:\n    return 29 if year == 3100 else 28\nreturn 31 if month > 7 else 30"
    assert "(month == 2) and (year == 3100)" in set(branches(body, ["year", "month"]))
    assert "(month != 2) and (month > 7)" not in set(branches(body, ["year", "month"])), "what returns is not followed"


def test_a_conclusion_is_aimed_at_where_its_presupposition_holds_and_one_part_decides() -> None:
    clause = parse_predicate("month == 2 and (year % 4 != 0 or year % 100 == 0) implies result == min(day, 28)").code
    aims = set(branches(clause, ["year", "month", "day"]))
    assert {
        "(month == 2) and (year % 100 == 0) and (day > 28)",
        "(month == 2) and (year % 4 != 0) and (day <= 28)",
    } <= aims
    assert "(b <= 1) and (a > 0) and (c == 2)" in set(branches("not (a > 0 and b > 1 and c == 2)", ["a", "b", "c"]))


def test_a_function_without_parameters_has_its_one_case_where_numbers_are_far() -> None:
    domain = Domain(seeded.ruled_out("merging").spec)
    for seed in range(20):
        values = Values(domain, literals_of([], ()), str(seed))
        assert [one.args for one in values.cases([], [], counts=FEW)] == [()]
        assert list(values.far_cases([], [], 0)) == []


def test_letters_of_both_cases_stand_beside_each_other() -> None:
    texts = [one.args[0] for one in cases("merging", ["text: Text"], ["len(text) <= 5000"])]
    assert any(a != b and a.lower() == b.lower() for text in texts for a, b in pairwise(text))


@pytest.mark.parametrize(
    "value", [2**53 - 1, 2**53, -(2**53), 2**64 - 1, -(2**63), 1e17, -(2.0**53), 0.5, True, float("inf")]
)
def test_a_value_of_the_wire_is_the_same_after_a_journal(value: Any) -> None:
    stored = json.loads(canonical_json(to_json([value])))
    assert canonical_json(stored) == canonical_json(to_json([value]))
    assert same(from_json(stored), [value])
