"""What a model of 1.5 billion parameters did to the form of records, and what a council makes of it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from tests.crucible import records
from tests.crucible.records import configuration, hold, shown

from crucible import Attachment, headline
from crucible.events import SeatAnswered
from llm_runtime import Request
from llm_runtime.errors import StructuredOutputError
from llm_runtime.events import Event

PAGES = [Attachment(name="load.md", text="Peak load is 20 requests a second.\nNobody looked at December.")]


def quoting(quote: str, place: str) -> Any:
    def position(request: Request) -> Any:
        said = records.position(request)
        return {**said, "claims": [{**claim, "quote": quote, "place": place} for claim in said["claims"]]}

    return {"position": position}


async def positions(says: Any, **more: Any) -> list[str]:
    told: list[Event] = []
    await hold(says, emit=told.append, **more)
    return [one.text for one in told if isinstance(one, SeatAnswered)]


async def test_what_is_quoted_where_nothing_is_attached_is_a_seats_own_judgement() -> None:
    for text in await positions(quoting("Studies agree on one server.", "Systems architecture")):
        assert "Studies agree" not in text and "[" not in text


async def test_a_quotation_keeps_its_words_and_gets_its_place_or_is_none() -> None:
    for text in await positions(quoting("Nobody looked at December.", "A1:1"), material=PAGES):
        assert '"Nobody looked at December." [A1:2]' in text
    for text in await positions(quoting("Everybody looked at December.", "A1:2"), material=PAGES):
        assert "Everybody" not in text and "[" not in text


ORDER = "The synthesis should state the recommendation first, then the costs, then what would reverse it."


async def test_an_instruction_is_no_answer_and_is_asked_for_again_in_plain_words() -> None:
    def written(request: Request) -> Any:
        last = shown(request)
        return "Take one server." if "Answer" not in last and "Write only" in last else {"answer": ORDER}

    triage = {**configuration(), "synthesis_instruction": f"{ORDER} Leave out the history."}
    result, model = await hold({"triage": triage, "synthesis": written})
    assert result.final_response == "Take one server."
    assert "repeats the instruction" in shown([one for one in model.requests if one.label.phase == "synthesis"][1])
    with pytest.raises(StructuredOutputError, match="repeats the instruction"):
        await hold({"triage": triage, "synthesis": lambda request: {"answer": ORDER}})


async def test_a_short_answer_in_the_words_of_the_instruction_is_an_answer() -> None:
    triage = {**configuration(), "synthesis_instruction": "Say one server or two servers, and nothing else."}
    result, _ = await hold({"triage": triage, "synthesis": {"answer": "One server."}})
    assert result.final_response == "One server."


async def test_a_reader_who_looks_at_one_claim_at_a_time_is_heard_on_each() -> None:
    def one(request: Request) -> Any:
        all_of_them = records.effects(request)["claims"] if "<<<CLAIM" in shown(request) else []
        return {"claims": all_of_them[:1] or [{"id": "O2", "does": "weakened", "words": "on a quiet day"}]}

    result, model = await hold({"effects": one})
    assert (
        headline(result.ledger) == "2 objections; of the claims attacked: 2 weakened in it" and not result.ledger.note
    )
    assert model.phases.count("effects") == 2


async def test_what_a_reader_did_say_counts_where_it_never_names_the_others() -> None:
    result, _ = await hold({"effects": {"claims": [{"id": "O1", "does": "weakened", "words": "on a quiet day"}]}})
    assert [one.effect for one in result.ledger.objections] == ["weakened", "unclear"]
    assert "no entry for O2" in result.ledger.note


async def test_a_schema_wants_what_is_asked_for_and_nothing_else() -> None:
    _, model = await hold()
    for request in model.requests:
        if request.label.phase == "triage" or request.schema is None:
            continue
        fields = json.loads(request.schema)["properties"]
        match request.label.phase, request.label.round:
            case "critique", _:
                known = re.search(r"one entry for each of these: (O.*?)\. `holds`", shown(request))
                assert ("earlier" in fields) is (known is not None)
            case "position", 2:
                asked = len(records.asked_about(request))
                assert fields.get("answers", {}).get("minItems", 0) == asked
            case "effects", _:
                assert fields["claims"]["minItems"] == 2
            case _:
                pass


@pytest.mark.parametrize(("again", "quote"), [(True, "Nobody looked at December."), (False, "An invented line.")])
async def test_words_of_a_finding_that_stand_nowhere_are_asked_for_once_more(again: bool, quote: str) -> None:
    finding = {"severity": "major", "place": "A1:2", "quote": "An invented line.", "title": "December is left out."}

    def review(request: Request) -> Any:
        told = again and "copy it from the attachment" in shown(request)
        return {"findings": [{**finding, "quote": quote} if told else finding], "looked_at": "All."}

    result, model = await hold({"synthesis": review}, kind="review", material=PAGES)
    assert result.findings is not None and [one.quote for one in result.findings] == [quote]
    assert model.phases.count("synthesis") == 2
