"""What a study tells whoever sets up a gate: power, areas under ROC curves, the best rule, what a catch costs."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import asdict
from math import comb, exp
from typing import Any

import pytest
from tests.bound import scripted_judges as scripted

from fire_circle import FireCircleConfig, MultiNeutrosophicPrompt, SessionMemory, fire_circle_evaluate
from fire_circle.measurement.calibration import allowed_alarms, calibrate, exact_bound
from fire_circle.measurement.lift import lift_report
from fire_circle.measurement.power import lift_power
from fire_circle.measurement.scores import ItemScores, place, scales_of
from fire_circle.results import Spend
from llm_runtime.messages import Request
from llm_runtime.normal import normal
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


def test_the_rule_is_chosen_on_one_part_and_reported_on_another(items: list[ItemScores]) -> None:
    found = calibrate(items[:30], items[30:], max_fpr=0.2)
    rates = {fit.rule: fit.detected.estimate for fit in found.fits}
    assert found.best.rule == "mean" and rates["mean"] > rates["maximum"] and rates["mean"] > rates["chair"]
    assert (found.violations, found.benign, found.warning) == (25, 25, "") and found.bound <= 0.2
    assert found.best.false_alarms.estimate <= 0.2 and found.best.threshold == round(found.best.threshold, 6)
    with pytest.raises(ValueError, match="each part of the data needs violations"):
        calibrate(items[:1], items, max_fpr=0.05)


@pytest.mark.parametrize(("benign", "aim", "alarms"), [(58, 0.05, -1), (59, 0.05, 0), (298, 0.01, -1), (299, 0.01, 0)])
def test_what_too_few_items_cannot_support_is_refused(benign: int, aim: float, alarms: int) -> None:
    assert allowed_alarms(benign, aim) == alarms
    calm = [item(n, False, (n / 1000,), n / 1000, 0.0) for n in range(benign)]
    found = calibrate(
        [*calm[:2], item(-1, True, (0.9,), 0.9, 0.0)], [*calm, item(-2, True, (0.9,), 0.9, 0.0)], max_fpr=aim
    )
    assert bool(found.warning) is (alarms < 0) and (found.bound > aim) is (alarms < 0)
    assert found.of("maximum").threshold > calm[-1].consensus


@pytest.mark.parametrize(("alarms", "benign"), [(0, 59), (3, 100), (17, 400)])
def test_the_bound_is_the_one_of_clopper_and_pearson(alarms: int, benign: int) -> None:
    bound = exact_bound(alarms, benign)
    below = sum(comb(benign, k) * bound**k * (1 - bound) ** (benign - k) for k in range(alarms + 1))
    assert below == pytest.approx(0.05, abs=1e-9)


def test_a_threshold_keeps_its_aim_in_at_least_95_of_100_studies() -> None:
    """The true rate of uniform scores over a threshold is what is left above it."""
    rng, kept, fitted = random.Random(11), 0, 200
    for _ in range(fitted):
        scores = [item(n, n < 4, (0.5,), 1.0 if n < 4 else rng.random(), 0.0) for n in range(124)]
        kept += 1 - calibrate(scores[:7], scores[3:], max_fpr=0.05).of("maximum").threshold <= 0.05
    assert kept >= 0.95 * fitted


def test_a_strict_judge_is_put_on_its_own_scale() -> None:
    rng = random.Random(4)

    def drawn(number: int, label: bool, strict: float) -> ItemScores:
        shared = rng.gauss(0, 0.7)
        raw = [1.3 * (shared + rng.gauss(0, 0.7)) - 1.8 + 2 * label + strict * (at == 0) for at in range(3)]
        seats = tuple((f"judge {at}", 1 / (1 + exp(-score))) for at, score in enumerate(raw))
        first = tuple(falsehood for _, falsehood in seats)
        return item(number, label, first, max(first), first[1]).model_copy(update={"seats": seats})

    found: dict[float, dict[str, float]] = {}
    for strict in (0.0, 3.0):
        every = [drawn(n, n % 3 == 0, strict) for n in range(900)]
        fits = calibrate(every[:300], every[300:], max_fpr=0.1).fits
        found[strict] = {fit.rule: fit.detected.estimate for fit in fits}
    assert found[3.0]["quantile"] > found[0.0]["quantile"] - 0.06
    assert found[3.0]["maximum"] < found[3.0]["quantile"] - 0.05


def test_a_scale_keeps_the_order_and_its_ends() -> None:
    benign = [
        item(n, False, (0.1,), 0.1, 0.1).model_copy(update={"seats": (("a", n / 40), ("b", 0.5 + n / 80))})
        for n in range(20)
    ]
    scales = scales_of(benign)
    placed = [place(scales, "b", n / 100) for n in range(101)]
    assert placed == sorted(placed) and placed[0] == 0.0 and placed[-1] == 1.0 and placed[60] < 0.45
    assert place(scales, "nobody", 0.3) == 0.3 and scales_of([]) == {}


def test_a_caught_attack_has_its_price_by_every_way(items: list[ItemScores]) -> None:
    ways = lift_report(items, rng=random.Random(1), resamples=100).methods
    assert {way.name for way in ways} == {"consensus", "round-1 max", "round-1 mean", "round-1 majority"}
    for way in ways:
        caught = round(way.detected.estimate * 40)
        assert way.per_caught == (pytest.approx(way.spend.cost / caught) if caught else None)


def test_the_area_under_the_curve_is_that_of_pairs_and_its_interval_is_never_empty() -> None:
    rng = random.Random(2)
    scores = [round(rng.random(), 1) for _ in range(120)]
    labels = [rng.random() < 0.4 for _ in scores]
    pairs = [
        (a, b) for a, x in zip(scores, labels, strict=True) if x for b, y in zip(scores, labels, strict=True) if not y
    ]
    by_hand = sum((a > b) + (a == b) / 2 for a, b in pairs) / len(pairs)
    area = roc_area(scores, labels)
    assert area.estimate == pytest.approx(by_hand) and area.low < by_hand < area.high
    whole = roc_area([0.1, 0.2, 0.3, 0.7, 0.8, 0.9], [False] * 3 + [True] * 3)
    assert whole.estimate == whole.high == 1.0 and whole.low < 0.7
    wide, narrow = roc_area(scores[:30], labels[:30]), area
    assert wide.high - wide.low > narrow.high - narrow.low


def test_power_grows_with_items_and_falls_with_a_control() -> None:
    few, many = (lift_power(count, 2 * count, control=False) for count in (40, 300))
    assert few.apart < many.apart and few.alike < many.alike
    assert lift_power(150, 150, control=False).alike == pytest.approx(0.69, abs=0.1)
    assert lift_power(1, 1, control=True).alike <= lift_power(25, 25, control=True).alike + 1e-9
    assert lift_power(9_999, 9_999, control=True) == lift_power(400, 400, control=True).__class__(
        **{**asdict(lift_power(400, 400, control=True)), "violations": 9_999, "benign": 9_999}
    )
    assert "a gain of 10 points shows in" in few.summary


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


def test_the_power_of_one_item_of_a_kind_is_told_without_a_false_plural() -> None:
    told = lift_power(1, 1, control=False).summary
    assert told.startswith("violations: 1, benign items: 1; a gain of 10 points shows in ")
