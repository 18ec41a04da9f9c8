"""The e-process: its expected wealth under the null is at most one, exactly, however one stops."""

from collections.abc import Iterable
from functools import reduce
from itertools import product
from math import exp, prod
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_runtime.statistics.betting import BernoulliEProcess


def after(start: BernoulliEProcess, outcomes: Iterable[bool]) -> BernoulliEProcess:
    return reduce(BernoulliEProcess.observe, outcomes, start)


def chance(outcomes: Iterable[bool], rate: float) -> float:
    return prod(rate if outcome else 1 - rate for outcome in outcomes)


@pytest.mark.parametrize("null_rate", [0.3, 0.5, 0.9])
@pytest.mark.parametrize("shift", [0.0, -0.1, -0.25])
def test_expected_wealth_under_the_null_is_at_most_one(null_rate: float, shift: float) -> None:
    rate = null_rate + shift
    sequences = list(product([False, True], repeat=10))
    wealth = [exp(after(BernoulliEProcess(null_rate), outcomes).log_e) for outcomes in sequences]
    expected = sum(chance(outcomes, rate) * value for outcomes, value in zip(sequences, wealth, strict=True))
    assert expected <= 1 + 1e-9
    if shift == 0:
        assert expected == pytest.approx(1)


@pytest.mark.parametrize("alternative", ["greater", "less"])
def test_looking_after_every_attempt_keeps_the_level(alternative: Literal["greater", "less"]) -> None:
    # Every one of the 2^12 sequences at the null rate, rejecting at the first look that allows it.
    start = BernoulliEProcess(0.5, alternative)
    rejected = sum(
        chance(outcomes, 0.5) for outcomes in product([False, True], repeat=12) if after(start, outcomes).rejects(0.2)
    )
    assert 0 < rejected <= 0.2


def test_saturation_is_seen_and_stays_seen() -> None:
    saturated = after(BernoulliEProcess(0.9), [True] * 60)
    assert saturated.rejects(0.05)
    assert after(saturated, [False] * 10).rejects(0.05)
    assert not after(BernoulliEProcess(0.9), ([True] * 9 + [False]) * 20).rejects(0.05)


def test_no_bet_is_placed_before_there_is_reason_for_one() -> None:
    assert after(BernoulliEProcess(0.9), [False, False, True, False]).log_e == 0


@given(st.lists(st.booleans(), max_size=40), st.floats(0.05, 0.95))
def test_wealth_equals_the_bets_as_they_are_defined(outcomes: list[bool], null_rate: float) -> None:
    wealth, successes = 1.0, 0
    for seen, outcome in enumerate(outcomes):
        guess = max(null_rate, (successes + 0.5) / (seen + 1))
        stake = (guess - null_rate) / (null_rate * (1 - null_rate))
        wealth *= 1 + stake * (outcome - null_rate)
        successes += outcome
    process = after(BernoulliEProcess(null_rate), outcomes)
    assert exp(process.log_e) == pytest.approx(wealth, rel=1e-6)
    assert (process.successes, process.trials) == (successes, len(outcomes))
    assert 0 < process.p_value <= 1


@given(st.lists(st.booleans(), max_size=40))
def test_falling_short_mirrors_exceeding(outcomes: list[bool]) -> None:
    exceeds = after(BernoulliEProcess(0.75), outcomes)
    falls_short = after(BernoulliEProcess(0.25, "less"), [not outcome for outcome in outcomes])
    assert falls_short.log_e == pytest.approx(exceeds.log_e)


@given(st.lists(st.booleans(), max_size=30), st.lists(st.booleans(), max_size=30))
def test_the_p_value_never_rises(first: list[bool], then: list[bool]) -> None:
    early = after(BernoulliEProcess(0.6), first)
    assert after(early, then).p_value <= early.p_value


@pytest.mark.parametrize("rate", [0.0, 1.0, -0.1, float("nan")])
def test_a_null_that_cannot_be_bet_against_is_refused(rate: float) -> None:
    with pytest.raises(ValueError, match="null rate"):
        BernoulliEProcess(rate)
    with pytest.raises(ValueError, match="alpha"):
        BernoulliEProcess(0.5).rejects(rate)
