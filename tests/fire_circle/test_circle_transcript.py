"""A circle's transcript is its events applied: the engine's own, and whoever reads the log."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest

from fire_circle import EvaluationError, FireCircleResult, MultiNeutrosophicPrompt, fire_circle_evaluate
from fire_circle.config import FireCircleConfig
from fire_circle.results import CircleRecord, Spend
from fire_circle.transcript import Transcript
from llm_runtime.errors import ReplyFiltered, StoreDamaged
from llm_runtime.events import Event, parse_event

QUOTED = [("A claimed history", "As we agreed in turn 3"), ("Rank", "I am an auditor"), ("Nowhere", "was never said")]


class Lines(dict[str, Any]):
    """Lines by seat; whoever has none, as a classifier, says nothing of use."""

    def __missing__(self, seat: str) -> list[str]:
        return ["I sort nothing."]


@pytest.fixture
def lines(tif: Any) -> dict[str, Any]:
    """Two judges who see patterns, one who refuses in the second round, one who cannot judge, one twice."""
    refusing = ReplyFiltered("not that")
    table = {
        "1:a": [tif(0.2), tif(0.9, "An invented turn.", QUOTED), tif(0.8, "It stands.", QUOTED)],
        "2:b": [tif(0.3), tif(0.4, "One claim.", QUOTED[:1])],
        "3:c": [tif(0.7), lambda request: refusing],
        "4:d": [tif(0.1), tif(0.0, abstains=True), tif(0.6, "Rank is claimed.", QUOTED[1:2])],
        "5:a": [tif(0.5), tif(0.6, "The same words again.", QUOTED[:2])],
    }
    return Lines(table)


def folded(events: list[Event], onto: Transcript | None = None) -> Transcript:
    transcript = onto or Transcript("user", 11)
    for event in events:
        transcript.apply(event)
    return transcript


def told(record: CircleRecord) -> CircleRecord:
    """A result without what only the calls tell: what was sent, when, and what it took."""
    rounds = tuple(r.model_copy(update={"prompt_used": {}, "timestamp": 0.0}) for r in record.dialogue_history)
    return record.model_copy(update={"dialogue_history": rounds, "spend": Spend()})


@pytest.mark.parametrize("config", [{}, {"pattern_classification": "llm"}, {"early_stop_convergence": 0.4}], ids=str)
async def test_what_the_log_tells_is_what_the_engine_ended_with(
    circle: Any, lines: dict[str, Any], config: dict[str, Any]
) -> None:
    sitting = await circle(lines, max_rounds=3, **config)
    events = [parse_event(json.loads(event.canonical())) for event in sitting.events]
    whole = folded(events)

    assert events == sitting.events
    assert whole.concluded(FireCircleConfig().pattern_threshold, chaired=True) == told(sitting.result)
    assert isinstance(sitting.result, FireCircleResult) and whole.verdict is not None
    assert whole.verdict.consensus == sitting.result.consensus
    for cut in range(len(events)):
        begun = folded(events[:cut])
        assert begun.partial().seed == 11
        assert folded(events[cut:], deepcopy(begun)) == whole
    assert folded(events, folded(events)).history() == whole.history()


async def test_a_circle_without_a_verdict_leaves_what_its_events_tell(
    lines: dict[str, Any], seats: Any, attack: MultiNeutrosophicPrompt
) -> None:
    events: list[Event] = []
    config = FireCircleConfig(models=("a", "b", "c", "d", "a"), failure_mode="strict")
    with pytest.raises(EvaluationError) as caught:
        await fire_circle_evaluate(attack, config, generate=seats(lines), emit=events.append, seed=11)
    assert caught.value.partial is not None
    assert folded(events).partial() == told(caught.value.partial)
    assert folded(events).fault == str(caught.value)


def test_an_event_of_a_layer_that_no_prompt_has_is_refused() -> None:
    with pytest.raises(StoreDamaged, match="layer"):
        parse_event({"type": "fire_circle.failed", "layer": "cellar", "round": 1, "message": ""})
