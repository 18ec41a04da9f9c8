"""The three strategies that detect change, each used through the engine or by itself."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible import CouncilRole
from crucible.events import LoopEnded
from crucible.executor.delta import LLMJudgeDeltaStrategy, TextSimilarityDeltaStrategy
from crucible.openrouter.client import OpenRouterClient
from llm_runtime.events import silent
from llm_runtime.messages import CallLabel
from llm_runtime.testing import ScriptedModel

Make = Callable[..., Any]
EXPERT, PRAGMATIST = CouncilRole.DOMAIN_EXPERT, CouncilRole.PRAGMATIST
LABEL = CallLabel("crucible", "delta", round=2)


def judge(model: ScriptedModel) -> LLMJudgeDeltaStrategy:
    return LLMJudgeDeltaStrategy(OpenRouterClient(model, silent), LABEL, seed=1)


async def test_the_judge_reads_both_sets_of_positions_by_role() -> None:
    model = ScriptedModel(["NO"])

    assert await judge(model).detect({EXPERT: "Use SQLite."}, {EXPERT: "SQLite it is."}) is False

    system, question = model.requests[0].messages
    assert (system.role, system.content) == ("system", "You are a judge. Answer only YES or NO.")
    before, after = question.content.split("CURRENT:\n")
    assert "<<<PRIOR domain_expert " in before and "Use SQLite." in before
    assert "<<<CURRENT domain_expert " in after and "SQLite it is." in after


@pytest.mark.parametrize("judgment", ["...", "- 42 -"])
async def test_a_judgment_without_a_word_does_not_end_a_council(judgment: str) -> None:
    assert await judge(ScriptedModel([judgment])).detect({EXPERT: "Use SQLite."}, {EXPERT: "SQLite it is."}) is True


@pytest.mark.parametrize("strategy", [judge(ScriptedModel([])), TextSimilarityDeltaStrategy()])
async def test_without_a_prior_every_strategy_says_changed(strategy: Any) -> None:
    assert await strategy.detect(None, {EXPERT: "Use SQLite."}) is True


def text(words: int, replaced: int = 0) -> str:
    """``words`` different words, some of them replaced, evenly scattered."""
    changed = {round((i + 1) * words / (replaced + 1)) for i in range(replaced)}
    return " ".join(f"{'new' if i in changed else 'word'}{i}" for i in range(words))


@pytest.mark.parametrize(("replaced", "changed"), [(0, False), (3, False), (4, True), (50, True)])
async def test_text_similarity_allows_three_new_words_in_a_hundred(replaced: int, changed: bool) -> None:
    assert await TextSimilarityDeltaStrategy().detect({EXPERT: text(100)}, {EXPERT: text(100, replaced)}) is changed


async def test_text_similarity_overlooks_case_punctuation_and_layout() -> None:
    before = {EXPERT: "Use SQLite: it is enough, for now."}
    after = {EXPERT: "**use sqlite** - it is enough\nFor Now"}

    assert await TextSimilarityDeltaStrategy(threshold=1).detect(before, after) is False


@pytest.mark.parametrize("strategy", [TextSimilarityDeltaStrategy()])
async def test_a_role_that_comes_or_goes_is_a_change(strategy: Any) -> None:
    both = {EXPERT: "Use SQLite.", PRAGMATIST: "Use files."}

    assert await strategy.detect(both, {EXPERT: "Use SQLite."}) is True
    assert await strategy.detect({EXPERT: "Use SQLite."}, both) is True


@given(st.text(), st.text())
async def test_text_similarity_is_symmetric_and_sees_no_change_in_the_same_text(a: str, b: str) -> None:
    strategy = TextSimilarityDeltaStrategy()

    assert await strategy.detect({EXPERT: a}, {EXPERT: a}) is False
    assert await strategy.detect({EXPERT: a}, {EXPERT: b}) is await strategy.detect({EXPERT: b}, {EXPERT: a})


@pytest.mark.parametrize("threshold", [0, -1, 1.01, math.nan])
def test_a_threshold_out_of_range_is_refused(threshold: float) -> None:
    with pytest.raises(ValueError, match="threshold"):
        TextSimilarityDeltaStrategy(threshold)


async def test_a_council_that_repeats_itself_ends_early_without_a_judge(council: Make, ask: Make) -> None:
    model: ScriptedModel = council({"position": "The same words, again and again."}, loop_count=5)

    run = await ask(model, delta_strategy=TextSimilarityDeltaStrategy())

    assert run.result.loops_executed == 2
    assert model.asked("delta") == []
    assert run.of(LoopEnded)[1].judged is True


@pytest.mark.parametrize(
    ("judgment", "changed"),
    [("<think>hm</think>NO", False), ("\n<think>\nYES? NO?\n</think>\n\nYes.", True), ("<think>hm NO", True)],
)
async def test_what_the_judge_thinks_aloud_first_is_no_judgment(judgment: str, changed: bool) -> None:
    assert await judge(ScriptedModel([judgment])).detect({EXPERT: "Use SQLite."}, {EXPERT: "Use it."}) is changed
