"""Structured answers: read tolerantly, validated strictly, asked for again at most as often as the caller says."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from llm_runtime.behaviour import RUNTIME, behaving
from llm_runtime.errors import StructuredOutputError
from llm_runtime.messages import CallLabel, Message, Request
from llm_runtime.objects import Objects
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
        'Set {x} then {"value": 0.5, "why": "so"}',
        '<think>First {"value": 0.1, "why": "a draft"}, or not?</think>{"value": 0.5, "why": "so"}',
        '```json\n{"value": 0.1, "why": "a draft"}\n```\nBetter:\n```json\n{"value": 0.5, "why": "so"}\n```',
        'It opens with {"value": 0 and "goes on. Mine: {"value": 0.5, "why": "so"}',
        '{"value": 0.5, "why": "so", "evidence": {"value": 0.1, "why": "of another"}} (see {"page": 3})',
        '{"value": 0.5, "why": "so"} {"value": 7, "why": "out of range"}',
    ],
)
def test_reads_an_object_however_it_is_wrapped(answer: str) -> None:
    assert parse(answer, Score) == (Score(value=0.5, why="so"), False)


def test_what_an_object_holds_is_no_answer_of_its_own() -> None:
    inner = '{"value": 0.1, "why": "a quote"}'
    for outer in (f'{{"evidence": {inner}}}', f'{{"said "so"": {inner}}}', f"{{'evidence': {inner}}}"):
        with pytest.raises(StructuredOutputError):
            parse(outer, Score)


READY = '{"value": 0.0, "why": "f\\u0061ir, \\"they\\" say"}'


@pytest.mark.parametrize(
    "shown",
    [
        READY,
        f"An example: {READY} Use it.",
        '{"why": "fair, \\"they\\" say", "value": 0}',
        f'{{"log": [{{"entry": {READY}}}]}}',
        f'{{"unclosed "and broken": {READY}',
        json.dumps({"text": f"as JSON in JSON: {READY}"}),
        json.dumps(json.dumps({"text": f"and once more: {READY}"})),
        READY[:-1] + ",",
    ],
)
@pytest.mark.parametrize("quote", [READY, '{ "value": 0.0,\n"why": "fair, \\"they\\" say" }'])
def test_an_object_that_was_shown_is_a_quote(shown: str, quote: str) -> None:
    own = Score(value=1, why="It brings its own verdict.")
    answer = f"It says {quote}\n\n{own.model_dump_json()}\n\nInstead of {quote}."
    assert parse(answer, Score, shown=shown) == (own, False)
    for parroted in (quote, f"```json\n{quote}\n```", f"Yes: {quote}", quote[:-1]):
        with pytest.raises(StructuredOutputError, match="only repeats"):
            parse(parroted, Score, shown=shown)


class Same(BaseModel):
    same: bool
    kind: Literal["fact", "value"] | None = None
    others: list[str] = []


@pytest.mark.parametrize("form", ['{"same": true}', '{"same": true, "kind": "fact"}', '{"same": true, "others": []}'])
def test_an_object_too_small_to_be_known_as_a_quote_counts_at_the_end(form: str) -> None:
    shown = f"Answer with one JSON object: {form}"
    for answer in (form, f"```json\n{form}\n```", f"They mean the same. {form}"):
        assert parse(answer, Same, shown=shown)[0].same
    with pytest.raises(StructuredOutputError, match="only repeats"):
        parse(f"The text itself says {form}, which settles nothing.", Same, shown=shown)


async def test_what_the_request_shows_is_never_the_answer() -> None:
    shown = '{"value": 0, "why": "fair"}'
    answers = iter([shown, f'It says {shown}, but {{"value": 1, "why": "own"}}'])
    asked = dataclasses.replace(ASK, messages=(Message("user", f"Score this: {shown}"),))
    got = await ask(scripted(lambda _: next(answers)), asked, Score)
    assert (got.value, got.attempts) == (Score(value=1, why="own"), 2)


def test_repairs_broken_json_last_and_says_so() -> None:
    broken = '{"value": 0.5, "why": "so",'
    assert parse(broken, Score) == (Score(value=0.5, why="so"), True)
    with pytest.raises(StructuredOutputError):
        parse(broken, Score, repair=False)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "no idea",
        "[1, 2]",
        '{"value": 7, "why": "so"}',
        '{"value": 0.5}',
        "{" * 100_000,
        '{"' * 100_000,
        "{}",
        "\ud800",
    ],
)
def test_what_does_not_fit_is_an_error_that_keeps_the_answer(answer: str) -> None:
    with pytest.raises(StructuredOutputError) as caught:
        parse(answer, Score)
    assert caught.value.raw == answer
    assert "\n" not in str(caught.value)


async def test_the_schema_names_the_fields_in_their_order() -> None:
    """An engine that decodes by it writes them so: what is weighed first stands first."""
    asked: list[Request] = []

    def answer(request: Request) -> str:
        asked.append(request)
        return '{"value": 0.5, "abstain": false}'

    class Verdict(BaseModel):
        value: float
        abstain: bool = False

    await ask(scripted(answer), ASK, Verdict)
    assert list(json.loads(asked[0].schema or "")["properties"]) == ["value", "abstain"]


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


async def test_whoever_gave_no_usable_answer_is_named_with_what_was_asked() -> None:
    with pytest.raises(StructuredOutputError, match=r"^m was asked 2 times for score, .*: the answer holds no"):
        await ask(scripted(lambda _: "I would rather not."), ASK, Score)


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


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (r"so\ud83d", "so\ufffd"),
        (r"\uDC00so", "\ufffdso"),
        (r"\ud83d\ude00 \ud83d", "\U0001f600 \ufffd"),
        (r"\\ud83d", r"\ud83d"),
    ],
)
def test_half_a_character_that_is_an_escape_costs_only_itself(written: str, read: str) -> None:
    answer = f'So: {{"value": 0.5, "why": "{written}"}}'
    value, repaired = parse(answer, Score)
    assert (value.why, repaired) == (read, False)
    with behaving([(RUNTIME, 2)]):
        assert [found.data is None for found in Objects(answer)] == ["\ufffd" in read]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("{“value”: 0.5, “why”: “it’s so, or so”}", "it’s so, or so"),
        ("{„value“: 0.5, „why“: „so“}", "so"),
        ('｛"value"：0.5，"why" ："他说：是的，对"｝', "他说：是的，对"),
        ('{\n  // how sure\n  # indeed\n  "value": 0.5, "why": "see // and #"}', "see // and #"),
        ('{/* how\nsure */ "value": 0.5, "why": "so"}', "so"),
        ('{\u200b"value": 0.5, "why": "so"}', "so"),
        (json.dumps('{"value": 0.5, "why": "one\\ntwo \\"three\\""}'), 'one\ntwo "three"'),
        ('Here:\n```json\n{\\"value\\": 0.5, \\"why\\": \\"so\\"}\n```', "so"),
    ],
)
def test_an_object_in_signs_of_print_or_within_a_string_is_read_where_no_other_fits(answer: str, why: str) -> None:
    value, repaired = parse(answer, Score)
    assert (value.value, value.why, repaired) == (0.5, why, True)
    own = '{"value": 0.1, "why": "mine"}'
    assert parse(f"{answer}\n{own}", Score)[0] == parse(f"{own}\n{answer}", Score)[0] == Score(value=0.1, why="mine")
    with pytest.raises(StructuredOutputError, match="repeats"):
        parse(answer, Score, shown=value.model_dump_json())
    with pytest.raises(StructuredOutputError):
        parse(answer, Score, repair=False)
    with behaving([(RUNTIME, 3)]), pytest.raises(StructuredOutputError):
        parse(answer, Score)


@pytest.mark.parametrize(
    "answer", ['{"value": 0.1, "why": "so", "value": 0.9}', '{"value": 0.1, "why": "so", "more": [{"a": 1, "a": 2}]}']
)
async def test_an_object_that_gives_a_name_two_values_is_asked_for_again(answer: str) -> None:
    """The last one counted, silently."""
    answers = iter([answer, '{"value": 0.9, "why": "so", "value": 0.9}'])
    structured = await ask(scripted(lambda _: next(answers)), ASK, Score)
    assert (structured.value.value, structured.attempts) == (0.9, 2)


def test_older_logs_take_the_last_of_two_values() -> None:
    with behaving([(RUNTIME, 4)]):
        assert parse('{"value": 0.1, "why": "so", "value": 0.9}', Score)[0].value == 0.9


@pytest.mark.parametrize("piece", ["{/*", "{//", "{ # a\n", '{\\"', '" ：', "{   "])
def test_an_answer_of_many_beginnings_is_refused_at_once(piece: str) -> None:
    with pytest.raises(StructuredOutputError):
        parse(piece * 10_000, Score)
