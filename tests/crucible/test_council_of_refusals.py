"""Who refuses in plain words has not answered, in whatever language: asked again, another, then it is said."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.crucible import records
from tests.crucible.records import ANSWER, NEAR_REFUSALS, REFUSALS, configuration, hold, shown

from crucible import Attachment
from crucible.events import SeatFailed, SpareAsked
from llm_runtime import Reply, Request, Usage
from llm_runtime.errors import StructuredOutputError
from llm_runtime.events import Event

DIFF = [Attachment(name="diff", text="--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n-a = 1\n+a = 2\n b = 3")]


def forms(words: str) -> list[Any]:
    """A refusal as a model writes it: bare, and in the two records that a synthesis may keep."""
    return [words, {"answer": words, "claims": [], "objections": []}, {"answer": words, "claims": [{"text": words}]}]


@pytest.mark.parametrize("words", [*REFUSALS, *NEAR_REFUSALS])
async def test_a_synthesis_that_refuses_is_asked_again_then_another_then_the_run_says_so(words: str) -> None:
    for said in forms(words):
        told: list[Event] = []
        with pytest.raises(StructuredOutputError, match=r"^nobody answered: ") as refused:
            await hold({"synthesis": said}, models=("first", "second"), emit=told.append)
        assert refused.value.exit_code == 6 and "\n" not in str(refused.value)
        assert [one.model for one in told if isinstance(one, SpareAsked)] == ["first"]

        def spare(request: Request, said: Any = said) -> Any:
            return ANSWER if request.model == "first" else said

        result, _ = await hold({"synthesis": spare}, models=("first", "second"))
        assert result.final_response == ANSWER["answer"]


@pytest.mark.parametrize(
    "said",
    [
        {"answer": "Yes."},
        {"answer": "ANSWER: 4"},
        {"answer": "Rent a machine for a month, then look.", "claims": [{"text": "Rent.", "rests_on": ["P1"]}]},
        {"answer": "Rent a machine for a month, then look.", "objections": [{"objection": "O1", "does": "left out"}]},
        {"answer": "One server carries the load on a quiet day, so take one."},
        {"answer": "用一台服务器。", "claims": [{"text": "用一台。", "rests_on": ["P1", "Q1"]}]},
        {"answer": "Rent a machine for a month and see. " * 20},
    ],
)
async def test_a_short_answer_that_rests_on_what_is_held_is_an_answer(said: Any) -> None:
    result, model = await hold({"synthesis": said})
    assert result.final_response == said["answer"] and model.phases.count("synthesis") == 1


async def test_a_person_may_answer_what_they_like() -> None:
    said = Reply("Ask somebody who knows the trade, I do not.", "you", "terminal", Usage(0, 0))
    result, model = await hold({"synthesis": said})
    assert result.final_response == said.text and model.phases.count("synthesis") == 1


@pytest.mark.parametrize("words", [*REFUSALS, *NEAR_REFUSALS])
async def test_a_review_that_refuses_finds_nothing_and_passes_no_gate(words: str) -> None:
    finding = {"severity": "minor", "title": words}
    for said in ({"findings": [], "looked_at": words}, {"findings": [finding], "looked_at": words}, words):
        with pytest.raises(StructuredOutputError, match=r"^nobody answered: "):
            await hold({"synthesis": said}, kind="review", material=DIFF)


@pytest.mark.parametrize(
    "looked", ["All of it.", "Both versions of the file.", "x.py, Zeile für Zeile.", "Alle Zeilen."]
)
async def test_a_review_without_findings_says_what_it_looked_at(looked: str) -> None:
    result, _ = await hold({"synthesis": {"findings": [], "looked_at": looked}}, kind="review", material=DIFF)
    assert result.findings == [] and result.looked_at == looked


@pytest.mark.parametrize("words", REFUSALS)
async def test_a_seat_that_refuses_has_a_spare_and_else_is_left_out(words: str) -> None:
    record = {"claims": [{"text": words}], "conclusion": words}

    def refuses(request: Request) -> Any:
        return record if request.label.seat == "0:domain_expert" else records.position(request)

    told: list[Event] = []
    result, model = await hold({"position": refuses}, emit=told.append, configured=configuration(loops=2))
    assert {one.seat for one in told if isinstance(one, SeatFailed)} == {"0:domain_expert"} and result.attacked
    assert not any(words in shown(one) for one in model.requests if one.label.phase != "position")

    def draft(request: Request) -> Any:
        own = {"text": "One server carries the load of three people.", "conclusion": "One server."}
        return {"text": words, "conclusion": words} if request.label.seat == "0:domain_expert" else own

    told.clear()
    words_of = {"objections": [{"words": "One server carries the load", "fails": "Nobody has measured it."}]}
    await hold({"draft": draft, "critique": words_of}, emit=told.append, configured=configuration("sequential"))
    assert {one.seat for one in told if isinstance(one, SeatFailed)} == {"0:domain_expert"}


async def test_a_conclusion_that_is_the_only_claim_is_a_position() -> None:
    text = "Take one server for three people."
    same = {"claims": [{"text": text}], "conclusion": text}

    def echo(request: Request) -> Any:
        return same if "you are member" not in shown(request) else records.position(request)

    told: list[Event] = []
    await hold({"position": echo}, emit=told.append)
    assert not [one for one in told if isinstance(one, SpareAsked | SeatFailed)] and json.dumps(same)
