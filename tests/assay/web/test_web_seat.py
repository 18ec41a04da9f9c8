"""A person in a seat: a brief without machinery, and a form where the answer must be structured."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from assay.web.asking import Ask, answer_fields, asking, brief_of, read_answer
from crucible.red_team.prompts import critique_positions
from crucible.schemas import TriageOutput
from llm_runtime.errors import ConfigurationError
from llm_runtime.messages import CallLabel, Message, Request
from llm_runtime.prompts import Fence
from llm_runtime.structured import schema_text

LABEL = CallLabel("crucible", "critique", "2:red_team", 1)
TRIAGE: dict[str, Any] = json.loads(schema_text(TriageOutput))
FILLED = {
    "reconstructed_query": "Which database?",
    "complexity": "complex",
    "loop_grammar": "debate",
    "loop_count": "2",
    "red_team_flavor": "logical",
    "allow_early_exit": "true",
    "synthesis_instruction": "One paragraph.",
    **{f"council.{row}.role": role for row, role in enumerate(("pragmatist", "creative", "red_team"))},
    **{f"council.{row}.system_prompt": f"Speak as number {row}." for row in range(3)},
}


def test_a_prompt_becomes_a_brief_without_fences() -> None:
    positions = {"0:pragmatist": "**Stay** with SQLite.", "1:domain_expert": "Use <PostgreSQL>."}
    parts = brief_of(critique_positions("Which database?", positions, Fence(7, LABEL)))
    titled = {part.title: part.text for part in parts if part.title}
    assert titled == {
        "Question": "Which database?",
        "Position of pragmatist": "**Stay** with SQLite.",
        "Position of domain expert": "Use <PostgreSQL>.",
    }
    assert "<<<" not in "".join(part.text for part in parts)


@pytest.mark.parametrize("text", ["", "No fence.", "<<<QUERY 0123456789abcdef>>>\nopen", "<<<END A 01234567>>>"])
def test_what_is_no_fence_stays_as_it_is(text: str) -> None:
    assert "".join(part.text for part in brief_of(text)) == text
    assert not any(part.title for part in brief_of(text))


def test_the_page_says_who_sits_there_renders_what_is_read_and_shows_no_schema() -> None:
    messages = (
        ("system", "Attack."),
        ("user", critique_positions("Why?", {"0:pragmatist": "**Stay.**"}, Fence(7, LABEL))),
    )
    page = asking("r", (Ask("q1", "critique", messages, seat="red team", does="attack what the others say"),))
    assert "You sit as <b>red team</b>: attack what the others say." in page
    assert "<strong>Stay.</strong>" in page and "&lt;&lt;&lt;" not in page
    structured = asking(
        "r",
        (Ask("q2", "triage", (("user", "Configure it.\n\nAnswer with the JSON object only."),), json.dumps(TRIAGE)),),
    )
    assert "JSON" not in structured and "Configure it." in structured and 'name="field-council.2.role"' in structured


def test_a_form_of_a_schema_gives_an_answer_that_fits_it() -> None:
    answer = read_answer(answer_fields(TRIAGE), FILLED)
    council = TriageOutput.model_validate_json(answer).council
    assert [seat.role.value for seat in council] == ["pragmatist", "creative", "red_team"]


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("reconstructed_query", " ", "Reconstructed Query is missing"),
        ("loop_count", "two", "Loop Count must be a number"),
        ("loop_count", "9", "must be from 2 to 5"),
        ("loop_count", "nan", "must be a number"),
        ("complexity", "odd", "choose one of simple, complicated"),
        ("council.2.role", "", "Role is missing"),
        ("council.4.system_prompt", "Speak.", "Role is missing"),
    ],
)
def test_what_does_not_fit_is_refused_by_its_field(field: str, value: str, why: str) -> None:
    with pytest.raises(ConfigurationError, match=why):
        read_answer(answer_fields(TRIAGE), {**FILLED, field: value})


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "string"},
        {"type": "object", "properties": {"a": {"type": "object"}}},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {}},
        {
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/A"}},
            "$defs": {"A": {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}}},
        },
    ],
)
def test_what_no_form_can_hold_has_no_fields(schema: dict[str, Any]) -> None:
    assert answer_fields(schema) == ()


async def test_an_answer_that_is_no_object_is_asked_for_again(web: Any, council: Any) -> None:
    run_id = await council()
    label, schema = CallLabel("crucible", "triage"), json.dumps(TRIAGE)
    person = web.site.questions.person(run_id)
    waiting = asyncio.ensure_future(person(Request("m", (Message("user", "Configure."),), label, schema=schema)))
    await asyncio.sleep(0)
    code, told = await web.post(f"/runs/{run_id}/answers", name="q1", text="Just ask three people.")
    assert code == 400 and "must be a JSON object" in told["message"]
    code, _ = await web.post(f"/runs/{run_id}/answers", name="q1", **{f"field-{k}": v for k, v in FILLED.items()})
    assert code == 200
    assert TriageOutput.model_validate_json((await waiting).text).loop_count == 2
