"""Work that grows faster than promised is seen though it does in one regime of the input alone."""

from __future__ import annotations

import pytest
import seeded
from turnstile_system import needs_toolchain

from criticality.judging.judge import Judge
from criticality.judging.values import Counts

pytestmark = needs_toolchain
TABLE = seeded.table("growing")
#: What is distinct in a text, half of what is distinct twice, signs within each other.
ALWAYS = [("distinct", 3), ("orders", 3), ("texts", 0)]


def faults(name: str, body: dict[str, str]) -> list[str]:
    ((function, text),) = body.items()
    hearing = seeded.hearing(
        seeded.ruled_out(name, "growing"),
        [f"it.{function}"],
        {f"it.{function}": text},
        counts=Counts(60, 40, 40, long=0),
    )
    with Judge(hearing) as judge:
        verdict = judge.heard()
    assert verdict.measured == [f"it.{function}"]
    return [fault.kind for fault in verdict.faults]


@pytest.mark.parametrize(("name", "at"), ALWAYS)
def test_what_grows_faster_in_one_regime_is_refused(name: str, at: int) -> None:
    assert faults(name, TABLE[name]["wrong"][at]) == ["complexity"]


@pytest.mark.long
@pytest.mark.toolchain
@pytest.mark.parametrize("name", TABLE)
def test_all_that_grows_faster_is_refused_and_all_that_keeps_its_word_is_not(name: str) -> None:
    assert [body for body in TABLE[name]["right"] if faults(name, body) != []] == []
    assert [body for body in TABLE[name]["wrong"] if faults(name, body) != ["complexity"]] == []
