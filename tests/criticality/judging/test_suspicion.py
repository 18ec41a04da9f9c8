"""When a test is suspected: bodies in a row that fail it alone, and all alike."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from criticality.judging.hearing import Fault, Verdict
from criticality.suspicion import agreeing

FAULTS = [
    Fault("test", "gate.enter", f"claim {claim}.t", what, claim=claim, test="t")
    for claim in ("one", "two")
    for what in ("7 for 8", "9 for 8")
]
OF_A_CLAUSE = Fault("semantic", "gate.enter", "the result is even", "7 is odd")


@given(st.lists(st.sampled_from([[one] for one in FAULTS] + [[OF_A_CLAUSE], [FAULTS[0], OF_A_CLAUSE]]), max_size=6))
def test_only_bodies_in_a_row_that_fail_one_test_alike_agree_against_it(row: list[list[Fault]]) -> None:
    failure: dict[str, Any] | None = None
    alike = 0
    for number, faults in enumerate(row):
        alike = alike + 1 if number and row[number - 1] == faults else 1
        found = {"kind": "test", "what": [fault.what for fault in faults]}
        failure = agreeing(found, Verdict(faults=faults), failure)
        assert failure.get("agreed") == (alike if len(faults) == 1 and faults[0].claim else None)
