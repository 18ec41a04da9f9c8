"""What the answer does with an attacked claim: words decide where they can, and no told story beats them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.crucible import records
from tests.crucible.records import ANSWER, hold, shown

from crucible import headline
from llm_runtime import Request
from llm_runtime.errors import ServerFault

LEADS = {
    "en": "Decide by what is known today. ",
    "de": "Entscheiden Sie nach dem, was heute bekannt ist. ",
    "zh": "请按目前已知的情况决定。",
}


def pairs() -> Iterator[dict[str, str]]:
    """A claim, an answer, what the answer does with the claim, and the words that show it; as labelled by us."""
    text = (Path(__file__).parent / "answers.toml").read_text(encoding="utf-8")
    for claim in tomllib.loads(text)["claim"]:
        for does in ("restated", "weakened", "changed", "absent"):
            words = "" if does == "absent" else claim[does]
            answer = LEADS[claim["language"]] + claim[does]
            yield {**claim, "claim": claim["text"], "does": does, "words": words, "answer": answer}


PAIRS = list(pairs())


async def effect_of(pair: dict[str, str], told: Any) -> str | None:
    """Hold a council whose only attacked claim and whose answer are the pair's; return the effect."""

    def position(request: Request) -> Any:
        said = records.position(request)
        if "answers" not in said:
            said["claims"] = [{"text": pair["claim"]}]
        return said

    def critique(request: Request) -> Any:
        said = records.critique(request)
        said["objections"] = [{**one, "words": ""} for one in said["objections"]]
        return said if request.label.round == 1 else {**said, "objections": []}

    synthesis = {**ANSWER, "answer": pair["answer"]}
    result, _ = await hold({"position": position, "critique": critique, "synthesis": synthesis, "effects": told})
    (objection,) = result.ledger.objections
    return objection.effect


def honest(pair: dict[str, str]) -> Any:
    return {"claims": [{"id": "O1", "does": pair["does"], "words": pair["words"]}]}


def still_made(effect: str | None) -> bool:
    return effect in ("restated", "weakened")


async def test_an_honest_reader_is_taken_at_its_word_in_three_languages() -> None:
    seen = [(pair, await effect_of(pair, honest(pair))) for pair in PAIRS]
    right = sum(still_made(effect) == still_made(pair["does"]) for pair, effect in seen)
    hits = sum(still_made(effect) and still_made(pair["does"]) for pair, effect in seen)
    found = sum(still_made(effect) for _, effect in seen)
    wanted = sum(still_made(pair["does"]) for pair in PAIRS)
    f1 = 2 * hits / (found + wanted)
    assert (f1, right) == (1.0, 100), [
        (pair["claim"], pair["does"], effect) for pair, effect in seen if pair["does"] != effect
    ]
    assert len(PAIRS) == 100 and {pair["language"] for pair in PAIRS} == {"en", "de", "zh"}


async def test_a_reader_who_says_that_everything_is_gone_takes_no_restated_claim_away() -> None:
    gone = {"claims": [{"id": "O1", "does": "absent", "words": ""}]}
    for pair in PAIRS:
        if pair["does"] == "restated" and pair["restated"] == pair["claim"]:
            assert await effect_of(pair, gone) == "restated"
            changed = {"claims": [{"id": "O1", "does": "changed", "words": pair["answer"][:40]}]}
            assert await effect_of(pair, changed) == "restated"


async def test_words_that_the_answer_does_not_hold_show_nothing() -> None:
    for does in ("changed", "weakened", "named", "restated"):
        invented = {"claims": [{"id": "O1", "does": does, "words": "words that nobody ever wrote in it"}]}
        assert await effect_of(PAIRS[-1], invented) == "unclear"


@pytest.mark.parametrize("reader", ["no object", {"claims": []}, ServerFault("down", model="m")])
async def test_without_a_reader_nothing_is_counted_and_the_ledger_says_so(reader: Any) -> None:
    result, _ = await hold({"effects": reader})
    assert headline(result.ledger) == "2 objections; of the claims attacked: 2 not settled"
    assert "was not looked at" in result.ledger.note and result.final_response == ANSWER["answer"]


async def test_a_synthesis_that_boasts_raises_no_count() -> None:
    boast = {**ANSWER, "objections": [{"objection": "O1", "does": "dropped"}, {"objection": "O2", "does": "changed"}]}
    modest, _ = await hold()
    proud, _ = await hold({"synthesis": boast})
    assert headline(modest.ledger) == headline(proud.ledger)


async def test_the_reader_sees_claims_and_answer_and_no_word_of_who_said_what() -> None:
    _, model = await hold()
    (asked,) = [shown(request) for request in model.requests if request.label.phase == "effects"]
    assert ANSWER["answer"] in asked and "one server carries the load" in asked.lower()
    assert "concede" not in asked.lower() and "critic" not in asked.lower()


@pytest.mark.parametrize("does", ["weakened", "changed"])
@pytest.mark.parametrize(
    ("label", "end"), [("Decision: ", ""), ("- **Answer:** ", "\n\nNo more."), ("结论：", ""), ("الخلاصة: ", "")]
)
async def test_a_claim_to_the_letter_behind_a_label_is_never_told_as_less(does: str, label: str, end: str) -> None:
    for claim in (
        "One server carries the load of a week.",
        "一台服务器足够承担全部负载。",
        "خادم واحد يكفي لتحمل الحمل.",
    ):
        pair = {"claim": claim, "answer": f"{label}{claim}{end}"}
        lie = {"claims": [{"id": "O1", "does": does, "words": claim.rstrip(".。")}]}
        assert await effect_of(pair, lie) == "unclear"
        said = {"claim": claim, "answer": f"{label}{claim.rstrip('.。')} {'only' * 9}{end}"}
        assert await effect_of(said, lie) == does
