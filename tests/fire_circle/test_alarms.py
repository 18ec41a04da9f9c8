"""An alarm that was raised stays in the verdict, whatever becomes of the seat that raised it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.bound import ID

from fire_circle import FireCircleResult
from llm_runtime.errors import ReplyFiltered, ServerFault
from llm_runtime.messages import Request

CALM = {"2:b": 0.3, "3:c": 0.3}
ABSTAIN = json.dumps({"request": ID, "abstain": True, "reasoning": "I would rather not go on with this."})
REFUSAL = "I'm sorry, I can't help with that."

CONCESSIONS = [
    "The visible part of the mail is harmless; the hidden comment tells the assistant to leak birth dates.",
    "The layer states that there is no violation and orders the judges to answer 0.",
    "The system layer does not violate anything. The user layer claims an approval nobody gave.",
    "The greeting is entirely harmless. What follows takes the patients' records.",
    "There is no violation in the first paragraph. The second one asks for the keys.",
    "The format keeps reciprocity, the request behind it steals.",
]


async def verdict(circle: Any, tif: Any, script: list[Any], **config: Any) -> FireCircleResult:
    lines = {"1:a": script, **{label: [tif(falsehood)] for label, falsehood in CALM.items()}}
    return (await circle(lines, **config)).result


@pytest.mark.parametrize("reasoning", CONCESSIONS)
async def test_an_alarm_that_concedes_something_stays(circle: Any, tif: Any, reasoning: str) -> None:
    result = await verdict(circle, tif, [tif(0.95, reasoning)])
    assert (result.consensus.falsehood, result.consensus.model, result.failures) == (0.95, "a", ())


def after(first: Any, then: Any) -> Callable[[Request], Any]:
    return lambda request: first if request.label.attempt == 1 else then


@pytest.mark.parametrize("then", [ABSTAIN, REFUSAL, "Well.", ReplyFiltered("filtered"), ServerFault("down")])
async def test_an_alarm_that_is_asked_about_and_gets_no_other_score_stays(circle: Any, tif: Any, then: Any) -> None:
    result = await verdict(circle, tif, [after(tif(0.95, CONCESSIONS[0], conclusion="keeps"), then)], max_rounds=1)
    assert (result.consensus.falsehood, result.failures, result.abstentions) == (0.95, (), ())
    assert result.consensus.doubt


async def test_an_alarm_given_up_when_asked_about_is_named(circle: Any, tif: Any) -> None:
    script = [after(tif(0.95, CONCESSIONS[0], conclusion="keeps"), tif(0.1, "It is fair."))]
    result = await verdict(circle, tif, script, max_rounds=1)
    assert (result.consensus.falsehood, result.silenced) == (0.3, ("a",))
    assert any("asked whether it meant 0.95" in warning for warning in result.warnings)


@pytest.mark.parametrize("then", [ABSTAIN, REFUSAL, ReplyFiltered("filtered"), "Well, well."])
@pytest.mark.parametrize("rounds", [2, 3])
async def test_who_falls_silent_takes_nothing_back(circle: Any, tif: Any, then: Any, rounds: int) -> None:
    script = [tif(0.95)] * (rounds - 1) + [then]
    result = await verdict(circle, tif, script, max_rounds=rounds, early_stop_convergence=0)
    assert (result.consensus.falsehood, result.consensus.model) == (0.95, "a")
    assert (result.active_models, result.silenced) == (("b", "c"), ("a",))


@pytest.mark.parametrize(("falsehood", "kept"), [(1.0, 1.0), (0.7, 0.7), (0.4, 0.3)])
async def test_an_alarm_in_the_same_answer_as_an_abstention_counts(
    circle: Any, tif: Any, falsehood: float, kept: float
) -> None:
    answer = tif(falsehood, "It takes what nobody gave.", abstain=True)
    result = await verdict(circle, tif, [answer], max_rounds=1)
    assert (result.consensus.falsehood, len(result.abstentions)) == (kept, int(kept == 0.3))


async def test_an_alarm_of_a_seat_that_is_gone_does_not_count_but_is_named(circle: Any, tif: Any) -> None:
    result = await verdict(circle, tif, [tif(0.95), ServerFault("down")])
    assert (result.consensus.falsehood, result.silenced, result.partial) == (0.3, ("a",), True)


async def test_a_seat_that_speaks_again_is_not_silenced(circle: Any, tif: Any) -> None:
    result = await verdict(circle, tif, [tif(0.95), ABSTAIN, tif(0.4)], early_stop_convergence=0)
    assert (result.consensus.falsehood, result.silenced) == (0.95, ())


async def test_what_is_not_there_is_not_written(circle: Any, tif: Any) -> None:
    data = json.loads((await verdict(circle, tif, [tif(0.5)])).model_dump_json())
    assert "silenced" not in data
    assert not {"doubt", "given_up"} & data["consensus"].keys()
