"""What a person changes in a project's files is judged, taken over or shown with its case, never overwritten."""

from __future__ import annotations

import json
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from turnstile_system import ANSWERS, GATE, Script, needs_toolchain

from criticality import Resolution, read_project
from criticality.canonical import toml
from criticality.machine.states import Active, Blocked
from criticality.project.journal import read_journal
from llm_runtime.errors import ConfigurationError, StoreDamaged
from llm_runtime.events import GENESIS, chain_digest

pytestmark = [needs_toolchain, pytest.mark.asyncio(loop_scope="module")]

MODULE = "src/turn_stile/gate.py"
BEFORE = "    if gate.inside >= gate.limit:\n        raise Full\n    return Gate(Count(gate.inside + 1), gate.limit)\n"
BETTER = "    if gate.inside < gate.limit:\n        return Gate(Count(1 + gate.inside), gate.limit)\n    raise Full\n"
WORSE = BEFORE.replace(">=", ">")


def edit(project: Path, before: str, after: str, path: str = MODULE) -> str:
    text = (project / path).read_text()
    assert before in text
    (project / path).write_text(text.replace(before, after))
    return text.replace(before, after)


class Silent(Script):
    """A model that must not be asked."""

    def usual(self, phase: str, item: str) -> Any:
        if phase == "mass_defect":
            return super().usual(phase, item)
        raise AssertionError(f"{phase}/{item} was asked")


async def test_a_body_that_a_person_wrote_is_judged_and_stands_from_then_on(project: Path, drive: Any) -> None:
    await drive(project, Script())
    written = edit(project, BEFORE, BETTER)
    assert (await drive(project, Silent())).type == "completed"
    assert (project / MODULE).read_text() == written
    told = json.loads((project / "trace.json").read_text())["functions"]["gate.enter"]
    assert told["tier"] == "hand" and told["cases"] > 100 and told["changes_noticed"] >= 1
    assert told["suite"][0] == told["suite"][1] >= 1
    assert "| you |" in (project / "trace.md").read_text()


async def test_one_that_breaks_a_promise_stays_as_it_is_and_is_shown_with_its_case(project: Path, drive: Any) -> None:
    await drive(project, Script())
    written = edit(project, BEFORE, WORSE)
    result = await drive(project, Silent())
    assert result.type == "blocked" and result.state.reason == "hand_edit"
    assert "src/turn_stile/gate.py" in result.state.query.question and "Full" in result.state.query.question
    assert [option.id for option in result.state.query.options] == ["restore", "model", "restate"]
    assert (project / MODULE).read_text() == written
    assert (await drive(project, Silent())).type == "blocked", "the same text is not judged again"

    edit(project, WORSE, BETTER)
    assert (await drive(project, Silent())).type == "completed"
    assert BETTER in (project / MODULE).read_text()


@pytest.mark.parametrize(("option", "asked"), [("restore", False), ("model", True)])
async def test_the_ways_out_of_it_put_the_persons_text_into_the_archive(
    project: Path, drive: Any, option: str, asked: bool
) -> None:
    await drive(project, Script())
    written = edit(project, BEFORE, WORSE)
    await drive(project, Silent())
    script = Script()
    answers = ANSWERS.model_copy(update={"resolutions": [Resolution(option=option)]})
    assert (await drive(project, script, answers=answers)).type == "completed"
    assert BEFORE in (project / MODULE).read_text()
    assert any("/injection/gate.enter" in label for label in script.asked) is asked
    assert written in [path.read_text() for path in (project / ".criticality/archive/edits").iterdir()]


async def test_a_person_writes_what_no_model_could(project: Path, drive: Any) -> None:
    stuck = Script(**{"injection/gate.enter": "return gate"})
    assert (await drive(project, stuck)).type == "blocked"
    edit(project, "    raise NotImplementedError\n", BETTER)
    assert (await drive(project, Script())).type == "completed"
    assert BETTER in (project / MODULE).read_text()


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ("def enter(gate: Gate)", "def enter(gate: Gate, by: int = 1)", "the signature of enter"),
        ("def enter(gate: Gate)", "def enter(gate: Gate", "does not parse"),
        ("def enter(", "def come_in(", "no function called enter"),
        (BEFORE, "    import os\n" + BEFORE, "it holds an import"),
        (BEFORE, "    return 3\n", "Incompatible return value"),
    ],
)
async def test_edits_that_no_judge_can_hear_are_one_line_and_nothing_is_lost(
    project: Path, drive: Any, before: str, after: str, what: str
) -> None:
    await drive(project, Script())
    written = edit(project, before, after)
    result = await drive(project, Silent())
    assert result.type == "blocked" and what in result.state.query.question
    assert "\n" not in result.state.query.question
    assert (project / MODULE).read_text() == written


async def test_what_lies_outside_the_bodies_and_other_files_stays_as_the_person_wrote_it(
    project: Path, drive: Any
) -> None:
    await drive(project, Script())
    edit(project, "def enter(", "# The porter's rule.\ndef enter(")
    edit(project, "# turn-stile", "# Turn stile", "README.md")
    assert (await drive(project, Silent())).type == "completed"
    written = edit(project, BEFORE, BETTER)
    assert (await drive(project, Silent())).type == "completed"
    assert (project / MODULE).read_text() == written and "# The porter's rule." in written
    assert (project / "README.md").read_text().startswith("# Turn stile")
    trace = (project / "trace.md").read_text()
    assert "README.md" in trace and MODULE in trace


async def test_a_changed_specification_is_a_new_revision_and_only_what_it_changes_is_done_again(
    project: Path, drive: Any
) -> None:
    await drive(project, Script())
    text = edit(project, '"max(40)"', '"max(30)"', "spec/spec.toml") + "\n# Thirty, says the fire brigade.\n"
    (project / "spec/spec.toml").write_text(text)
    script = Script()
    assert (await drive(project, script)).type == "completed"
    assert (project / "spec/spec.toml").read_text() == text
    assert "at most 30" in (project / "src/turn_stile/domain.py").read_text()
    assert not any("lattice" in label for label in script.asked), "the plan of modules still serves"
    trace = json.loads((project / "trace.json").read_text())
    assert trace["specification"] == 2 and trace["claims"]["room_001"]["result"] == "holds in every test"


async def test_a_claim_in_other_words_asks_no_body_anew_and_a_new_operation_asks_for_a_new_plan(
    project: Path, drive: Any
) -> None:
    await drive(project, Script())
    edit(project, "even or odd", "odd or even", "spec/spec.toml")
    script = Script()
    assert (await drive(project, script)).type == "completed"
    assert not any("injection" in label or "lattice" in label for label in script.asked)

    spec = tomllib.loads((project / "spec/spec.toml").read_text())
    spec["interfaces"]["Turnstile"]["methods"].append({"name": "leave", "params": ["gate: Gate"], "returns": "Gate"})
    (project / "spec/spec.toml").write_text(toml(spec))
    leave = {
        "name": "leave", "params": ["gate: Gate"], "returns": "Gate", "doc": "Let one out.", "calls": [],
        "contracts": ["ENSURES: result == Gate(Count(max(gate.inside - 1, 0)), gate.limit)", "PURITY: pure"],
    }  # fmt: skip
    both = {**GATE, "functions": [*GATE["functions"], leave]}
    outline = {"name": "gate", "purpose": "Going in.", "interfaces": ["Turnstile"], "functions": ["enter", "leave"]}
    script = Script(
        **{
            "lattice/gate": both,
            "lattice/structure": {"modules": [outline, Script().usual("lattice", "structure")["modules"][1]]},
            "injection/gate.leave": "return Gate(Count(max(gate.inside - 1, 0)), gate.limit)",
        }
    )  # fmt: skip
    assert (await drive(project, script)).type == "completed"
    written = {label.split("/")[2].partition(":")[0] for label in script.asked if "/injection/" in label}
    assert written == {"gate.leave"}, "what stood before stands still"


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ('base = "Int"', 'base = "Int', r"spec/spec\.toml:\d+ is not TOML"),
        ('"inside <= limit"', '"inside <= lmit"', r"spec/spec\.toml:\d+: .*lmit"),
        ('returns = "Result<Gate, Full>"', 'returns = "Result<Gaet, Full>"', r"spec/spec\.toml.*Gaet"),
    ],
)
async def test_a_specification_edited_into_nonsense_names_its_line_and_changes_nothing(
    project: Path, drive: Any, before: str, after: str, line: str
) -> None:
    await drive(project, Script())
    journal = (project / ".criticality/events.jsonl").read_bytes()
    written = edit(project, before, after, "spec/spec.toml")
    with pytest.raises(ConfigurationError, match=line):
        await drive(project, Silent())
    assert (project / "spec/spec.toml").read_text() == written
    assert (project / ".criticality/events.jsonl").read_bytes() == journal


async def test_an_edit_made_while_the_project_waits_is_judged_when_it_goes_on(project: Path, drive: Any) -> None:
    def one_left(state: Any) -> bool:
        done = read_project(project)[1].bodies
        return isinstance(state, Active) and state.phase.type == "selectingFunction" and "gate.enter" in done

    await drive(project, Script(), until=one_left)
    written = edit(project, BEFORE, BETTER)
    script = Script()
    assert (await drive(project, script)).type == "completed"
    assert (project / MODULE).read_text() == written
    assert not any("/injection/gate.enter" in label for label in script.asked)


async def test_a_folder_that_held_files_before_the_project_keeps_them(project: Path, drive: Any) -> None:
    (project / "README.md").write_text("Mine.\n")
    assert (await drive(project, Script())).type == "completed"
    assert (project / "README.md").read_text() == "Mine.\n"


async def test_every_edit_that_is_taken_over_can_be_told_from_the_journal_alone(project: Path, drive: Any) -> None:
    await drive(project, Script())
    edit(project, BEFORE, WORSE)
    await drive(project, Silent())
    state, artifacts, _, _ = read_project(project)
    assert isinstance(state, Blocked) and WORSE in artifacts.refused[MODULE]


def git(project: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(project), *words], capture_output=True, text=True, check=True).stdout


async def test_each_accepted_function_is_a_commit_and_what_a_person_has_begun_stays_as_it_is(
    project: Path, drive: Any
) -> None:
    git(project, "init", "-q")
    (project / "notes.txt").write_text("Ask the porter.\n")
    git(project, "add", "notes.txt")
    await drive(project, Script())
    subjects = git(project, "log", "--format=%s").splitlines()[::-1]
    assert subjects[0] == "Specification, signatures and contracts" and subjects[-1] == "Trace, metrics and tests"
    units = [subject.partition(":")[0] for subject in subjects[1:-1]]
    assert units == ["Accept gate.enter", "Accept parity.is_even+parity.is_odd"]
    assert git(project, "status", "--porcelain", "--", ".", ":!.criticality").split() == ["A", "notes.txt"]
    edit(project, BEFORE, BETTER)
    await drive(project, Silent())
    assert "Take over gate.enter as edited by hand" in git(project, "log", "--format=%s")
    assert BETTER in git(project, "show", f"HEAD:{MODULE}")


async def test_tests_of_claims_that_a_person_writes_are_judged_and_what_breaks_them_is_written_anew(
    project: Path, drive: Any
) -> None:
    await drive(project, Script())
    written = edit(project, 'check = ["even != odd"]', 'check = ["even or odd"]  # one at least', "spec/claims.toml")
    assert (await drive(project, Silent())).type == "completed"
    assert (project / "spec/claims.toml").read_text() == written
    assert [test.check for test in read_project(project)[1].claims["parity_001"].tests] == [["even or odd"]]

    edit(project, 'check = ["even or odd"]', 'check = ["even and odd"]', "spec/claims.toml")
    script = Script()
    result = await drive(project, script)
    assert result.type == "blocked", "no body keeps its contract and passes this"
    asked = [text for label, text in script.prompts.items() if "/injection/parity" in label]
    assert any("even and odd" in text for text in asked), "who writes it anew is told the case"

    journal = (project / ".criticality/events.jsonl").read_bytes()
    edit(project, 'check = ["even and odd"]', 'check = ["even == even"]', "spec/claims.toml")
    with pytest.raises(ConfigurationError, match="it passes whatever the functions return"):
        await drive(project, Silent())
    assert (project / ".criticality/events.jsonl").read_bytes() == journal


async def test_a_journal_of_an_earlier_version_opens_though_events_have_more_fields_now(tmp_path: Path) -> None:
    data = {"label": "x", "option": "retry", "query": "q", "resumes": "prior", "text": ""}
    body = json.dumps(data | {"type": "criticality.human_responded"}, separators=(",", ":")).encode()
    digest = chain_digest(GENESIS, 1, 1_760_000_000_000, body).hex()
    line = f'{{"seq":1,"timestamp":"2025-10-09T08:53:20.000Z","event":"e","data":{body.decode()},"digest":"{digest}"}}'
    path = tmp_path / "events.jsonl"
    path.write_text(line + "\n")
    assert [event.type for _, event in read_journal(path)] == ["criticality.human_responded"]
    path.write_text(line.replace('"retry"', '"again"') + "\n")
    with pytest.raises(StoreDamaged, match="line 1 is not what was written there"):
        read_journal(path)
