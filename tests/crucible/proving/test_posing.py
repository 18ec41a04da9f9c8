"""What the judge poses beside a witness, whatever that asserts itself."""

from __future__ import annotations

import pytest

from crucible.proving import records
from crucible.proving.posing import broken, posed, posing
from crucible.proving.records import FailedTest

_BAG = """from shop import Bag


def test_it():
    x = Bag([1, 2, 3])
    x.drop(2)
    assert list(x[0:2]) == [1, 3]
"""


def _laws(test: str) -> set[str]:
    return {one.law for one in posed(test, len(test.splitlines()))}


def test_what_a_witness_makes_is_asked_for_the_laws_of_things_at_the_places_that_it_asks():
    tests = posed(_BAG, 7)
    source, last = posing(tests)
    lines = source.splitlines()

    assert {"sequence", "sequence_shaped", "again", "copy"} <= _laws(_BAG)
    assert "    assert list(x[0:2]) == list(x)[0:2]" in [lines[at - 1] for at in last]
    assert all("x = Bag([1, 2, 3])\nx.drop(2)" in one.lines and "[1, 3]" not in one.lines for one in tests)


def test_what_an_iterator_gives_is_asked_of_a_list_too_and_a_literal_is_asked_for_afterwards():
    test = "from shop import total\n\n\ndef test_it():\n    assert list(total(iter([1, 2]), [3])) == [6]\n"
    lines = {one.law: one.lines.splitlines()[-1] for one in posed(test, 5)}

    both = "len(list(total({}([1, 2]), [3])))"
    assert lines["iterable"] == f"assert {both.format('iter')} == {both.format('list')}"
    assert lines["kept"] == "assert given == [3]"
    assert {one.of for one in posed(test, 5)} == {"total"}


@pytest.mark.parametrize(
    "test",
    [
        "class Mine:\n    pass\n\n\ndef test_it():\n    x = Mine()\n    assert x == 1\n",
        "def test_it(bag):\n    x = bag(1)\n    assert x == 1\n",
        "def list(x):\n    return x\n\n\ndef test_it():\n    x = Bag(1)\n    assert x == 1\n",
        "from shop import f as hash\n\n\ndef test_it():\n    x = Bag(1)\n    assert hash(x) == 1\n",
        "async def test_it():\n    x = Bag(1)\n    assert x == 1\n",
        "@pytest.mark.parametrize('a', [1])\ndef test_it(a):\n    x = Bag(a)\n    assert x == 1\n",
    ],
)
def test_nothing_is_posed_where_a_name_of_the_witness_may_mislead(test: str):
    assert posed(test, len(test.splitlines())) == []


def _ran(failure: FailedTest | None) -> list[records.TestRun]:
    outcome = "failed" if failure else "passed"
    return [records.TestRun(name="t.py::test_0", outcome=outcome, failure=failure)]


def test_a_law_is_broken_where_its_last_statement_alone_fails_and_the_fix_mends_it():
    test = next(one for one in posed(_BAG, 7) if one.law == "again")
    early, late = (FailedTest(kind="assertion", type="AssertionError", line=line) for line in (3, 5))
    meant = FailedTest(kind="raised", type="ValueError", line=5)

    def says(*states: FailedTest | None) -> bool:
        base, fixed, *heads = [_ran(one) for one in states]
        return broken([test], [5], [base, fixed, *heads]) == [test]

    assert says(None, None, late, late)
    assert not says(late, None, late, late), "the base breaks it too"
    assert not says(None, late, late, late), "the fix leaves it broken"
    assert not says(None, None, early, late), "what the law starts from does not hold"
    assert not says(None, None, late, None), "in other surroundings it holds"
    assert not says(None, None, meant, meant), "an error that a line means"
