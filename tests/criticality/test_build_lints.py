"""What a lint refuses twice costs a note, and neither a function nor the build."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from turnstile_system import CLAIMS, SPEC, Script, needs_toolchain

from assay.protocols.criticality.report import BuildFold
from criticality import read_project
from criticality.machine.states import Active, ProtocolState
from criticality.trace import trace, trace_markdown

UNREADABLE = {"name": "unreadable", "steps": ["after = enter(nobody)"], "check": ["after.inside == 1"]}
WHY = "room_001.unreadable: 'enter(nobody)' uses nobody, which nothing defines"


def with_unreadable(claims: dict[str, Any]) -> dict[str, Any]:
    """The claims with a test more that speaks of what nothing defines."""
    claims = copy.deepcopy(claims)
    next(one for one in claims["claims"] if one["id"] == "room_001")["tests"].append(UNREADABLE)
    return claims


def written(state: ProtocolState) -> bool:
    return isinstance(state, Active) and state.phase.phase == "injection"


@needs_toolchain
@pytest.mark.asyncio(loop_scope="module")
async def test_a_claim_and_a_test_that_cannot_be_judged_are_left_out_with_a_note(project: Path, drive: Any) -> None:
    script = Script(**{"tests/claims": with_unreadable(CLAIMS)})
    script.spec["claims"]["short_001"] = {"text": "two words", "type": "behavioral"}
    fold = BuildFold()
    told: list[str | None] = []

    def hear(event: Any) -> None:
        fold.apply(event, 0)
        told.append(fold.announce(event))

    await drive(project, script, until=written, emit=hear)
    artifacts = read_project(project)[1]
    assert artifacts.approved.claims.keys() == SPEC["claims"].keys()
    # The model was asked once more, with the reason; the architect's list says what it lost.
    assert [label for label in script.asked if label.startswith("criticality/tests/claims")] == [
        "criticality/tests/claims:structurer/1/1", "criticality/tests/claims:structurer/1/2",
    ]  # fmt: skip
    decided = [entry["text"] for entry in artifacts.proposals[1].decisions]
    assert any(
        "the claim short_001 is left out: spec: claims.short_001: 'two words' has no subject" in t for t in decided
    )
    assert all(test.name != "unreadable" for claim in artifacts.claims.values() for test in claim.tests)
    assert artifacts.claims["room_001"].tests, "what can be judged stays"
    data = trace(artifacts)
    assert data["left_out"] == [WHY]
    assert "## Left out: these tests cannot be judged" in trace_markdown(data)
    assert any(line and f"left out, {WHY}" in line for line in told)


@needs_toolchain
@pytest.mark.asyncio(loop_scope="module")
async def test_what_breaks_the_form_of_an_answer_twice_is_left_out_with_a_note(project: Path, drive: Any) -> None:
    claims = copy.deepcopy(CLAIMS)
    room = next(one for one in claims["claims"] if one["id"] == "room_001")
    sound = room["tests"][0]
    room["tests"] = [sound | {"name": "ab"}, sound, *(sound | {"name": f"again_{n}"} for n in range(5))]
    script = Script(**{"tests/claims": claims})
    await drive(project, script, until=written)
    assert sum(label.startswith("criticality/tests/claims") for label in script.asked) == 2, "asked once more"
    artifacts = read_project(project)[1]
    kept = [test.name for test in artifacts.claims["room_001"].tests]
    assert kept == [sound["name"], *(f"again_{n}" for n in range(4))]
    left_out = sorted(why.partition(":")[0] for why in trace(artifacts)["left_out"])
    assert left_out == ["room_001.ab", "room_001.again_4"]


@needs_toolchain
@pytest.mark.asyncio(loop_scope="module")
async def test_a_claim_that_keeps_no_test_is_named_with_the_reason(project: Path, drive: Any) -> None:
    claims = with_unreadable(CLAIMS)
    room = next(one for one in claims["claims"] if one["id"] == "room_001")
    room["tests"] = [UNREADABLE]
    await drive(project, Script(**{"tests/claims": claims}), until=written)
    assert trace(read_project(project)[1])["claims"]["room_001"]["result"] == f"not shown: {WHY}"


@needs_toolchain
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.long
async def test_a_scenario_that_cannot_be_judged_costs_a_note(project: Path, drive: Any) -> None:
    scenario = UNREADABLE | {"claim": "room_001", "name": "crowded"}
    end = await drive(project, Script(**{"mesoscopic/room": {"scenarios": [scenario]}}))
    assert end.type == "completed"
    (why,) = json.loads((project / "trace.json").read_text())["left_out"]
    assert why.startswith("room_001.crowded: ")
