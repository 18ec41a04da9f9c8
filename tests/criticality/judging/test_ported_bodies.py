"""What holds of Python's bodies holds of other languages': no wrong one is accepted, and every right one is."""

from __future__ import annotations

import pytest
import seeded
from tools_here import require

from criticality.judging.judge import Judge

pytestmark = pytest.mark.toolchain
LANGUAGES = ("go", "typescript", "rust")


def accepted(one: seeded.Project, name: str, body: str = "") -> bool:
    with Judge(seeded.hearing(one, seeded.unit_of(one, name), {name: body} if body else {})) as judge:
        verdict = judge.heard()
    return not verdict.faults and verdict.guilty is None


@pytest.mark.parametrize("target", LANGUAGES)
async def test_wrong_bodies_of_a_language_fall_and_a_right_one_stands(target: str) -> None:
    await require(target)
    versions, slots = (seeded.ported(name, target) for name in ("versions", "slots"))
    assert [body for body in versions.wrong[2:5] if accepted(versions, *body)] == []
    assert accepted(slots, "times.book") and not accepted(slots, *slots.wrong[4])


@pytest.mark.long
@pytest.mark.parametrize(("name", "target"), [(name, t) for t in LANGUAGES for name in seeded.table("ported")[t]])
async def test_of_a_language_s_wrong_bodies_none_is_accepted_and_every_right_one_is(name: str, target: str) -> None:
    await require(target)
    one = seeded.ported(name, target)
    assert [function for function in one.right if not accepted(one, function)] == []
    assert [pair for pair in one.wrong if accepted(one, *pair)] == []
