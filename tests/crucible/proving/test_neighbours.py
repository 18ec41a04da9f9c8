"""Neighbours of a witness's literals: a fix that is bent for the input of the test is none."""

from __future__ import annotations

import pytest
from tests.crucible.proving.shop import Shop, witness

from crucible.proving.neighbours import neighbours, swerving

REST = "return items[-1]"


def test_one_literal_of_a_call_is_otherwise_in_each() -> None:
    drawn = neighbours("f([1, b'ab'], \"c'\")")
    assert drawn[:4] == ["f([2, b'ab'], \"c'\")", "f([1, b'a'], \"c'\")", "f([1, b'ab'], 'c')", "f([0, b'ab'], \"c'\")"]
    assert len(drawn) == 15 and not neighbours("f(x)") and len(neighbours("f(1, 2, 3, 4, 5, 6)")) == 20


@pytest.mark.parametrize(
    ("base", "head", "fixed", "name"),
    [
        ("1234", "1234", "1234", ""),
        ("1234", "9994", "1234", ""),
        ("1234", "9994", "1994", ""),
        ("1234", "9994", "9994", "0"),
        ("1234", "9934", "9934", ""),
        ("1234", "9994", "1235", "3"),
    ],
    ids=["nothing moves", "taken back", "a part is meant", "all but the test's", "too few to tell", "a new answer"],
)
def test_a_fix_takes_back_more_than_one_input_and_touches_no_other(base: str, head: str, fixed: str, name: str) -> None:
    assert swerving(*({str(at): one for at, one in enumerate(told)} for told in (base, head, fixed))) == name


@pytest.mark.box
async def test_a_fix_that_is_bent_for_the_input_of_the_test_is_refused(shop: Shop) -> None:
    change = shop.change("shop/lists.py", ("return items[0]", REST))
    body, call = "assert lists.first([5, 7]) == 5", "from shop import lists\nlists.first([5, 7])"
    bent = await shop.judged(change, witness(body, (REST, "return items[-1] - 2 * (sum(items) == 12)"), call=call))
    assert bent.verdict == "not reproduced" and "made for the test's own values" in bent.refused, bent
    assert "was " in bent.refused and bent.checks[-1].check == "neighbours"
    for fix in ("return items[0]", "return items[:1][0]"):
        whole = await shop.judged(change, witness(body, (REST, fix), call=call))
        assert whole.verdict == "changed", whole
