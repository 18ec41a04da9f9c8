"""The languages of a project: types, predicates, contracts, specifications; and what each of them refuses."""

from __future__ import annotations

import contextlib
import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from turnstile_system import SPEC

from criticality.judging.claims import claim_fault
from criticality.judging.growth import promised
from criticality.lattice_plan import FunctionPlan
from criticality.spec.claims import StructuredClaim
from criticality.spec.contracts import ContractFault, parse_contract
from criticality.spec.predicates import PredicateFault, parse_predicate
from criticality.spec.spec import Spec, fault_line
from criticality.spec.types import GENERICS, SCALARS, TypeFault, TypeRef, parse_type


@pytest.mark.parametrize(
    "text", ["Int", "Map<Text, List<Account>>", "Result<Option<Int>, Nope>", "Tuple<Int, Int, Int>"]
)
def test_types_read_and_write_the_same(text: str) -> None:
    assert str(parse_type(text)) == text


@pytest.mark.parametrize(
    "text", ["", "List", "List<>", "List<Int", "Map<Int>", "Int<Int>", "a b", "List<Int>>", "List<" * 20]
)
def test_what_is_no_type_is_refused(text: str) -> None:
    with pytest.raises(TypeFault):
        parse_type(text)


types = st.recursive(
    st.sampled_from([*sorted(SCALARS), "Account"]).map(TypeRef),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["List", "Set", "Option"]), inner).map(lambda p: TypeRef(p[0], (p[1],))),
        st.tuples(st.sampled_from(["Map", "Result"]), inner, inner).map(lambda p: TypeRef(p[0], (p[1], p[2]))),
    ),
    max_leaves=5,
)


@given(kind=types)
def test_every_type_survives_being_written(kind: TypeRef) -> None:
    assert GENERICS
    if kind.depth <= 8 and len(str(kind)) <= 300:
        assert parse_type(str(kind)) == kind


@given(text=st.text(max_size=60))
def test_any_text_is_a_type_or_a_fault(text: str) -> None:
    with contextlib.suppress(TypeFault):
        parse_type(text)


def evaluate(text: str, **names: Any) -> bool:
    predicate = parse_predicate(text, known=set(names))
    olds = {name: eval(code, {}, names) for name, code in predicate.olds}  # noqa: S307
    return bool(eval(predicate.code, {"raises": lambda kind: False}, {**names, **olds}))  # noqa: S307


@pytest.mark.parametrize(
    ("text", "names", "expected"),
    [
        ("a implies b", {"a": True, "b": False}, False),
        ("a implies b implies c", {"a": True, "b": True, "c": False}, False),
        ("a > 1 and b implies a > 2", {"a": 2, "b": True}, False),
        ("all((x > 0 implies x > 1) for x in a)", {"a": [2, 0]}, True),
        ("all(x > 0 implies x > 1 for x in a)", {"a": [2, 1]}, False),
        ("(a implies len(b)) == (len(b) implies a)", {"a": True, "b": [1]}, True),
        ("(a implies b) implies c", {"a": False, "b": False, "c": False}, False),
        ("[a implies b, (c, a)][0]", {"a": True, "b": False, "c": 1}, False),
        ("'implies' in a", {"a": "it implies"}, True),
        ("a == 'it\\'s implies' implies b", {"a": "it's implies", "b": False}, False),
        ("old(a) == a", {"a": 3}, True),
        ("not a implies b", {"a": False, "b": False}, False),
    ],
)
def test_predicates_mean_what_they_say(text: str, names: dict[str, Any], expected: bool) -> None:
    assert evaluate(text, **names) is expected


def test_prose_is_kept_and_not_checked() -> None:
    assert not parse_predicate("the haystack is sorted ascending (witnessed)", known=set()).checkable


@pytest.mark.parametrize(
    "text",
    ["nobody > 1", "a.__class__ == 1", "(lambda: __import__('os'))()", "a := 1 > 0 or nobody", "_x > 1", "a @ 9"],
)
def test_a_predicate_outside_the_language_is_refused_or_prose(text: str) -> None:
    with contextlib.suppress(PredicateFault):
        assert not parse_predicate(text, known={"a"}).checkable


@given(text=st.text(alphabet="abimples ()<>=1.'\"old,raises[]{}", max_size=80))
def test_any_text_is_a_predicate_prose_or_a_fault(text: str) -> None:
    with contextlib.suppress(PredicateFault):
        parse_predicate(text)


def test_the_grammar_of_contracts() -> None:
    contract = parse_contract(
        [
            "REQUIRES: n > 0",
            "ENSURES: result == n + 1",
            "COMPLEXITY: O(log n) where n = len(x)",
            "PURITY: pure",
            "CLAIM_REF: search_001",
        ],
        known={"n"},
    )
    assert contract.complexity == "log n" and contract.purity == "pure" and contract.claims == ("search_001",)


@pytest.mark.parametrize(
    "line",
    [
        "MUST: x",
        "PURITY: mostly",
        "COMPLEXITY: fast",
        "CLAIM_REF: Search1",
        "REQUIRES:",
        "REQUIRES: result > 0",
        "ENSURES: nobody > 0",
    ],
)
def test_a_clause_outside_the_grammar_is_refused(line: str) -> None:
    with pytest.raises(ContractFault):
        parse_contract([line], known={"n"})


def changed(path: str, value: Any) -> dict[str, Any]:
    data = copy.deepcopy(SPEC)
    *parts, last = path.split(".")
    place = data
    for part in parts:
        place = place.setdefault(part, {})
    place[last] = value
    return data


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("newtypes.Count", {"base": "Nmber"}, "nothing defines the type Nmber"),
        ("data_models.Gate", {"fields": [{"name": "next", "type": "Gate"}]}, "without end: Gate -> Gate"),
        ("newtypes.Count", {"base": "Int", "constraints": ["round"]}, "is no constraint"),
        ("newtypes.Count", {"base": "Bool", "constraints": ["positive"]}, "does not apply to Bool"),
        ("claims.room1", {"text": "A room is there", "type": "invariant"}, "room1"),
        ("claims.room_009", {"text": "Safe.", "type": "invariant"}, "has no subject"),
        ("claims.room_009", {"text": "It is so and so", "type": "hope"}, "claims.room_009.type"),
        ("surprise", 1, "surprise"),
        ("interfaces", {}, "interfaces"),
        ("enums.Side", ["buy", "Buy"], "two members are the same but for capitals"),
        ("errors.Int", "x", "belongs to the type language"),
    ],
)
def test_a_specification_that_does_not_fit_together_is_one_line(path: str, value: Any, said: str) -> None:
    with pytest.raises((ValidationError, TypeFault)) as refused:
        Spec.model_validate(changed(path, value))
    line = fault_line(refused.value)
    assert said in line and "\n" not in line


def test_a_claim_on_performance_takes_its_class_from_its_words_or_else_from_the_contract() -> None:
    def made(text: str, *clauses: str) -> str:
        function = FunctionPlan(
            name="total", params=["counts: List<Count>"], returns="Int", doc="Their sum.",
            contracts=["PURITY: pure", *clauses],
        )  # fmt: skip
        claim = StructuredClaim.model_validate(
            {
                "id": "speed_001", "type": "performance", "subject": "total", "predicate": "is fast",
                "functions": ["sums.total"],
                "tests": [{"name": "scales", "variables": ["counts: List<Count>"], "steps": ["s = total(counts)"],
                           "check": ["s >= 0"]}],
            }
        )  # fmt: skip
        declared = [function.contract.complexity or ""]
        fault = claim_fault(Spec.model_validate(SPEC), {"sums.total": function}, claim, text)
        return fault or promised(claim, text, declared)

    assert made("Adding is O(n^2)", "COMPLEXITY: O(n)") == "n^2"
    assert made("Adding is fast", "COMPLEXITY: O(n)") == "n"
    assert "names a class" in made("Adding is fast")
