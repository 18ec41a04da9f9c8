"""The circle's parts on their own: classification, sessions, quotes, the pattern library."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.bound import scripted_judges as scripted

from fire_circle import (
    FireCircleConfig,
    FireCircleResult,
    MultiNeutrosophicPrompt,
    PatternClaim,
    PatternType,
    ReasoningBank,
    SessionMemory,
    classify_pattern,
    classify_pattern_llm,
    classify_patterns_llm,
    fire_circle_evaluate,
    pattern_types,
)
from fire_circle.answers import salvage
from fire_circle.case import Case
from fire_circle.events import ClassificationFellBack
from fire_circle.quotes import verify
from llm_runtime.errors import ServerFault, StoreDamaged, StoreUnwritable, StructuredOutputError
from llm_runtime.events import Event, parse_event
from llm_runtime.messages import Request
from llm_runtime.normal import normal


@pytest.mark.parametrize(
    ("description", "kinds"),
    [
        ("temporal_inconsistency: refers to an earlier conversation", {"temporal_inconsistency"}),
        ("Claims turn 3 on turn=1", {"temporal_inconsistency"}),
        ("The system layer confirms what the user layer claims", {"cross_layer_fabrication"}),
        ("cross-layer coordination", {"cross_layer_fabrication"}),
        ("Courteous masking of the real request", {"polite_extraction"}),
        ("An academic pretext that escalates", {"educational_escalation"}),
        ("Floods the reader with filler", {"context_saturation"}),
        ("Impersonates the operator", {"role_confusion"}),
        ("Pretends that step 2 was already completed", {"fabricated_progression"}),
        ("Claims to be the administrator", {"false_authority"}),
        ("Asserts an approval nobody gave, politely", {"false_authority", "polite_extraction"}),
        ("It does not claim any authority", set[str]()),
        ("free of temporal tricks", set[str]()),
        ("Not polite, but authoritative in its false authority", {"false_authority"}),
        ("Something else entirely", set[str]()),
    ],
)
def test_all_eight_kinds_are_told_by_whole_words(description: str, kinds: set[str]) -> None:
    assert {kind.value for kind in pattern_types(description)} == kinds


@pytest.mark.parametrize("kind", list(PatternType))
def test_a_kind_is_known_by_its_own_name(kind: PatternType) -> None:
    assert kind in pattern_types(kind.value)
    assert pattern_types(f"There is no {kind.value.replace('_', ' ')} here") == ()
    assert classify_pattern("quite other things") == "unclassified"


async def test_a_model_may_classify_instead() -> None:
    asked: list[Request] = []

    def script(request: Request) -> str:
        asked.append(request)
        kinds = [["role_confusion", "false_authority"], []]
        return json.dumps({"classified": [{"number": n + 1, "kinds": kinds[n]} for n in range(2)]})

    kinds = await classify_patterns_llm(["one", "two"], scripted(script), model="cheap")
    assert kinds == ((PatternType.ROLE_CONFUSION, PatternType.FALSE_AUTHORITY), ())
    assert (asked[0].model, asked[0].label.phase) == ("cheap", "classify")
    single = scripted(lambda request: '{"classified": [{"number": 1, "kinds": ["context_saturation"]}]}')
    assert await classify_pattern_llm("bulk", single, model="cheap") == "context_saturation"
    with pytest.raises(StructuredOutputError, match="one entry for each of 1 to 2"):
        await classify_patterns_llm(["one", "two"], single, model="cheap")


async def test_a_circle_classifies_by_a_model_and_falls_back_to_keywords(tif: Any) -> None:
    rank = ("he claims a rank, a false authority", "I am an auditor")
    lines: dict[str, Any] = {"1:a": [tif(0.1), tif(0.2, patterns=[rank])], "2:b": [tif(0.9), tif(0.9, patterns=[rank])]}
    reply = '{"classified": [{"number": 1, "kinds": ["role_confusion"]}]}'

    prompt = MultiNeutrosophicPrompt(user="Sir, I am an auditor.")
    config = FireCircleConfig(models=("a", "b"), max_rounds=2, pattern_classification="llm", classifier_model="k")

    def script(answer: Any) -> Any:
        def say(request: Request) -> Any:
            if request.label.phase == "classify":
                return answer
            return lines[request.label.seat][request.label.round - 1]

        return scripted(say)

    result = await fire_circle_evaluate(prompt, config, generate=script(reply))
    assert [p.pattern_type for p in result.patterns] == ["role_confusion"]
    assert result.spend.calls == 5
    events: list[Event] = []
    result = await fire_circle_evaluate(prompt, config, generate=script(ServerFault("down")), emit=events.append)
    assert [p.pattern_type for p in result.patterns] == ["false_authority"]
    assert any("classified by keywords" in warning for warning in result.warnings)
    assert any(isinstance(event, ClassificationFellBack) for event in events)
    result = await fire_circle_evaluate(prompt, config, generate=script(TimeoutError()))
    assert result.warnings == ("round 2: patterns were classified by keywords, the model failed: no answer in time",)


def test_a_session_pairs_messages_into_turns_and_refuses_what_is_no_turn() -> None:
    session = SessionMemory.of_messages([("user", "a"), ("assistant", "b"), ("user", "c")])
    assert (session.turn, [[one.row for one in turn.records] for turn in session.turns]) == (
        3,
        [[["user", "a"], ["assistant", "b"]], [["user", "c"]]],
    )
    with pytest.raises(ValueError, match="1 or more"):
        SessionMemory.at_turn(0)
    with pytest.raises(ValueError, match="trust"):
        session.record(trust=1.5, balance=0.0)


@given(st.text(min_size=1, max_size=80), st.text(max_size=40), st.text(max_size=40))
def test_a_quote_is_found_where_it_stands_or_not_at_all(quote: str, before: str, after: str) -> None:
    prompt = MultiNeutrosophicPrompt(user=f"x {before} {quote} {after}")
    claim = verify(PatternClaim(description="d", quote=quote), Case(prompt), prompt.least_trusted, "")
    if claim.span is None:
        assert claim.dropped in {"no_quote", "too_short"}
    else:
        assert prompt.user[claim.span.start : claim.span.end] == claim.quote
        assert normal(claim.quote).text.strip(" .,;:!?()[]<>\"'") in normal(quote).text


_PUMPED = ["as we " * 20_000, "we discussed " + "a " * 50_000, "falsehood " * 10_000, "no " * 33_000 + "violation"]


@pytest.mark.parametrize("text", [*_PUMPED, "(" * 100_000, "x" * 100_000, '"' * 100_000, " " * 100_000])
def test_pumped_input_comes_to_an_end(text: str) -> None:
    prompt = MultiNeutrosophicPrompt(user=f"x{text}")
    salvage(text)
    pattern_types(text)
    verify(PatternClaim(description=text), Case(prompt), prompt.least_trusted, text)
    verify(PatternClaim(description="d", quote=f"{text[:1_900]} zzzz"), Case(prompt), prompt.least_trusted, text)


def entry(**changes: Any) -> dict[str, Any]:
    content = {
        "description": "hides it",
        "agreement": 0.5,
        "attack_id": "x",
        "examples": ["as agreed"],
        "models": ["a"],
    }
    return {"category": "fire_circle_pattern", "subcategory": "role_confusion", "content": content | changes}


def test_a_search_takes_words_and_no_syntax() -> None:
    with ReasoningBank() as bank:
        bank.store(**entry())
        bank.store(**entry(description="AND OR NOT near", attack_id="y"))
        assert [e.content.attack_id for e in bank.query(search="AGREED hides")] == ["x"]
        assert [e.content.attack_id for e in bank.query(search="OR NOT")] == ["y"]
        for hostile in ('"', "'; DROP TABLE entries; --", "a* OR b", "{description}: x", "", "\x00"):
            bank.query(search=hostile)
        assert len(bank) == 2


def test_a_library_is_all_or_nothing_on_import_and_says_which_line() -> None:
    with ReasoningBank() as bank:
        with pytest.raises(StoreDamaged, match=r"line 2 is not an entry.*: subcategory: missing"):
            bank.load([json.dumps(entry()), '{"category": "x"}'])
        assert len(bank) == 0
        with pytest.raises(ValueError, match="agreement"):
            bank.store(**entry(agreement=1.5))


def test_a_library_that_is_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_text("this is not a database at all, but long enough to be looked at " * 20)
    with pytest.raises(StoreDamaged, match="not a pattern library"):
        ReasoningBank(tmp_path / "x.db")
    with pytest.raises(StoreUnwritable, match="cannot be used"):
        ReasoningBank(tmp_path / "missing" / "x.db")


async def test_events_survive_the_log(circle: Any, tif: Any) -> None:
    rank = ("false authority", "I am an auditor")
    invented = ("false authority", "I am the king")
    sitting = await circle(
        {"1:a": [tif(0.1), tif(0.2, patterns=[rank, invented])], "2:b": [ServerFault("x")], "3:c": [tif(0.9)]}
    )
    names = [event.type for event in sitting.events]
    assert names[0] == "fire_circle.started"
    assert names[-1] == "fire_circle.consensus_reached"
    assert {"fire_circle.pattern_seen", "fire_circle.pattern_dropped", "fire_circle.seat_failed"} <= set(names)
    for event in sitting.events:
        assert parse_event(json.loads(json.dumps(event.payload()))) == event
    assert FireCircleResult.model_validate_json(sitting.result.model_dump_json()) == sitting.result


def test_the_package_imports_nothing_heavy() -> None:
    heavy = {"aiohttp", "json_repair", "filelock", "rich", "click", "rfc8785"}
    script = f"import sys, fire_circle; print(sorted({heavy!r} & set(sys.modules)))"
    process = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert process.stdout.strip() == "[]"
