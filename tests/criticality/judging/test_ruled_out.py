"""Bodies that a stated clause rules out are refused, and right ones are not: projects in one table."""

from __future__ import annotations

import pytest
import seeded
from turnstile_system import needs_toolchain

from criticality.checks import failure_of
from criticality.judging.judge import Judge

pytestmark = needs_toolchain
TABLE = seeded.table("ruled_out")
#: A few are tried always: a small domain, related items, neighbours, the points of a structure, brackets within
#: each other, texts just outside of a form, square tables, sums that come to nothing, one item again and again, names
#: of the language, thousandths, letters of other alphabets, what stands around a form, other ends of lines, the least
#: fractions, enums, days of leap years and beside them, letters whose other case is in ASCII, orders by
#: letters of either case.
ALWAYS = [
    ("dates", 1), ("book", 5), ("spans", 13), ("merging", 9), ("nested", 1), ("nested", 3), ("tables", 1),
    ("index", 3), ("rows", 12), ("named", 0), ("named", 1), ("named", 2), ("named", 3),
    ("rates", 0), ("rates", 1), ("rates", 2), ("cases", 0), ("cases", 1),
    ("edges", 1), ("edges", 3), ("edges", 5), ("sides", 0), ("sides", 1),
    ("calendars", 0), ("calendars", 1), ("calendars", 3), ("ages", 0), ("ages", 1), ("cases", 3),
    ("ranked", 0), ("ranked", 1),
]  # fmt: skip


def accepted(name: str, body: dict[str, str]) -> bool:
    ((function, text),) = body.items()
    project = seeded.ruled_out(name)
    with Judge(seeded.hearing(project, [f"it.{function}"], {f"it.{function}": text})) as judge:
        verdict = judge.heard()
    return failure_of(verdict) is None and verdict.guilty is None


@pytest.mark.parametrize(("name", "at"), ALWAYS)
def test_what_a_clause_rules_out_is_refused(name: str, at: int) -> None:
    assert not accepted(name, TABLE[name]["wrong"][at])


def test_members_of_an_enum_may_be_written_in_capitals() -> None:
    assert [body for body in TABLE["sides"]["right"] if not accepted("sides", body)] == []


def test_a_body_may_branch_on_what_no_clause_can_say() -> None:
    assert accepted("ages", TABLE["ages"]["right"][1])


def test_a_long_result_of_a_function_beside_it_refuses_no_right_body() -> None:
    assert accepted("handed", TABLE["handed"]["right"][0])


@pytest.mark.long
@pytest.mark.toolchain
@pytest.mark.parametrize("name", TABLE)
def test_all_that_a_clause_rules_out_is_refused_and_all_that_is_right_is_not(name: str) -> None:
    assert [body for body in TABLE[name]["right"] if not accepted(name, body)] == []
    assert [body for body in TABLE[name]["wrong"] if accepted(name, body)] == []
