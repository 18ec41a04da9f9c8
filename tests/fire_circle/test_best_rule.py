"""What a study tells whoever sets up a gate: power, areas under ROC curves, the best rule, what a catch costs."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from tests.bound import scripted_judges as scripted

from fire_circle import FireCircleConfig, MultiNeutrosophicPrompt, SessionMemory, fire_circle_evaluate
from fire_circle.measurement.rules import cost_table, rule_report
from fire_circle.measurement.scores import ItemScores
from fire_circle.results import Spend
from llm_runtime.messages import Request
from llm_runtime.normal import normal
from llm_runtime.statistics.power import lift_power
from llm_runtime.statistics.thresholds import roc_area


def item(number: int, label: bool, first: tuple[float, ...], consensus: float, chair: float) -> ItemScores:
    return ItemScores(
        item=str(number),
        label=label,
        baseline=first,
        consensus=consensus,
        chair=chair,
        baseline_spend=Spend(calls=3, cost=300),
        circle_spend=Spend(calls=9, cost=900),
    )


@pytest.fixture
def items() -> list[ItemScores]:
    """Violations that the mean of round 1 tells from the rest; the maximum is raised by one nervous seat."""
    rng = random.Random(5)
    made: list[ItemScores] = []
    for number in range(80):
        label = number % 2 == 0
        base = 0.7 if label else 0.2
        first = (*(round(base + rng.uniform(-0.1, 0.1), 3) for _ in range(2)), round(rng.uniform(0.3, 0.9), 3))
        made.append(item(number, label, first, max(*first, 0.5), round(rng.uniform(0, 1), 3)))
    return made


def test_the_best_rule_is_found_on_items_that_no_threshold_was_fitted_to(items: list[ItemScores]) -> None:
    report = rule_report(items, max_fpr=0.05, rng=random.Random(1))
    rates = {fit.rule: fit.detected.estimate for fit in report.fits}
    assert report.best.rule == "mean" and rates["mean"] > rates["maximum"] and rates["mean"] > rates["chair"]
    assert report == rule_report(items, max_fpr=0.05, rng=random.Random(1))
    with pytest.raises(ValueError, match="at least 5"):
        rule_report(items[:6], max_fpr=0.05, rng=random.Random(1))


def test_a_caught_attack_has_its_price_by_every_way(items: list[ItemScores]) -> None:
    ways = {way.name.split()[0]: way for way in cost_table(items, max_fpr=0.05)}
    assert set(ways) == {"judge", "panel", "circle", "cascade"}
    assert ways["judge"].spend.cost == 80 * 100 and ways["panel"].spend.cost == 80 * 300
    assert ways["circle"].spend.cost == 80 * 900 and 80 * 300 <= ways["cascade"].spend.cost <= 80 * 900
    for way in ways.values():
        caught = round(way.detected.estimate * 40)
        assert way.per_caught == (pytest.approx(way.spend.cost / caught) if caught else None)


def test_the_area_under_the_curve_is_that_of_pairs_and_its_interval_is_never_empty() -> None:
    rng = random.Random(2)
    scores = [round(rng.random(), 1) for _ in range(120)]
    labels = [rng.random() < 0.4 for _ in scores]
    pairs = [
        (a, b)
        for a, x in zip(scores, labels, strict=True)
        if x
        for b, y in zip(scores, labels, strict=True)
        if not y
    ]
    by_hand = sum((a > b) + (a == b) / 2 for a, b in pairs) / len(pairs)
    area = roc_area(scores, labels)
    assert area.estimate == pytest.approx(by_hand) and area.low < by_hand < area.high
    whole = roc_area([0.1, 0.2, 0.3, 0.7, 0.8, 0.9], [False] * 3 + [True] * 3)
    assert whole.estimate == whole.high == 1.0 and whole.low < 0.7
    wide, narrow = roc_area(scores[:30], labels[:30]), area
    assert wide.high - wide.low > narrow.high - narrow.low


def test_power_grows_with_items_and_with_the_gain() -> None:
    few = lift_power(50, 50, max_fpr=0.05, rng=random.Random(3))
    many = lift_power(300, 300, max_fpr=0.05, rng=random.Random(3))
    large = lift_power(50, 50, max_fpr=0.05, rng=random.Random(3), gain=0.35)
    assert few.apart < many.apart and few.alike < many.alike and few.apart < large.apart
    assert few.apart < few.alike and "find a gain of 10 points in" in few.summary


async def test_an_equal_prompt_before_an_equal_circle_is_asked_once(
    attack: MultiNeutrosophicPrompt, tif: Callable[..., str]
) -> None:
    asked: list[Request] = []

    def script(request: Request) -> str:
        asked.append(request)
        return tif({"a": 0.2, "b": 0.9}[request.model])

    generate, config = scripted(script), FireCircleConfig(models=("a", "b"), cache_enabled=True)
    first = await fire_circle_evaluate(attack, config, generate=generate)
    calls = len(asked)
    again = await fire_circle_evaluate(attack, config, generate=generate)
    assert len(asked) == calls == 6 and again.consensus.falsehood == first.consensus.falsehood
    assert again.spend.output_tokens == 0 < first.spend.output_tokens
    await fire_circle_evaluate(attack, config, SessionMemory(), generate=generate)
    assert len(asked) == 2 * calls


@pytest.mark.parametrize("measured", [True, False])
async def test_trust_is_mentioned_only_where_it_was_measured(measured: bool, tif: Callable[..., str]) -> None:
    asked: list[Request] = []

    def script(request: Request) -> str:
        asked.append(request)
        return tif(0.2)

    session = SessionMemory.after(["user: hello\nassistant: hi"])
    if measured:
        session.record(trust=0.2, balance=-0.5, text="user: give me all")
    config = FireCircleConfig(models=("a", "b"))
    await fire_circle_evaluate(MultiNeutrosophicPrompt(user="And now?"), config, session, generate=scripted(script))
    assert {"Trust so far" in request.messages[-1].content for request in asked} == {measured}
    assert SessionMemory.from_dict(json.loads(json.dumps(session.to_dict()))).measured is measured


@pytest.mark.parametrize("text", ["Plain words,\n\n  with *stars* and `ticks`.", " \t a\x1cb ", "", "***", "A  B"])
def test_a_plain_text_has_the_same_normal_form_as_one_with_a_strange_sign(text: str) -> None:
    strange: Any = normal(text + "\u200b")
    assert normal(text).text == strange.text
    for word in normal(text).text.split():
        assert [place[0] for place in normal(text).places(word)] == [place[0] for place in strange.places(word)]
