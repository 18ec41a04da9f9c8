"""Records that no model should write, at random: a council ends with an answer, or with one line on why not."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from tests.crucible import records
from tests.crucible.records import ANSWER, configuration, hold

from crucible import Attachment, headline
from llm_runtime import Request
from llm_runtime.errors import LlmRuntimeError

DIFF = [Attachment(name="diff", text="--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n-a = 1\n+a = 2\n b = 3")]
REVIEW = {
    "findings": [{"severity": "major", "place": "A1:5", "quote": "a = 2", "title": "It is two."}],
    "looked_at": "It.",
}
ODD: list[Any] = [
    None, "", 0, -1, True, [], {}, [[]], {"a": {}}, "x" * 50_000, "word " * 50_000, "\u202e\u0000", "P1, P2", "q2",
    "A1:0", "A1:9-1", "A999:1", "。" * 50,
    "maybe", ["O1"], "𝕆𝟙", "I can't help with that.", "- a\n- b", "```json\n{}\n```",
]  # fmt: skip


class Careless:
    """Changes values of records, leaves some out, breaks some off, and writes about them."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.share = self.draw.choice([0.02, 0.1, 0.4])

    def changed(self, value: Any) -> Any:
        if self.draw.random() < self.share:
            return self.draw.choice(ODD)
        if isinstance(value, dict):
            return {name: self.changed(one) for name, one in value.items() if self.draw.random() > self.share / 2}
        if isinstance(value, list):
            return [self.changed(one) for one in value] * self.draw.choice([1, 1, 1, 2, 20])
        return value

    def plays(self, record: Any) -> Any:
        def says(request: Request) -> str:
            text = json.dumps(self.changed(record(request) if callable(record) else record), ensure_ascii=False)
            text = text[: self.draw.randrange(len(text) + 1)] if self.draw.random() < self.share else text
            return self.draw.choice(["", "", "Here it is:\n", "<think>{}</think>", "```json\n"]) + text

        return says


@pytest.mark.parametrize("seed", [*range(20), *(pytest.param(n, marks=pytest.mark.long) for n in range(20, 60))])
async def test_a_council_of_odd_records_ends_with_an_answer_or_one_line(seed: int) -> None:
    model, kind = Careless(seed), ("answer", "review")[seed % 2]
    synthesis = REVIEW if kind == "review" else ANSWER
    says = {"critique": records.critique, "effects": records.effects, "synthesis": synthesis}
    says |= {"position": records.position, "defence": records.position}
    grammar = ("parallel", "debate", "sequential")[seed % 3]
    try:
        result, asked = await hold(
            {phase: model.plays(record) for phase, record in says.items()},
            kind=kind, material=DIFF if seed % 4 else [], configured=configuration(grammar),
        )  # fmt: skip
    except LlmRuntimeError as fault:
        assert str(fault).strip() and "\n" not in str(fault)
        return
    assert result.final_response.strip() and headline(result.ledger)
    assert len(asked.requests) < 80
    assert bool(result.ledger.objections) or not result.attacked


@pytest.mark.parametrize(
    "spoiled", [{"claims": "none"}, {"claims": [{"claim": "One."}]}, {"claims": 3, "objections": "O1"}, {"claims": [7]}]
)
async def test_an_answer_beside_fields_that_cannot_be_read_is_no_object_to_its_reader(spoiled: Any) -> None:
    result, _ = await hold({"synthesis": {"answer": "Take one server, and measure it in December.", **spoiled}})
    assert result.final_response == "Take one server, and measure it in December."


async def test_a_record_whose_answer_is_empty_is_no_answer() -> None:
    with pytest.raises(LlmRuntimeError):
        await hold({"synthesis": {"answer": "", "claims": []}})
