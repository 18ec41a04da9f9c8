"""One command's worth: a second specification from interview to deliverable, killed, resumed, and fed bad input."""

from __future__ import annotations

import errno
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from turnstile_system import ANSWERS, GATE, PARITY, Script, clock, needs_toolchain

from criticality import Orchestrator, Resolution, read_project
from criticality.machine.states import Active, Blocked
from llm_runtime.errors import CallTimeout, ConfigurationError, StoreBusy, StoreDamaged, StoreUnwritable
from llm_runtime.events import Event

pytestmark = [needs_toolchain, pytest.mark.asyncio(loop_scope="module")]


def tree(root: Path) -> dict[str, bytes]:
    """Every file of a project but the journal and the lock, whose lines depend on when a kill came."""
    skip = {".criticality/events.jsonl", ".criticality/lock", ".criticality/state.json", ".criticality/telemetry.json"}
    found = {str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}
    return {name: data for name, data in found.items() if name not in skip}


async def test_from_interview_to_a_deliverable_whose_tests_pass_outside_the_tool(project: Path, drive: Any) -> None:
    script = Script()
    result = await drive(project, script)
    assert result.type == "completed"
    assert len(script.asked) == len(set(script.asked)), "no question was put twice"
    source = (project / "src/turn_stile/gate.py").read_text()
    assert "raise Full" in source and "NotImplementedError" not in source
    outside = subprocess.run(  # noqa: ASYNC221 - nothing else runs in this test
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    assert outside.returncode == 0, outside.stdout[-2000:]
    assert "2 passed" not in outside.stdout and "README.md" in (project / "pyproject.toml").read_text()


async def test_the_deliverable_is_a_project_that_one_would_keep(project: Path, drive: Any) -> None:
    await drive(project, Script())
    readme = (project / "README.md").read_text()
    assert ">>> from turn_stile import Count, Gate, enter" in readme and ">>> enter(" in readme
    gate = (project / "src/turn_stile/gate.py").read_text()
    assert '"""Let one person in.\n\n    Raises:\n        Full: The room holds no more\n    """' in gate
    assert "ENSURES" not in gate and "replace" not in gate, "contracts have a page, imports are those that are used"
    assert "ENSURES: gate.inside == gate.limit implies raises(Full)" in (project / "docs/contracts.md").read_text()
    public = (project / "src/turn_stile/__init__.py").read_text()
    assert '"enter",' in public and "is_even" not in public, "what no interface offers is not public"
    linted = subprocess.run(  # noqa: ASYNC221 - nothing else runs in this test
        [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F,I,E7,UP", "."],
        cwd=project, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert linted.returncode == 0, linted.stdout
    for path in (project / "tests").rglob("test_*.py"):
        rows = [line for line in path.read_text().split("\n") if line.startswith("        (")]
        assert len(rows) == len(set(rows)), "a call stands once"
        assert len(rows) <= 260, "as many as kill a changed body, and some beside"
    trace = (project / "trace.md").read_text()
    assert "pip-audit: not run" in trace or "pip-audit: nothing found" in trace
    assert "0 cases are left open" in trace and len(trace.splitlines()) < 60


async def test_the_trace_names_every_claim_and_says_what_was_not_shown(project: Path, drive: Any) -> None:
    await drive(project, Script())
    trace = json.loads((project / "trace.json").read_text())
    assert {name: claim["result"] for name, claim in trace["claims"].items()} == {
        "room_001": "holds in every test",
        "room_002": "not shown: not testable, says the specification",
        "parity_001": "holds in every test",
    }
    assert trace["claims"]["room_001"]["contracts"] == ["gate.enter"]
    told = trace["functions"]["gate.enter"]
    assert told["cases"] > 100 and told["changes_noticed"] == told["changes"] >= 4
    assert told["suite"][0] == told["suite"][1] >= 4, "the delivered tests tell what the judge rejects"
    assert "room_002" in (project / "trace.md").read_text()


async def test_a_worker_sees_signature_contracts_types_and_planned_callees_and_nothing_else(
    project: Path, drive: Any
) -> None:
    script = Script()
    await drive(project, script)
    prompt = next(text for label, text in script.prompts.items() if "/injection/gate.enter" in label)
    assert "def enter(gate: Gate) -> Gate:" in prompt and "class Gate" in prompt and "ENSURES" in prompt
    for secret in ("is_even", "A room fills up", "room_002", "keep it small", "Counts are whole"):
        assert secret not in prompt


def in_lattice(state: Any) -> bool:
    return isinstance(state, Active) and state.phase.phase == "lattice"


class Killed(BaseException):
    """The process ends here."""


async def test_killed_after_every_event_it_resumes_without_asking_again_and_ends_byte_equal(
    project: Path, drive: Any, tmp_path: Path
) -> None:
    from criticality import create_project

    undisturbed = tmp_path / "whole"
    create_project(undisturbed, "turn-stile", seed=7, clock=clock)
    (undisturbed / "criticality.toml").write_text((project / "criticality.toml").read_text())
    whole = Script()
    await drive(undisturbed, whole)
    script, kills = Script(), 0
    while True:
        heard = 0

        def die_at_the_second(event: Event) -> None:
            nonlocal heard
            heard += 1
            if heard == 2:
                raise Killed

        try:
            result = await drive(project, script, emit=die_at_the_second)
            break
        except (Killed, BaseExceptionGroup):
            kills += 1
            assert kills < 400
    assert result.type == "completed" and kills > 20
    ours, theirs = tree(project), tree(undisturbed)
    assert [name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name)] == []
    answered = [
        line for line in (project / ".criticality/events.jsonl").read_bytes().splitlines() if b'"call.finished"' in line
    ]
    digests = [json.loads(line)["data"]["digest"] for line in answered]
    assert len(digests) == len(set(digests)), "a finished call was made again"
    assert sorted(set(whole.asked)) == sorted(set(script.asked))


class Life:
    """A process that ends at a random event: just before the journal has it, or just after."""

    def __init__(self, chance: random.Random) -> None:
        self._left, self._before = chance.randint(1, 6), chance.random() < 0.5

    def clock(self) -> int:
        self._step(self._before)
        return clock()

    def heard(self, event: Event) -> None:
        self._step(not self._before)

    def _step(self, mine: bool) -> None:
        self._left -= mine
        if self._left < 0:
            raise Killed


@pytest.mark.long
async def test_killed_at_fifty_random_points_it_ends_byte_equal_and_repeats_no_call(
    project: Path, drive: Any, tmp_path: Path
) -> None:
    from criticality import create_project

    def fresh(name: str) -> Path:
        create_project(tmp_path / name, "turn-stile", seed=7, clock=clock)
        (tmp_path / name / "criticality.toml").write_text((project / "criticality.toml").read_text())
        return tmp_path / name

    undisturbed, chance, kills = fresh("whole"), random.Random(20261120), 0
    await drive(undisturbed, Script())
    while kills < 50:
        root, result = fresh(f"killed-{kills}"), None
        while result is None:
            life = Life(chance)
            try:
                result = await drive(root, Script(), emit=life.heard, clock=life.clock)
            except (Killed, BaseExceptionGroup):
                kills += 1
        assert result.type == "completed"
        ours, theirs = tree(root), tree(undisturbed)
        assert [name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name)] == []
        lines = (root / ".criticality/events.jsonl").read_bytes().splitlines()
        digests = [d["digest"] for line in lines if (d := json.loads(line)["data"])["type"] == "call.finished"]
        assert len(digests) == len(set(digests)), "a finished call was made again"


async def test_a_lattice_that_does_not_compile_is_repaired(project: Path, drive: Any) -> None:
    broken = {**GATE, "functions": [{**GATE["functions"][0], "params": ["gate: Gaet"]}]}
    script = Script(**{"lattice/gate": broken, "lattice/repair": {"modules": [GATE]}})
    result = await drive(project, script)
    assert result.type == "completed"
    repair = next(text for label, text in script.prompts.items() if "/lattice/repair" in label)
    assert "nothing defines the type Gaet" in repair


async def test_a_lattice_beyond_repair_blocks_with_a_query_and_a_person_resolves_it(project: Path, drive: Any) -> None:
    broken = {
        **GATE,
        "functions": [{**GATE["functions"][0], "contracts": ["ENSURES: gate.inside > nobody", "PURITY: pure"]}],
    }
    script = Script(**{"lattice/gate": broken, "lattice/repair": {"modules": [broken]}})
    result = await drive(project, script)
    assert result.type == "blocked"
    assert isinstance(result.state, Blocked) and result.state.reason == "structural_defect"
    assert "nobody, which nothing defines" in result.state.query.question

    answers = ANSWERS.model_copy(update={"resolutions": [Resolution(option="restructure")]})
    again = await drive(project, Script(), answers=answers)
    assert again.type == "completed"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("return Gate(", "syntax"),
        ("return gate\n\ndef evil() -> None:\n    pass", "test"),
        ("raise Full\ndef enter2(gate: Gate) -> Gate:\n    return gate", "test"),
        ("return 'open'", "type"),
        ("return gate", "test"),
        ("while True:\n    pass", "timeout"),
        ("import os\nreturn gate", "security"),
        ("return open('/etc/passwd')", "security"),
        ("return __import__('os').system('id')", "security"),
        ("return is_even(gate.inside)", "semantic"),
        ("raise NotImplementedError", "semantic"),
    ],
)
async def test_a_bad_body_is_discarded_as_what_it_is_and_the_next_one_accepted(
    project: Path, drive: Any, body: str, kind: str
) -> None:
    script = Script(**{"criticality/injection/gate.enter:worker/101/1": body})
    failures: list[dict[str, Any]] = []

    def watch(event: Event) -> None:
        if event.type == "criticality.verification_failed":
            failures.append(event.payload())

    result = await drive(project, script, emit=watch)
    assert result.type == "completed"
    assert [f["failure"]["kind"] for f in failures] == [kind]
    second = next(p for label, p in script.prompts.items() if "/injection/gate.enter" in label and label.endswith("/2"))
    assert "FAILURE TYPE" in second and "Implement from scratch" in second
    assert body not in second, "a retry is told what failed, never the code"
    assert "evil" not in (project / "src/turn_stile/gate.py").read_text()


async def test_a_function_that_no_model_can_write_blocks_after_eight_attempts_the_last_by_the_architect(
    project: Path, drive: Any
) -> None:
    script = Script(**{"injection/gate.enter": "return gate"})
    result = await drive(project, script)
    assert result.type == "blocked" and result.state.reason == "circuit_breaker"
    tried = [label for label in script.asked if "/injection/gate.enter" in label]
    assert len(tried) <= 8 and ":fallback2/" in tried[-1]


async def test_an_audit_that_finds_a_contradiction_goes_back_to_the_person(project: Path, drive: Any) -> None:
    found = {
        "contradictions_found": [
            {"id": "TEMPORAL_001", "severity": "critical", "involved": ["x"], "analysis": "It closes first.",
             "minimal_scenario": ["open", "close"], "suggested_resolution_options": ["Count them"]}
        ]
    }  # fmt: skip
    script = Script(
        **{
            "criticality/composition_audit/temporal:auditor/1/1": found,
            "composition_audit/crossVerification": {"confirmed": ["TEMPORAL_001"], "dismissed": []},
        }
    )
    result = await drive(project, script)
    assert result.type == "completed"
    assert any("/ignition/proposal-2" in label for label in script.asked)
    ledger = read_project(project)[2]
    assert any(d.source == "auditor_contradiction" for d in ledger.standing())


async def test_warnings_and_dismissed_contradictions_do_not_hold_it_up(project: Path, drive: Any) -> None:
    def finding(name: str, severity: str) -> dict[str, Any]:
        return {"contradictions_found": [{"id": name, "severity": severity, "involved": ["x"], "analysis": "Perhaps."}]}

    script = Script(
        **{
            "composition_audit/temporal": finding("TEMPORAL_001", "warning"),
            "composition_audit/resource": finding("RESOURCE_001", "critical"),
            "composition_audit/crossVerification": {"confirmed": [], "dismissed": ["RESOURCE_001"]},
        }
    )
    assert (await drive(project, script)).type == "completed"


def loosely_coupled() -> dict[str, Any]:
    """Parity in two units; what they promise together, no contract of either says."""
    even, odd = PARITY["functions"]
    return {
        **PARITY,
        "functions": [
            {**even, "contracts": ["PURITY: pure", "CLAIM_REF: parity_001"], "calls": []},
            {**odd, "contracts": ["ENSURES: result == (count % 2 == 1)", "PURITY: pure"], "calls": []},
        ],
    }


async def test_a_violated_cluster_injects_again_what_carries_the_claim(project: Path, drive: Any) -> None:
    even, odd = "criticality/injection/parity.is_even:worker", "criticality/injection/parity.is_odd:worker"
    script = Script(
        **{
            "lattice/parity": loosely_coupled(),
            f"{even}/101/1": "return True",
            f"{even}/201/1": "return count % 2 == 0",
            f"{odd}/101/1": "return count % 2 == 1",
        }
    )
    verdicts: list[tuple[str, bool, list[str]]] = []

    def watch(event: Event) -> None:
        if event.type == "criticality.verdict_handled":
            told = event.payload()
            verdicts.append((told["cluster"], told["passed"], told["violated_claims"]))

    assert (await drive(project, script, emit=watch)).type == "completed"
    assert verdicts == [
        ("room", True, []), ("parity", False, ["parity_001"]), ("room", True, []), ("parity", True, [])
    ]  # fmt: skip
    again = [label for label in script.asked if "/injection/" in label and "/201/" in label and "+" not in label]
    assert again == [f"{even}/201/1"], "only what the violated claim refers to"


async def test_a_claim_over_one_unit_is_tested_before_its_bodies_are_accepted(project: Path, drive: Any) -> None:
    weak = {
        **PARITY,
        "functions": [{**f, "contracts": ["PURITY: pure", "CLAIM_REF: parity_001"]} for f in PARITY["functions"]],
    }
    wrong = "### is_even\n```\nreturn True\n```\n### is_odd\n```\nreturn True\n```"
    unit = "criticality/injection/parity.is_even+parity.is_odd:worker"
    script = Script(**{"lattice/parity": weak, f"{unit}/101/1": wrong})
    assert (await drive(project, script)).type == "completed"
    written = [label for label in script.asked if "/injection/parity" in label and "+settle" not in label]
    assert written == [f"{unit}/101/1", f"{unit}/101/2"]
    assert "claim parity_001" in script.prompts[f"{unit}/101/2"], "the retry is told which claim broke"


async def test_a_provider_that_fails_blocks_and_nothing_is_lost(project: Path, drive: Any) -> None:
    script = Script(**{"injection/gate.enter": CallTimeout("no answer in time")})
    result = await drive(project, script)
    assert result.type == "blocked" and result.state.reason == "provider_down"
    answers = ANSWERS.model_copy(update={"resolutions": [Resolution(option="retry")]})
    later = Script()
    assert (await drive(project, later, answers=answers)).type == "completed"
    assert not any("/ignition/" in label or "/lattice/" in label for label in later.asked)


async def test_nobody_there_waits_and_goes_on_later(project: Path, drive: Any) -> None:
    waiting = await drive(project, Script(), answers=None)
    assert waiting.type == "waiting" and isinstance(waiting.state, Active)
    assert (await drive(project, Script())).type == "completed"


@pytest.mark.parametrize("decision", ["revise", "reject", "conditional"])
async def test_the_other_outcomes_of_an_approval(project: Path, drive: Any, decision: str) -> None:
    first = {"decision": decision, "feedback": "smaller", "conditions": ["At most 400 people"]}
    answers = type(ANSWERS).model_validate({**ANSWERS.model_dump(), "approvals": [first, {"decision": "approve"}]})
    script = Script()
    assert (await drive(project, script, answers=answers)).type == "completed"
    asked_again = any("/ignition/proposal-2" in label for label in script.asked)
    assert asked_again == (decision != "conditional")
    if decision == "conditional":
        assert [d.constraint for d in read_project(project)[2].standing("provisional")] == ["At most 400 people"]


async def test_two_orchestrators_do_not_work_on_one_project(project: Path, drive: Any, tools: Any) -> None:
    async with Orchestrator(project, Script().model(), clock=clock):
        with pytest.raises(StoreBusy, match="another process"):
            await drive(project, Script())


async def test_a_changed_journal_is_refused_and_a_cut_one_goes_on(project: Path, drive: Any) -> None:
    await drive(project, Script(), until=in_lattice)
    journal = project / ".criticality/events.jsonl"
    whole = journal.read_text()
    journal.write_text(whole.replace("A room fills up", "A zoom fills up"))
    with pytest.raises(StoreDamaged, match="line 2"):
        read_project(project)
    journal.write_text(whole + whole.splitlines()[-1][:40])
    assert (await drive(project, Script())).type == "completed"


async def test_a_damaged_state_file_is_made_again_from_the_journal(project: Path, drive: Any) -> None:
    await drive(project, Script())
    state = project / ".criticality/state.json"
    good = state.read_text()
    state.write_text("{")
    assert (await drive(project, Script())).type == "completed"
    assert state.read_text() == good


async def test_what_lies_in_the_archive_never_reaches_a_prompt(project: Path, drive: Any) -> None:
    script = Script()
    await drive(project, script, until=in_lattice)
    shelved = list((project / ".criticality/archive").rglob("*.json"))
    assert shelved
    for path in shelved:
        path.write_text('"POISONED-ARCHIVE"')
    await drive(project, script)
    assert not any("POISONED-ARCHIVE" in prompt for prompt in script.prompts.values())


async def test_an_archive_that_cannot_be_written_blocks(project: Path, drive: Any) -> None:
    (project / ".criticality/archive").write_text("in the way")
    result = await drive(project, Script())
    assert result.type == "blocked" and result.state.reason == "archive_failure"


@pytest.mark.parametrize("nth", [1, 9, 30])
async def test_a_full_disk_is_one_line_and_the_project_goes_on_later(
    project: Path, drive: Any, monkeypatch: pytest.MonkeyPatch, nth: int
) -> None:
    left, write = nth, os.write

    def full(handle: int, data: Any) -> int:
        nonlocal left
        left -= data[:7] == b'{"seq":'  # lines of the journal
        if left <= 0:
            write(handle, bytes(data[:10]))
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(handle, data)

    monkeypatch.setattr("criticality.project.journal.os.write", full)
    script = Script()
    with pytest.raises(StoreUnwritable, match="No space left on device; free the disk, then: criticality resume"):
        await drive(project, script)
    monkeypatch.undo()
    assert (await drive(project, script)).type == "completed"


async def test_functions_come_before_their_callers_and_circles_go_as_one(project: Path, drive: Any) -> None:
    accepted: list[str] = []
    await drive(
        project,
        Script(),
        emit=lambda x: accepted.append(x.unit) if x.type == "criticality.verification_passed" else None,  # type: ignore[attr-defined]
    )
    assert sorted(accepted) == ["gate.enter", "parity.is_even+parity.is_odd"]


async def test_the_same_answers_give_the_same_journal_of_decisions_whatever_comes_first(
    project: Path, drive: Any, tmp_path: Path
) -> None:
    from criticality import create_project

    other = tmp_path / "other"
    create_project(other, "turn-stile", seed=7, clock=clock)
    (other / "criticality.toml").write_text((project / "criticality.toml").read_text())

    await drive(project, Script())
    await drive(other, Script())
    assert tree(project) == tree(other)


async def test_there_is_no_project(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="criticality init"):
        read_project(tmp_path)
