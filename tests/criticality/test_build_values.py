"""Values that tests are run with lie where behaviour turns, and growth is counted, not timed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from criticality.languages.python.support.growth import grows, sized
from criticality.languages.python.support.near import Near, changes, fitting
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from criticality.spec.claims import ClaimTest, StructuredClaim
from criticality.spec.contracts import parse_contract
from criticality.spec.literals import Literals, literals_of

AMOUNTS = Near(examples=("12.05", "12.5"), texts=(".", "0123456789", "is owed"), numbers=(0, 3, 4, 100))


def test_constants_are_taken_from_claims_and_contracts_and_prose_is_left_alone() -> None:
    contract = parse_contract(["REQUIRES: it isn't broken", "ENSURES: result == 'a' implies count > 40"])
    claim = StructuredClaim(
        id="read_001", type="behavioral", subject="a text", predicate="is read", functions=["money.read"],
        tests=[ClaimTest(name="example", steps=["value = read('12.05')"], check=["value == 1205"])],
    )  # fmt: skip
    assert literals_of([contract], [claim]) == Literals(("12.05",), ("a",), (1205, 40))


def test_a_text_is_changed_in_one_place_or_cut() -> None:
    found = set(changes("1.5"))
    assert {"1.5", "1.", ".5", "15", "11.5", "1 5", "-1.5", "1.5 "} <= found
    assert any(not text.isascii() for text in found), "digits of other scripts look like digits"


@given(st.integers(-2000, 2000), st.integers(0, 3000), st.data())
def test_whole_numbers_stay_within_their_bounds(low: int, width: int, data: st.DataObject) -> None:
    assert low <= data.draw(AMOUNTS.whole(low, low + width)) <= low + width


@given(st.integers(0, 20), st.integers(0, 30), st.data())
def test_texts_stay_within_their_lengths(shortest: int, more: int, data: st.DataObject) -> None:
    assert shortest <= len(data.draw(AMOUNTS.text(shortest, shortest + more))) <= shortest + more


class Span:
    def __init__(self, low: int, high: int) -> None:
        if low > high:
            raise ValueError("low is above high")
        self.low, self.high = low, high


@given(fitting(Span, low=st.integers(0, 3), high=st.integers(0, 3)))
def test_records_fulfil_their_invariants(span: Span) -> None:
    assert span.low <= span.high


def right(text: str) -> bool:
    return len(text) >= 4 and text.isascii() and text[-3] == "." and (text[:-3] + text[-2:]).isdigit()


WRONG: dict[str, Callable[[str], bool]] = {
    "one character too many": lambda t: len(t) > 4 and right(t),
    "one too few": lambda t: len(t) >= 3 and t.isascii() and t[-3] == "." and (t[:-3] + t[-2:]).isdigit(),
    "digits of any script": lambda t: len(t) >= 4 and t[-3] == "." and (t[:-3] + t[-2:]).isdigit(),
    "one place not looked at": lambda t: len(t) >= 4 and t.isascii() and t[-3] == "." and t[-2:].isdigit(),
    "any sign for the point": lambda t: len(t) >= 4 and t.isascii() and (t[:-3] + t[-2:]).isdigit(),
}


@pytest.mark.parametrize("bug", WRONG)
def test_a_bug_at_a_boundary_is_found_by_as_many_examples_as_a_claim_is_tested_with(bug: str) -> None:
    @settings(
        max_examples=300, derandomize=True, database=None, deadline=None, phases=(Phase.generate,),
        suppress_health_check=(HealthCheck.too_slow, HealthCheck.filter_too_much),
    )  # fmt: skip
    @given(AMOUNTS.text())
    def agrees(text: str) -> None:
        assert WRONG[bug](text) == right(text)

    with pytest.raises(AssertionError):
        agrees()


def once(values: Sequence[int]) -> int:
    return sum(1 for value in values if value)


def pairs(values: Sequence[int]) -> int:
    return sum(1 for a in values for b in values if a == b)


def halves(values: Sequence[int]) -> int:
    left, count = len(values), 0
    while left:
        left, count = left // 2, count + 1
    return count


@pytest.mark.parametrize(("work", "degree"), [(halves, 0), (once, 1), (pairs, 2), (once, 2)])
def test_what_grows_no_faster_than_promised_passes(work: Callable[[Sequence[int]], int], degree: int) -> None:
    grows("O(n)", degree, lambda n: work(sized((3, 1, 2), n)))


@pytest.mark.parametrize(("work", "degree"), [(once, 0), (pairs, 1), (pairs, 0)])
def test_what_grows_faster_fails_and_says_how(work: Callable[[Sequence[int]], int], degree: int) -> None:
    with pytest.raises(AssertionError, match=r"steps grow as n\^[12]\.\d \(n = 8: "):
        grows("O(1)", degree, lambda n: work(sized((3, 1, 2), n)))
