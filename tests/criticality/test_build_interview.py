"""An interview that goes on: what is understood so far is said, and can be corrected, before the next question."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from turnstile_system import ANSWERS, Script, needs_toolchain

from assay.protocols.criticality.commands.people import AtTerminal
from criticality import Answers, load_answers, read_project
from criticality.machine.states import Active
from llm_runtime.errors import ConfigurationError

pytestmark = [needs_toolchain, pytest.mark.asyncio(loop_scope="module")]
THREE = Answers(answers={name: ANSWERS.answers[name] for name in list(ANSWERS.answers)[:3]})


class Keyboard:
    """Lines that a person types, and what was on the screen meanwhile."""

    def __init__(self, root: Path, *lines: str) -> None:
        self.screen = io.StringIO()
        source = io.StringIO("".join(f"{line}\n" for line in lines))
        self.person = AtTerminal(source, self.screen, read_project(root)[1])

    @property
    def said(self) -> str:
        return self.screen.getvalue()


@pytest.fixture
async def begun(project: Path, drive: Any) -> Path:
    waiting = await drive(project, Script(), answers=THREE)
    assert waiting.type == "waiting"
    return project


async def test_a_new_interview_begins_with_how_to_answer_and_asks_nothing_else(project: Path, drive: Any) -> None:
    keyboard = Keyboard(project)
    assert (await drive(project, Script(), human=keyboard.person)).type == "waiting"
    assert "INTERVIEW: turn-stile" in keyboard.said and "still correct" not in keyboard.said


async def test_it_says_what_it_understood_and_goes_on_at_the_same_question(begun: Path, drive: Any) -> None:
    keyboard = Keyboard(begun, "1", "In Python.")
    await drive(begun, Script(), human=keyboard.person)
    assert keyboard.said.index("RESUMING INTERVIEW: turn-stile") < keyboard.said.index("Is this still correct?")
    assert "problem users: A room fills up." in keyboard.said and "✓ Discovery" in keyboard.said
    answers = read_project(begun)[1].answers
    assert [(a.question, a.answer) for a in answers][3:] == [("language_platform", "In Python.")]


async def test_what_is_wrong_is_corrected_and_then_asked_about_again(begun: Path, drive: Any) -> None:
    keyboard = Keyboard(begun, "2", "2", "Never more than forty.", "1", "In Python.")
    await drive(begun, Script(), human=keyboard.person)
    assert keyboard.said.count("Is this still correct?") == 2
    assert "success criteria: Never more than forty." in keyboard.said.rpartition("RESUMING")[2]
    state, artifacts, ledger, _ = read_project(begun)
    assert isinstance(state, Active)
    given = {a.question: a.answer for a in artifacts.answers}
    assert given["success_criteria"] == "Never more than forty." and given["language_platform"] == "In Python."
    constraints = [d.constraint for d in ledger.standing("canonical")]
    assert "Never more than forty." in constraints and "Never too many inside." not in constraints
    assert list(ledger.statuses().values()).count("superseded") == 1, "the ledger keeps what was said before"


async def test_a_correction_leads_to_the_same_build(begun: Path, drive: Any) -> None:
    await drive(begun, Script(), human=Keyboard(begun, "2", "1", "A hall fills up.", "1").person)
    script = Script()
    assert (await drive(begun, script)).type == "completed"
    proposal = next(text for label, text in script.prompts.items() if "/proposal-1" in label)
    assert "A hall fills up." in proposal and "A room fills up." not in proposal


@pytest.mark.parametrize("lines", [(), ("2",), ("2", "1"), ("2", "1", ""), ("2", "nonsense")])
async def test_whoever_leaves_or_changes_nothing_loses_nothing(begun: Path, drive: Any, lines: tuple[str, ...]) -> None:
    before = read_project(begun)[1].answers
    assert (await drive(begun, Script(), human=Keyboard(begun, *lines).person)).type == "waiting"
    assert read_project(begun)[1].answers == before


async def test_a_question_that_nobody_asks_is_refused_in_a_file_of_answers(tmp_path: Path) -> None:
    path = tmp_path / "answers.toml"
    path.write_text('[answers]\nproblem_users = "People queue."\nplatform = "Python"\n')
    with pytest.raises(ConfigurationError, match="no question is called platform; there are problem_users, ") as told:
        load_answers(path)
    assert "\n" not in str(told.value)
