"""What becomes of a prompt that is too long: shortened, for a larger model, divided, or a question to a person."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from turnstile_system import ANSWERS, GATE, PARITY, Script, needs_toolchain

from criticality import Resolution, read_project
from criticality.artifacts import Artifacts
from criticality.budget import OVERLAP, ContextLimits, ContextOverflow, Spare, fit, in_parts, parts
from criticality.context import implement_values, spare
from criticality.languages import language
from criticality.machine.states import Active
from llm_runtime.tokens import estimate_tokens

LIMITS = ContextLimits(worker=100, auditor=400, structurer=1000, architect=1000)


def render(values: Mapping[str, str]) -> str:
    return "".join(values.values())


def of(count: int) -> str:
    return "x" * (count * 4)


SPARE = [Spare("comments", {"doc": ""}), Spare("relatedTypes", {"types": ""})]


@pytest.mark.parametrize(
    ("sizes", "role", "left_out"),
    [
        ({"doc": 10, "types": 10, "rest": 80}, "worker", ()),  # it fits
        ({"doc": 10, "types": 10, "rest": 90}, "worker", ("comments",)),  # mild: the least is left out first
        ({"doc": 5, "types": 10, "rest": 95}, "worker", ("comments", "relatedTypes")),
        ({"doc": 5, "types": 5, "rest": 110}, "fallback1", ()),  # mild, but there is too little to leave out
        ({"doc": 10, "types": 10, "rest": 110}, "fallback1", ()),  # moderate: a larger model, and all of it
        ({"doc": 100, "types": 10, "rest": 700}, "fallback1", ()),
        ({"doc": 100, "types": 10, "rest": 950}, "fallback1", ("comments",)),
    ],
)
def test_how_much_too_long_it_is_decides(sizes: dict[str, int], role: str, left_out: tuple[str, ...]) -> None:
    fitted = fit("worker", {name: of(size) for name, size in sizes.items()}, render, LIMITS, SPARE)
    assert (fitted.role, fitted.left_out) == (role, left_out)
    assert of(sizes["rest"]) in fitted.text, "a signature, contracts and instructions stay"


def test_an_auditor_gives_to_the_architect_and_nobody_takes_what_is_too_long_for_all() -> None:
    assert fit("auditor", {"a": of(600)}, render, LIMITS).role == "architect"
    with pytest.raises(ContextOverflow, match=r"2,000 tokens.*\[context\] in criticality.toml") as caught:
        fit("auditor", {"a": of(2000)}, render, LIMITS)
    assert (caught.value.tokens, caught.value.limit) == (2000, 400)


@given(st.integers(0, 1500), st.integers(0, 400), st.sampled_from(["worker", "auditor", "structurer", "architect"]))
def test_what_is_sent_always_fits_whoever_gets_it(size: int, doc: int, role: str) -> None:
    try:
        fitted = fit(role, {"rest": of(size), "doc": of(doc)}, render, LIMITS, [Spare("comments", {"doc": ""})])
    except ContextOverflow:
        assert size > 1000 or size + doc > 1200
    else:
        assert estimate_tokens(fitted.text) <= LIMITS.of(fitted.role)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=12), st.integers(250, 600))
def test_parts_of_an_audit_end_with_a_module_and_begin_with_the_last_lines_before(
    lengths: list[int], room: int
) -> None:
    modules = ["\n".join(f"m{m} line {n}" for n in range(length)) for m, length in enumerate(lengths)]
    divided = parts(modules, room)
    assert all(estimate_tokens(part) <= room for part in divided)
    assert all(any(module in part for part in divided) for module in modules), "every module is whole in a part"
    for before, after in pairwise(divided):
        module = next(m for m in modules if m in after and m not in before)
        overlap = after[: after.index(module)].splitlines()
        assert len(overlap) <= OVERLAP
        assert before.splitlines()[len(before.splitlines()) - len(overlap) :] == overlap


async def test_an_audit_is_asked_once_where_it_fits_and_for_each_part_where_it_does_not() -> None:
    async def ask(item: str, text: str) -> str:
        fit("auditor", {"rest": of(200), "contracts": text}, render, LIMITS)
        return item

    assert await in_parts("temporal", ["one", "two"], ask) == ["temporal"]
    large = [f"{n}" * 400 for n in range(9)]
    assert await in_parts("temporal", large, ask) == [f"temporal-part-{n}" for n in range(1, 10)]
    with pytest.raises(ContextOverflow, match="one module's contracts"):
        await in_parts("temporal", ["y" * 4000], ask)


@needs_toolchain
@pytest.mark.asyncio(loop_scope="module")
async def test_a_function_loses_its_purpose_first_then_types_that_its_signature_does_not_name(
    project: Path, drive: Any
) -> None:
    def begun(state: Any) -> bool:
        return isinstance(state, Active) and state.phase.phase == "injection"

    await drive(project, Script(), until=begun)
    artifacts: Artifacts = read_project(project)[1]
    python = language("python")
    failure = {"kind": "test", "what": ["first: no", "second: no"]}
    found = {part.section: part.values for part in spare(python, artifacts, "gate.enter", failure)}
    assert list(found) == ["comments", "examples", "relatedTypes", "requiredTypes"]
    whole = implement_values(python, artifacts, "gate.enter")
    assert "PURPOSE: Let one" in whole["functions"] and "PURPOSE" not in found["comments"]["functions"]
    assert "ENSURES" in found["comments"]["functions"] and "def enter" in found["comments"]["functions"]
    assert "first: no" in found["examples"]["summary"] and "second" not in found["examples"]["summary"]
    assert "class Count(" in whole["types"] and "class Gate" in found["relatedTypes"]["types"]
    assert "class Count(" not in found["relatedTypes"]["types"]
    assert "__post_init__" in found["relatedTypes"]["types"], "a definition is left whole"
    assert "Gate" not in found["requiredTypes"]["types"]


def wordy(module: dict[str, Any]) -> dict[str, Any]:
    """A module whose contracts are long: prose that guides and is not checked."""
    first, *rest = module["functions"]
    prose = [f"ENSURES: whoever reads clause {n} learns nothing new but {'much ' * 50}" for n in range(8)]
    return {**module, "functions": [{**first, "contracts": [*first["contracts"], *prose]}, *rest]}


WORDY = {"lattice/gate": wordy(GATE), "lattice/parity": wordy(PARITY)}


@needs_toolchain
@pytest.mark.asyncio(loop_scope="module")
async def test_an_audit_is_done_in_parts_and_what_cannot_be_blocks_until_the_limits_are_raised(
    project: Path, drive: Any
) -> None:
    def audited(state: Any) -> bool:
        return isinstance(state, Active) and state.phase.phase == "compositionAudit"

    await drive(project, Script(**WORDY), until=audited)
    config = (project / "criticality.toml").read_text()
    narrow = "".join(f"{name} = 1800\n" for name in ("auditor", "structurer", "architect"))
    (project / "criticality.toml").write_text(f"{config}\n[context]\n{narrow}")
    found = {
        "contradictions_found": [
            {"id": "TEMPORAL_001", "severity": "warning", "involved": ["x"], "analysis": "Perhaps it is late."}
        ]
    }
    script = Script(**{"composition_audit": found})
    result = await drive(project, script)
    assert result.type == "blocked" and result.state.reason == "context_overflow", result
    assert "raise [context]" in result.state.query.question
    assert [option.id for option in result.state.query.options] == ["retry", "restructure", "restate"]
    asked = [label for label in script.asked if "/temporal-part-" in label]
    assert len(asked) == 2, "one part for each of the two modules"
    reported = [c["id"] for c in read_project(project)[1].contradictions if c["id"].startswith("TEMPORAL")]
    assert reported == ["TEMPORAL_001", "TEMPORAL_002"], "what any part finds is found, under names of its own"

    (project / "criticality.toml").write_text(config)
    answers = ANSWERS.model_copy(update={"resolutions": [Resolution(option="retry")]})
    later = Script()
    assert (await drive(project, later, answers=answers)).type == "completed"
    assert not any("/temporal" in label for label in later.asked), "what was audited is not asked again"
