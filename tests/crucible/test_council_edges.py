"""Where a council of records could go wrong unseen: simple questions, late voices, what is conceded or open."""

from __future__ import annotations

from typing import Any

from tests.crucible import records
from tests.crucible.records import configuration, hold, shown
from tests.crucible.test_council_effects import effect_of

from llm_runtime import Request
from llm_runtime.errors import ServerFault


async def test_a_simple_question_is_answered_by_one_model_but_a_challenge_is_put_to_the_council() -> None:
    simple = configuration(complexity="simple", short_circuit_allowed=True)
    result, model = await hold({"answer": "One."}, configured=simple)
    assert model.phases == ["triage", "answer"] and not result.attacked
    asked = {"earlier": "Answer: One will do.", "challenge": "One will do."}
    result, model = await hold({"answer": "One."}, configured=simple, **asked)
    assert model.phases[:2] == ["triage", "critique"] and result.attacked


async def test_a_seat_that_speaks_late_is_heard_before_the_council_ends_early() -> None:
    def late(request: Request) -> Any:
        if request.label.seat == "3:creative" and request.label.round == 1:
            return ServerFault("down", model="m")
        return {**records.position(request), "conclusion": "Take one server."}

    result, _ = await hold({"position": late}, configured=configuration(loops=4))
    assert (result.loops_executed, result.early_exit) == (3, True)


async def test_a_claim_that_the_answer_nearly_repeats_is_not_gone_on_a_reader_s_word() -> None:
    pair = {
        "claim": "One server carries the whole load of the shop on a quiet day.",
        "answer": "Think of cost. One server carries the load of the shop on a quiet day.",
    }
    gone = {"claims": [{"id": "O1", "does": "absent", "words": ""}]}
    assert await effect_of(pair, gone) == "unclear"
    assert await effect_of({**pair, "answer": "Think of cost. Rent a machine for a month."}, gone) == "absent"


async def test_what_the_answer_names_as_open_is_open_though_a_seat_conceded_it() -> None:
    def named(request: Request) -> Any:
        told = records.effects(request)
        return {"claims": [{**one, "does": "named"} for one in told["claims"]]}

    result, _ = await hold({"effects": named})
    assert [(one.id, one.outcome) for one in result.ledger.still_open] == [("O1", "conceded"), ("O2", "open")]
    result, _ = await hold()
    assert not result.ledger.still_open


async def test_what_a_seat_conceded_is_not_pressed_again() -> None:
    def insists(request: Request) -> Any:
        again = [{"id": "O1", "holds": True, "why": "It is wrong."}] if "O1" in shown(request) else []
        return {**records.critique(request), "earlier": again}

    result, _ = await hold({"critique": insists}, configured=configuration(loops=3))
    first = result.ledger.objections[0]
    assert (first.id, first.outcome, first.pressed) == ("O1", "conceded", ())
