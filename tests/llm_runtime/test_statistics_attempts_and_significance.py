"""pass@k and pass^k against counting every choice of k attempts; Benjamini-Hochberg against its paper and scipy."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_runtime.statistics.attempts import pass_at_k, pass_hat_k
from llm_runtime.statistics.significance import benjamini_hochberg

P_VALUES = st.lists(st.floats(0, 1), max_size=30)


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


def test_benjamini_hochberg_rejects_the_four_hypotheses_of_its_paper() -> None:
    # Benjamini & Hochberg 1995, their example: fifteen cardiac end points, q = 0.05; Bonferroni rejects three.
    published = [
        0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
        0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000,
    ]  # fmt: skip
    assert [p <= 0.05 for p in benjamini_hochberg(published)] == [True] * 4 + [False] * 11


def test_adjusted_values_keep_the_order_given() -> None:
    assert benjamini_hochberg([0.04, 0.01]) == [0.04, 0.02]
    assert benjamini_hochberg([]) == []


@given(P_VALUES)
def test_adjusting_never_lowers_a_p_value_and_keeps_their_order(p_values: list[float]) -> None:
    adjusted = benjamini_hochberg(p_values)
    assert all(p <= q <= 1 for p, q in zip(p_values, adjusted, strict=True))
    by_p = [q for _, q in sorted(zip(p_values, adjusted, strict=True))]
    assert by_p == sorted(by_p)


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan")])
def test_what_is_no_p_value_is_refused(p: float) -> None:
    with pytest.raises(ValueError, match="p-value"):
        benjamini_hochberg([0.5, p])


@pytest.mark.long
@given(P_VALUES.filter(bool))
def test_scipy_and_statsmodels_agree(p_values: list[float]) -> None:
    scipy_stats = pytest.importorskip("scipy.stats", reason="needs the development oracle scipy")
    multitest = pytest.importorskip(
        "statsmodels.stats.multitest", reason="needs the development oracle statsmodels"
    )
    ours = benjamini_hochberg(p_values)
    assert ours == pytest.approx(scipy_stats.false_discovery_control(p_values).tolist(), abs=1e-12)
    assert ours == pytest.approx(multitest.multipletests(p_values, method="fdr_bh")[1].tolist(), abs=1e-12)
