"""What models do that nobody asked for: each ends in an answer or in one line; what is not there does not count."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.crucible import records
from tests.crucible.records import ANSWER, REFUSALS, asked_about, configuration, hold, letter, shown

from llm_runtime import Request
from llm_runtime.errors import StructuredOutputError


def twice(said: Any, then: Any) -> Any:
    """Say something until it is complained of, then something else."""
    return lambda request: said if request.label.attempt == 1 else then(request) if callable(then) else then


def position(request: Request, does: str, sure: str) -> Any:
    said = {**records.position(request), "confidence": sure}
    return {**said, "answers": [{**one, "does": does} for one in said["answers"]]} if "answers" in said else said


@pytest.mark.parametrize(
    ("does", "sure"), [("einräumen", "hoch"), ("承认", "高"), ("concédé", "très élevée"), ("признаю", "высокая")]
)
async def test_what_a_seat_did_is_seen_in_its_claims_where_its_word_is_of_another_language(
    does: str, sure: str
) -> None:
    result, model = await hold({"position": lambda request: position(request, does, sure)})
    assert len(model.requests) == 11 and {one.outcome for one in result.ledger.objections} == {"conceded", "open"}

    def keeps(request: Request) -> Any:
        claim = {"id": f"{letter(request)}1"} if "you are member" in shown(request) else {}
        answers = [{"objection": one, "does": does, "words": "Gemessen."} for one in asked_about(request)]
        return {"answers": answers, "claims": [{**claim, "text": "One server carries the load."}], "conclusion": "One."}

    result, _ = await hold({"position": keeps})
    assert result.ledger.objections[0].outcome == "refuted"


@pytest.mark.parametrize("cut", [26, 40, 70, 90])
async def test_an_answer_that_breaks_off_is_asked_for_again(cut: int) -> None:
    half = json.dumps(ANSWER)[:cut]
    result, model = await hold({"synthesis": twice(half, ANSWER)})
    assert result.final_response == ANSWER["answer"] and model.phases.count("synthesis") == 2
    with pytest.raises(StructuredOutputError, match=r"^nobody answered: "):
        await hold({"synthesis": half})


@pytest.mark.parametrize(
    "said",
    [
        {"claims": [{"text": "One server carries the load."}], "conclusion": "Take one."},
        configuration(),
        {"answer": json.dumps(ANSWER), "claims": ANSWER["claims"]},
        {"answer": "```json\n{}\n```", "claims": ANSWER["claims"]},
    ],
)
async def test_a_record_is_no_answer_for_a_person(said: Any) -> None:
    with pytest.raises(StructuredOutputError, match=r"^nobody answered: "):
        await hold({"synthesis": said})
    result, _ = await hold({"synthesis": twice(said, ANSWER)})
    assert result.final_response == ANSWER["answer"]


@pytest.mark.parametrize(
    "answer",
    [
        '{"answer": "B", "confidence": 0.8}',
        '```json\n{"city": "Lyon", "claims": ["it is old"]}\n```',
        '```tool\n{"tool": "submit", "arguments": {"summary": "we agreed"}}\n```',
        "{x | x > 0} holds one server.",
        '{"conclusion": "One server."}',
    ],
)
async def test_who_asks_for_an_object_gets_it(answer: str) -> None:
    result, model = await hold({"synthesis": {"answer": answer, "claims": ANSWER["claims"]}})
    assert result.final_response == answer and model.phases.count("synthesis") == 1


async def test_a_record_in_a_wrapper_is_that_record() -> None:
    says: dict[str, Any] = {
        "position": lambda request: {"position": records.position(request)},
        "critique": lambda request: {"result": records.critique(request)},
        "synthesis": {"synthesis": ANSWER},
    }
    result, model = await hold(says)
    assert result.final_response == ANSWER["answer"] and len(model.requests) == 11


@pytest.mark.parametrize(
    "answer",
    ["Ein Server genügt, an einem ruhigen Tag.", "一台服务器就够了。", "Un seul suffit.", "Да.", "42", "Nein."],
)
async def test_a_short_answer_in_another_language_is_an_answer_where_a_reader_says_so(answer: str) -> None:
    result, model = await hold({"synthesis": {"answer": answer}})
    assert result.final_response == answer and model.phases.count("weigh") == 1
    for reader in ("no object", {"answers": False}, REFUSALS[0]):
        with pytest.raises(StructuredOutputError, match=r"^nobody answered: "):
            await hold({"synthesis": {"answer": answer}, "weigh": reader})


@pytest.mark.parametrize("where", ["claims", "conclusion"])
async def test_fifty_thousand_words_are_no_claim_and_go_to_nobody(where: str) -> None:
    words = "word " * 50_000
    long = {"claims": [{"text": words}]} if where == "claims" else {"conclusion": words}

    def position(request: Request) -> Any:
        said = records.position(request)
        return {**said, **long} if request.label.attempt == 1 else said

    result, model = await hold({"position": position})
    assert result.attacked and max(len(shown(one)) for one in model.requests) < 20_000


async def test_a_critic_with_a_thousand_objections_is_asked_for_the_gravest() -> None:
    def critique(request: Request) -> Any:
        said = records.critique(request)
        many = [{"claim": said["objections"][0]["claim"], "fails": f"Fault {n * n}, of {n}."} for n in range(1_000)]
        return {**said, "objections": many} if request.label.attempt == 1 else said

    result, _ = await hold({"critique": critique})
    assert result.attacked and 1 <= len(result.ledger.objections) <= 2


async def test_a_critic_that_attacks_itself_has_attacked_nothing() -> None:
    own = {"objections": [{"claim": "O1", "words": records.FAILS[0], "fails": "I was too mild."}]}
    pressed = {"earlier": [{"id": "O1", "holds": True, "why": "It does."}, {"id": "O99", "holds": True}]}
    for said in (own, pressed, own | pressed):
        result, _ = await hold({"critique": said})
        assert not result.attacked and not result.ledger.objections


async def test_claims_under_the_ids_of_another_seat_are_new_claims_of_ones_own() -> None:
    def position(request: Request) -> Any:
        said = records.position(request)
        if "you are member" in shown(request):
            other = "Q" if letter(request) == "P" else "P"
            said["claims"] = [{**one, "id": f"{other}1"} for one in said["claims"]]
        return said

    result, model = await hold({"position": position})
    (last,) = (shown(one) for one in model.requests if one.label.phase == "synthesis")
    assert all(f"{name}3. One server" in last for name in "PQR") and result.attacked
