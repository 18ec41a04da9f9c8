"""pass@k and pass^k against counting every choice of k attempts."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_runtime.statistics.attempts import pass_at_k, pass_hat_k


@st.composite
def attempts(draw: st.DrawFn) -> tuple[int, int, int]:
    made = draw(st.integers(1, 9))
    return draw(st.integers(0, made)), made, draw(st.integers(1, made))


@given(attempts())
def test_pass_at_k_and_pass_hat_k_count_the_choices_of_k_attempts(case: tuple[int, int, int]) -> None:
    successes, made, k = case
    choices = list(combinations([True] * successes + [False] * (made - successes), k))
    assert pass_at_k(*case) == sum(map(any, choices)) / len(choices)
    assert pass_hat_k(*case) == sum(map(all, choices)) / len(choices)
    assert pass_hat_k(*case) <= successes / made + 1e-12
    assert successes / made <= pass_at_k(*case) + 1e-12


@given(attempts())
def test_more_attempts_help_at_least_one_and_hurt_all(case: tuple[int, int, int]) -> None:
    successes, made, k = case
    if k < made:
        assert pass_at_k(successes, made, k) <= pass_at_k(successes, made, k + 1)
        assert pass_hat_k(successes, made, k) >= pass_hat_k(successes, made, k + 1)


def test_large_counts_stay_exact() -> None:
    assert pass_at_k(1, 100_000, 1) == 1e-5
    assert pass_hat_k(99_999, 100_000, 50_000) == 0.5


@pytest.mark.parametrize("case", [(-1, 3, 1), (4, 3, 1), (1, 3, 0), (1, 3, 4), (0, 0, 1)])
def test_more_attempts_than_were_made_cannot_be_judged(case: tuple[int, int, int]) -> None:
    for estimate in (pass_at_k, pass_hat_k):
        with pytest.raises(ValueError, match="must lie between"):
            estimate(*case)
