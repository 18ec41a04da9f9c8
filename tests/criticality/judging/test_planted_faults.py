"""A wrong callee, a test that nothing can pass and one that everything passes: a project ends without a person."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import seeded
from turnstile_system import ANSWERS, clock, needs_toolchain

from criticality import AnswersFile, Orchestrator, create_project
from criticality import events as e
from criticality.machine.states import Active, SelectingFunction
from criticality.tree import function_key
from llm_runtime.messages import Generate, Request
from llm_runtime.providers.scripted import scripted

pytestmark = [needs_toolchain, pytest.mark.toolchain, pytest.mark.long]

#: A claim of each project, its functions, and its test: variables, assumptions, steps, checks; then a check that no
#: body passes, and an accepted body that breaks its contract.
PLANTED: dict[str, tuple[str, list[str], list[str], list[str], list[str], str, str, tuple[str, str] | None]] = {
    "blocks": (
        "merge_001", ["areas.merged"], ["blocks: List<Block>"], ["ranges = merged(blocks)"],
        ["all(any(r.first <= b.network for r in ranges) for b in blocks)"], "ranges == list(ranges)", "ranges",
        ("areas.last_of", "return Address(block.network)"),
    ),
    "slots": (
        "free_001", ["times.book"], ["slot: Slot"], ["after = book(Day(()), slot)"], ["after.slots == (slot,)"],
        "after.slots == [slot]", "after",
        ("times.overlap", "return one.start <= other.end and other.start <= one.end"),
    ),
    "versions": (
        "order_001", ["versions.newest"], ["version: Version"], ["best = newest((version,))"], ["best == version"],
        "best == [version]", "best",
        ("versions.newer", "return one.major > other.major or one.patch > other.patch"),
    ),
    "runs": (
        "back_001", ["runs.packed"], ["sign: Sign"], ["runs = packed(sign)"], ["runs == (Run(sign, Times(1)),)"],
        "runs == [Run(sign, Times(1))]", "runs", ("runs.unpacked", 'return "".join(run.sign for run in runs)'),
    ),
    "turnstile": (
        "room_001", ["gate.enter"], ["limit: Count"], ["after = enter(Gate(Count(0), Count(limit + 1)))"],
        ["after.inside == 1"], "after == [after]", "after", None,
    ),
    "kitty": (
        "split_001", ["money.even_split"], ["amount: Amount", "count: HeadCount"],
        ["shares = even_split(amount, count)"], ["len(shares) == count"], "shares == list(shares)", "shares",
        ("members.everyone", "return tuple(sorted(set(group.members)))"),
    ),
}  # fmt: skip


def model(one: seeded.Project, name: str) -> Generate:
    """Right bodies for everything; tests of claims that are empty at first, then impossible, then good."""
    claim_id, functions, variables, steps, good, impossible, tautology, _ = PLANTED[name]

    def claims(check: list[str]) -> dict[str, Any]:
        test = {"name": "planted", "variables": variables, "steps": steps, "check": check}
        if name == "turnstile":
            test["assume"] = ["limit < 40"]
        planted = {
            "id": claim_id, "type": one.spec.claims[claim_id].type, "subject": "it", "predicate": "so",
            "functions": functions, "tests": [test],
        }  # fmt: skip
        bare = [
            {"id": other, "type": claim.type, "subject": "it", "predicate": "so", "scope": "shown elsewhere"}
            for other, claim in one.spec.claims.items()
            if other != claim_id and claim.testable
        ]
        return {"claims": [planted, *bare]}

    def answer(request: Request) -> str:
        phase, item, attempt = request.label.phase, request.label.seat.partition(":")[0], request.label.attempt
        match phase, item:
            case "ignition", "features":
                return '{"features": []}'
            case "ignition", "challenge":
                return '{"challenges": []}'
            case "ignition", _:
                return json.dumps({"spec": one.spec.model_dump(mode="json"), "decisions": []})
            case "lattice", "structure":
                outline = [
                    {"name": m.name, "purpose": m.purpose, "functions": [f.name for f in m.functions]} for m in one.plan
                ]
                return json.dumps({"modules": outline})
            case "lattice", _:
                return next(m for m in one.plan if m.name == item).model_dump_json()
            case "composition_audit", _:
                return '{"contradictions_found": []}'
            case "tests", "claims":
                return json.dumps(claims([f"{tautology} == {tautology}"] if attempt == 1 else [*good, impossible]))
            case "tests", _:
                return json.dumps(claims(good)["claims"][0])
            case "injection", _ if "+settle" in item:
                return '{"right": "both"}'
            case "injection", _:
                names = item.split("+")
                if len(names) == 1:
                    return one.right[item]
                return "\n".join(f"### {n.partition('.')[2]}\n```\n{one.right[n]}\n```" for n in names)
            case "mesoscopic", _:
                return '{"scenarios": []}'
            case _:
                return '{"decision": "skip", "guard": "nothing to gain"}'

    return scripted(answer)


async def planted(orchestrator: Orchestrator, callee: str, body: str) -> None:
    """Accept a wrong body, as if nothing had told it from a right one."""
    work = orchestrator.artifacts
    await orchestrator.take(e.FunctionSelected(unit=callee))
    received = e.ImplementationReceived(unit=callee, attempt=1, tier="worker", bodies={callee: body})
    await orchestrator.take(received)
    keys = {callee: function_key(orchestrator.language, work, callee)}
    await orchestrator.take(
        e.VerificationPassed(unit=callee, attempt=1, tier="worker", bodies={callee: body}, keys=keys)
    )


@pytest.mark.parametrize("name", PLANTED)
async def test_it_ends_by_itself(name: str, tmp_path: Path) -> None:
    one, seen = seeded.project(name), Counter[str]()
    root = tmp_path / "project"
    create_project(root, one.spec.system.name, seed=7, clock=clock)
    with (root / "criticality.toml").open("a") as file:
        file.write("\n[acceptance]\nindependent_bodies = 0\nmutants = 2\nsmall = 60\ntext = 100\ndrawn = 40\n")
        file.write("[orchestrator]\nmesoscopic_examples = 40\n")
    wrong = PLANTED[name][-1]

    def watch(event: Any) -> None:
        seen[event.type.rpartition(".")[2]] += 1

    def ready(state: Any) -> bool:
        phase = state.phase if isinstance(state, Active) else None
        return isinstance(phase, SelectingFunction) and wrong is not None and wrong[0] in phase.progress.remaining

    human = AnswersFile(ANSWERS)
    async with Orchestrator(root, model(one, name), human=human, emit=watch, clock=clock) as orchestrator:
        if wrong is not None:
            await orchestrator.run(until=ready)
            await planted(orchestrator, *wrong)
        result = await orchestrator.run()
    assert result.type == "completed", getattr(result.state, "query", result.state).question
    assert seen["test_suspected"] == 1, "the impossible test was derived anew"
    if wrong is not None:
        assert seen["callee_blamed"] >= 1
        assert orchestrator.artifacts.bodies[wrong[0]].text == one.right[wrong[0]]
