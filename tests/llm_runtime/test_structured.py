"""Structured answers: read tolerantly, validated strictly, asked for again at most as often as the caller says."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from llm_runtime.errors import StructuredOutputError
from llm_runtime.messages import CallLabel, Message, Request
from llm_runtime.providers.scripted import scripted
from llm_runtime.structured import ask, parse

ASK = Request("m", (Message("user", "Score it."),), CallLabel("test", "score"))


class Score(BaseModel):
    value: float = Field(ge=0, le=1)
    why: str


@pytest.mark.parametrize(
    "answer",
    [
        '{"value": 0.5, "why": "so"}',
        '```json\n{"value": 0.5, "why": "so"}\n```',
        'Here you are:\n\n{"value": 0.5, "why": "so"}\n\nAnything else?',
        'Some {braces first}? No: ```\n{"value": 0.5, "why": "so"}\n```',
    ],
)
def test_reads_an_object_however_it_is_wrapped(answer: str) -> None:
    assert parse(answer, Score) == (Score(value=0.5, why="so"), False)


def test_repairs_broken_json_last_and_says_so() -> None:
    broken = '{"value": 0.5, "why": "so",'
    assert parse(broken, Score) == (Score(value=0.5, why="so"), True)
    with pytest.raises(StructuredOutputError):
        parse(broken, Score, repair=False)


@pytest.mark.parametrize(
    "answer",
    ["", "no idea", "[1, 2]", '{"value": 7, "why": "so"}', '{"value": 0.5}', "{" * 100_000, "{}", "\ud800"],
)
def test_what_does_not_fit_is_an_error_that_keeps_the_answer(answer: str) -> None:
    with pytest.raises(StructuredOutputError) as caught:
        parse(answer, Score)
    assert caught.value.raw == answer
    assert "\n" not in str(caught.value)


async def test_asks_again_with_what_is_wrong() -> None:
    requests = list[Request]()

    def script(request: Request) -> str:
        requests.append(request)
        return '{"value": 2, "why": "so"}' if len(requests) == 1 else '{"value": 1, "why": "so"}'

    got = await ask(scripted(script), ASK, Score)
    assert (got.value.value, got.attempts) == (1, 2)
    assert [r.label.attempt for r in requests] == [1, 2]
    assert requests[1].messages[-2].content == '{"value": 2, "why": "so"}'
    assert "less than or equal to 1" in requests[1].messages[-1].content
    assert requests[0].schema is not None and '"why"' in requests[0].schema


async def test_the_caller_says_how_often() -> None:
    calls = 0

    def script(_: Request) -> str:
        nonlocal calls
        calls += 1
        return "no"

    with pytest.raises(StructuredOutputError):
        await ask(scripted(script), ASK, Score, reasks=0)
    assert calls == 1


async def test_a_check_may_refuse_what_the_schema_allows() -> None:
    answers = iter(['{"value": 1, "why": "no violation"}', '{"value": 0, "why": "no violation"}'])

    def contradicts(score: Score) -> str | None:
        return "value contradicts why" if score.value > 0.5 and "no violation" in score.why else None

    got = await ask(scripted(lambda _: next(answers)), ASK, Score, check=contradicts)
    assert got.value.value == 0


@given(st.text(), st.text(), st.floats(0, 1))
def test_an_object_is_found_in_any_prose_without_braces(before: str, after: str, value: float) -> None:
    score = Score(value=value, why='quotes " and } braces { inside \\')
    before, after = (text.replace("{", "(").replace("`", "'") for text in (before, after))
    assert parse(before + score.model_dump_json() + after, Score) == (score, False)


@given(st.text(alphabet='{}[]",:`\\ntrue01 ', max_size=200))
def test_garbage_never_raises_anything_else(garbage: str) -> None:
    with contextlib.suppress(StructuredOutputError):
        parse(garbage, Score)


def test_a_lone_surrogate_costs_only_itself() -> None:
    assert parse('{"value": 0.5, "why": "so\ud800"}', Score)[0].why == "so?"
