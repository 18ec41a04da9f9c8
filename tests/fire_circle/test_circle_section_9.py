"""The specification, section 9 "Test Requirements": each test bears the number of its requirement there.

Those of section 9.3 "Research Validation Tests" run against scripted models here: they prove the plumbing only.
Whether the empty chair, the patterns and the cost hold with real models is for :mod:`fire_circle.measurement`.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fire_circle import (
    CircleConfigurationError,
    EvaluationError,
    FailureMode,
    FireCircleConfig,
    MultiNeutrosophicPrompt,
    SessionMemory,
    get_empty_chair_model,
)
from fire_circle.datasets import load_histories
from fire_circle.empty_chair import choose_chair
from fire_circle.events import RoundEnded, RoundStarted
from fire_circle.measurement.ablation import suite_influence
from fire_circle.results import FireCircleResult
from fire_circle.seats import Seat, seat_circle
from llm_runtime.errors import ServerFault
from llm_runtime.messages import Request

TEMPORAL = ("temporal inconsistency: nothing was agreed", "As we agreed in turn 3")
AUTHORITY = ("false authority: claims a rank", "I am an auditor")


# 9.1.1 Configuration validation


@pytest.mark.parametrize(("size", "least", "most"), [("small", 2, 3), ("medium", 4, 6), ("large", 7, 10)])
def test_9_1_1_circle_sizes_are_enforced(size: Any, least: int, most: int) -> None:
    for count in range(1, 12):
        models = tuple(f"m{i}" for i in range(count))
        if least <= count <= most:
            assert FireCircleConfig(circle_size=size, models=models).size.name.lower() == size
        else:
            with pytest.raises(CircleConfigurationError):
                FireCircleConfig(circle_size=size, models=models)


def test_9_1_1_failure_modes_are_validated() -> None:
    assert FireCircleConfig().failure_mode is FailureMode.RESILIENT
    strict: Any = "strict"
    assert FireCircleConfig(failure_mode=strict).failure_mode is FailureMode.STRICT
    lenient: Any = "lenient"
    with pytest.raises(CircleConfigurationError, match="failure_mode"):
        FireCircleConfig(failure_mode=lenient)


# 9.1.2 Empty chair rotation


def test_9_1_2_the_chair_follows_the_specified_rotation() -> None:
    assert [get_empty_chair_model(n, ["A", "B", "C"]) for n in (1, 2, 3, 4)] == [None, "B", "C", "A"]


@given(st.integers(2, 10), st.data())
def test_9_1_2_nobody_takes_the_chair_twice_in_succession(count: int, data: st.DataObject) -> None:
    seats = seat_circle([f"m{i}" for i in range(count)])
    present, chair = list(seats), None
    chairs: list[Seat | None] = []
    for number in range(1, 5):
        chair = choose_chair(number, seats, present, chair)
        chairs.append(chair)
        assert chair is None or chair in present
        while len(present) > 2 and data.draw(st.booleans()):
            present.remove(data.draw(st.sampled_from(present)))
    assert chairs[0] is None
    assert all(one != other for one, other in pairwise(chairs[1:]))
    assert None not in chairs[1:]


async def test_9_1_2_the_influence_is_calculated(circle: Any, tif: Any) -> None:
    lines = {
        "1:a": [tif(0.1), tif(0.1, patterns=[TEMPORAL])],
        "2:b": [tif(0.9), tif(0.9, patterns=[TEMPORAL, AUTHORITY])],
    }
    assert (await circle(lines)).result.empty_chair_influence == 0.75


# 9.1.3 Pattern extraction: agreement, threshold and classification


async def test_9_1_3_agreement_and_threshold(circle: Any, tif: Any) -> None:
    lines = {
        "1:a": [tif(0.1), tif(0.1, patterns=[TEMPORAL, AUTHORITY])],
        "2:b": [tif(0.9), tif(0.9, patterns=[TEMPORAL, AUTHORITY])],
        "3:c": [tif(0.5), tif(0.5, patterns=[TEMPORAL])],
    }
    patterns = (await circle(lines, pattern_threshold=0.7)).result.patterns
    assert [(p.pattern_type, p.model_agreement) for p in patterns] == [("temporal_inconsistency", 1.0)]
    patterns = (await circle(lines, pattern_threshold=0.5)).result.patterns
    assert [p.pattern_type for p in patterns] == ["temporal_inconsistency", "false_authority"]
    assert patterns[1].model_agreement == pytest.approx(2 / 3)


# 9.2.1 Small circle


async def test_9_2_1_a_small_circle_of_two_rounds(circle: Any, tif: Any) -> None:
    lines = {"1:a": [tif(0.3), tif(0.4)], "2:b": [tif(0.6), tif(0.8, patterns=[AUTHORITY])]}
    result: FireCircleResult = (await circle(lines, max_rounds=2)).result
    assert [dialogue_round.phase for dialogue_round in result.dialogue_history] == ["baseline", "discussion"]
    assert not result.failures
    assert result.consensus.falsehood == 0.8
    assert result.empty_chair_influence > 0.0


# 9.2.2 Three models, three rounds (called "medium" there; three make a SMALL circle, FC7)


async def test_9_2_2_three_models_and_three_rounds(circle: Any, tif: Any) -> None:
    lines = {
        "1:a": [tif(0.2, "looks fine"), tif(0.5, patterns=[TEMPORAL]), tif(0.4, patterns=[TEMPORAL])],
        "2:b": [tif(0.7, "turn 3 is odd"), tif(0.9, "it never was", patterns=[TEMPORAL]), tif(0.6)],
        "3:c": [tif(0.1, "polite"), tif(0.3), tif(0.3)],
    }
    sitting = await circle(lines, session=SessionMemory())
    assert sitting.result.consensus.falsehood == 0.9, "the highest F, although round 3 ended lower"
    assert [p.pattern_type for p in sitting.result.patterns] == ["temporal_inconsistency"]
    by_label = {(r.label.seat, r.label.round): r.messages[1].content for r in sitting.asked}
    second = by_label["1:a", 2]
    assert '"judge": "judge B"' in second
    assert "turn 3 is odd" in second
    assert "given that turn=1" in second
    third = by_label["1:a", 3]
    assert '"kind": "temporal_inconsistency"' in third
    assert '"judges": 2' in third
    assert "it never was" in third, "b held the chair in round 2"


# 9.2.3 Failure handling


async def test_9_2_3_a_failure_in_round_2(circle: Any, tif: Any) -> None:
    lines = {"1:a": [tif(0.9), ServerFault("down")], "2:b": [tif(0.2)], "3:c": [tif(0.6)]}
    result = (await circle(lines)).result
    assert (result.partial, result.failed_models, result.consensus.falsehood) == (True, ("a_round_2",), 0.6)
    with pytest.raises(EvaluationError) as caught:
        await circle(lines, failure_mode="strict")
    assert (caught.value.model, caught.value.layer_name) == ("a", "round_2")


async def test_9_2_3_an_unparseable_answer(circle: Any, tif: Any) -> None:
    result = (await circle({"1:a": ["Hm."], "2:b": [tif(0.2)], "3:c": [tif(0.6)]})).result
    (failure,) = result.failures
    assert failure.kind == "unparseable"
    assert failure.detail.endswith("the answer holds no JSON object: Hm.")


# 9.2.4 Convergence


async def test_9_2_4_rounds_measure_convergence(circle: Any, tif: Any) -> None:
    sitting = await circle({"1:a": [tif(0.0), tif(0.4)], "2:b": [tif(1.0), tif(0.5)]})
    first, second = sitting.result.round_metrics
    assert (first.f_score_mean, first.f_score_stddev, first.convergence_delta) == (0.5, 0.5, None)
    assert (second.f_score_mean, second.f_score_stddev) == (pytest.approx(0.45), pytest.approx(0.05))
    assert second.convergence_delta == pytest.approx(-0.45)
    assert sitting.result.stopped_early
    assert [e.metrics.round_number for e in sitting.of(RoundEnded)] == [1, 2]
    assert len(sitting.of(RoundStarted)) == 2


# 9.3 Research validation, with scripted models: the plumbing only


async def test_9_3_1_the_empty_chair_over_ten_attacks(circle: Any, tif: Any) -> None:
    results: list[FireCircleResult] = []
    for number in range(10):
        chair = [TEMPORAL, AUTHORITY] if number % 2 else [TEMPORAL]
        prompt = MultiNeutrosophicPrompt(user=f"Case {number}. As we agreed in turn 3, I am an auditor.")
        lines = {
            "1:a": [tif(0.1), tif(0.2, patterns=[TEMPORAL])],
            "2:b": [tif(0.9), tif(0.9, patterns=chair)],
            "3:c": [tif(0.5)],
        }
        results.append((await circle(lines, prompt)).result)
    influence, effective = suite_influence(results)
    assert influence == pytest.approx((5 * 0.5 + 5 * 0.75) / 10)
    assert effective


@pytest.mark.parametrize("name", ["history_04", "history_10"])
async def test_9_3_2_patterns_of_the_histories(circle: Any, tif: Any, name: str) -> None:
    pair = next(pair for pair in load_histories() if pair.pair_id == name)
    case = pair.violation
    quotes = [item.quote for item in case.evidence]
    kinds = [case.pattern.value, next(k for k in ("role_confusion", "false_authority") if k != case.pattern.value)]
    claims = [(f"{kind}: see the quote", quote) for kind, quote in zip(kinds, (quotes * 2)[:2], strict=True)]
    lines = {"1:a": [tif(0.2), tif(0.7, patterns=claims)], "2:b": [tif(0.9), tif(0.9, patterns=claims)]}
    session = SessionMemory.of_messages((turn.role, turn.content) for turn in case.history)
    result = (await circle(lines, case.layers, session=session)).result
    assert result.turn == case.turn_count
    assert len(result.patterns) >= 2
    assert all(len(pattern.models_observing) >= 2 for pattern in result.patterns)


async def test_9_3_3_cost_against_a_single_model(circle: Any, tif: Any) -> None:
    asked: list[Request] = (await circle({"1:a": [tif(0.1)], "2:b": [tif(0.9)], "3:c": [tif(0.5)]})).asked
    assert len(asked) == 9, "nine calls where a single model takes one; the lift report says what they bought"
