"""The judge against 120 pairs that people judged, and what rests on it: fault lines of several debates."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.crux.conftest import lines_of

from crux.claims.judge import Judge, Pair, Verdict
from crux.insight.crux_graph import crux_graph, question_pairs, ties_of
from crux.measurement.judged_pairs import JudgeFigures, judge_figures
from crux.requests import Questioner
from crux.results import CruxCard, DebateResult
from llm_runtime.messages import Request
from llm_runtime.testing import ScriptedModel

pytest.importorskip("bm25s", reason="the judge belongs to the extra 'debate'")

KEY = [json.loads(line) for line in (Path(__file__).parent / "judged_pairs.jsonl").read_text("utf-8").splitlines()]
KINDS = {(one["premise"], one["claim"]): one["kind"] for one in KEY}
QUESTIONS = [one for one in KEY if one["premise"].endswith("?") and one["claim"].endswith("?")]


def judging(kind_of: Callable[[str, str], str]) -> Judge:
    """A judge whose model finds the kind that the function gives, and names the whole premise."""

    def answer(request: Request) -> str:
        verdicts = [
            {"pair": one["pair"], "kind": kind_of(one["premise"], one["claim"]), "span": one["premise"]}
            for one in lines_of(request, "PAIRS")
        ]
        return json.dumps({"verdicts": verdicts})

    return Judge(Questioner(ScriptedModel({"judge": answer}), seed=3))


def by_key(premise: str, claim: str) -> str:
    kind = KINDS.get((premise, claim)) or KINDS.get((claim, premise), "unrelated")
    return kind if (premise, claim) in KINDS or kind in ("same", "contradicts") else "unrelated"


def by_words(premise: str, claim: str) -> str:
    """What the project did before: the same where half of the words are shared, opposed where one has a "not"."""
    words = [set(re.findall(r"\w{3,}", text.lower())) for text in (premise, claim)]
    if 2 * len(words[0] & words[1]) < 0.5 * (len(words[0]) + len(words[1])):
        return "unrelated"
    negated = [bool({"not", "never", "nobody", "none"} & one) for one in words]
    return "contradicts" if negated[0] != negated[1] else "same"


async def measured(kind_of: Callable[[str, str], str], *, strict: bool = True) -> JudgeFigures:
    pairs = [Pair(one["premise"], one["claim"]) for one in KEY]
    verdicts = await judging(kind_of).relate(pairs, "key", strict=strict)
    return judge_figures([one["kind"] for one in KEY], verdicts)


async def test_a_judge_that_reads_passes_the_key_and_one_that_counts_words_does_not() -> None:
    assert len(KEY) == len(KINDS) == 120
    reads = await measured(by_key)
    assert (reads.same_precision.value or 0) >= 0.95 and (reads.contradiction_recall.value or 0) >= 0.8
    assert reads.right.hits == 120 and reads.unsure == 0
    counts = await measured(by_words)
    assert (counts.same_precision.value or 0) < 0.95 and (counts.contradiction_recall.value or 0) < 0.5


async def test_both_orders_must_agree_and_what_nobody_answers_is_unsure() -> None:
    def forgetful(premise: str, claim: str) -> str:
        return by_key(premise, claim) if (premise, claim) in KINDS else "unrelated"

    found = await measured(forgetful)
    assert found.same_recall.hits == found.contradiction_recall.hits == 0 and found.unsure == 48
    silent = Judge(Questioner(ScriptedModel({"judge": '{"verdicts": []}'}), seed=3))
    verdicts = await silent.relate([Pair("It rains.", "It is wet.")], "key")
    assert [verdict.kind for verdict in verdicts] == ["unsure"]


def card(key: str, question: str) -> CruxCard:
    data: dict[str, Any] = {
        "id": key,
        "question": question,
        "disagreement_type": "evidence",
        "diagnosis": "Different data.",
        "resolved": False,
        "personas": {name: {"position": label, "reasoning": "So."} for name, label in (("A", "YES"), ("B", "NO"))},
        "source_aspect": "a1",
        "source_messages": [],
        "crux_room_id": "room-1",
        "timestamp": 0,
    }
    return CruxCard.model_validate(data)


def debate(name: str, *cards: CruxCard) -> DebateResult:
    return DebateResult(debate_id=name, topic="T?", personas=("A", "B"), seed=0, state="finished", cards=cards)


async def ties(debates: list[DebateResult]) -> Any:
    pairs = question_pairs(debates)
    return ties_of(pairs, await judging(by_key).relate(pairs, "cruxes", strict=True))


async def test_paraphrases_merge_and_questions_that_share_words_stay_apart() -> None:
    pairs = [one for one in QUESTIONS if one["kind"] != "contradicts"]
    assert [one["kind"] for one in pairs] == ["same"] * 7 + ["unrelated"] * 4
    for one in pairs:
        two = [debate("d1", card("1", one["premise"])), debate("d2", card("2", one["claim"]))]
        lines = crux_graph(two, await ties(two)).fault_lines
        assert len(lines) == (1 if one["kind"] == "same" else 2), one
        assert len(crux_graph(two).fault_lines) == 2, "without a verdict only the same words are one"


async def test_fault_lines_recur_over_debates_and_never_join_a_negation() -> None:
    denied = next(one for one in QUESTIONS if one["kind"] == "contradicts")
    same = next(one for one in QUESTIONS if one["kind"] == "same")
    debates = [
        debate("d1", card("1", same["premise"]), card("2", denied["premise"])),
        debate("d2", card("3", same["claim"])),
        debate("d3", card("4", denied["claim"]), card("5", f"  {same['premise'].upper()} ")),
    ]
    found = crux_graph(debates, await ties(debates))
    assert [line.cards for line in found.fault_lines] == [("1", "3", "5"), ("2",), ("4",)]
    recurring = found.fault_lines[0]
    assert recurring.recurring and recurring.debates == ("d1", "d2", "d3")
    assert found.fault_lines[1].negated_by == ("4",)
    assert {link.kind for link in found.links} == {"same", "negation"}


async def test_many_questions_are_judged_with_their_nearest_alone() -> None:
    cards = [card(str(n), f"Should rule number {n} of the harbour be kept?") for n in range(60)]
    pairs = question_pairs([debate("d1", *cards)])
    assert len(pairs) <= 60 * 9 and ties_of(pairs, [Verdict(kind="unrelated")] * len(pairs)) == {}


async def test_an_engine_that_writes_by_a_grammar_judges_every_pair() -> None:
    """A small model judged the first pair of a call and left the rest out: 115 of 120 were unsure."""
    jsonschema = pytest.importorskip("jsonschema")
    generate = ScriptedModel({"judge": '{"verdicts": []}'})
    pairs = [Pair(one["premise"], one["claim"]) for one in KEY[:2]]
    await Judge(Questioner(generate, seed=3)).relate(pairs, "key")
    allowed = json.loads(generate.requests[0].grammar or "")

    def verdict(number: int, kind: str, span: str) -> dict[str, Any]:
        return {"pair": number, "why": "They say one thing.", "kind": kind, "span": span}

    shown = lines_of(generate.requests[0], "PAIRS")
    # Two pairs, and three whose answers are known.
    assert len(shown) == 5
    good = [verdict(1, "same", shown[0]["premise"])] + [verdict(n, "unrelated", "") for n in range(2, 6)]
    jsonschema.validate({"verdicts": good}, allowed)
    jsonschema.validate({"verdicts": good}, json.loads(generate.requests[0].schema or ""))
    other = [*good[:4], verdict(5, "supports", "words of nobody")]
    for bad in (good[:4], good[::-1], other, [*good[:4], verdict(5, "supports", "")]):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"verdicts": bad}, allowed)
