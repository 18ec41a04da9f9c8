"""A threshold at a bounded false-positive rate is never above its bound, ties or not."""

from math import inf, nan, nextafter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_runtime.statistics.thresholds import detection_rates, threshold_at_fpr, tpr_at_fpr

# Judges answer in round numbers, so ties are the rule.
CASES = st.lists(
    st.tuples(st.integers(0, 10).map(lambda tenths: tenths / 10), st.booleans()), min_size=2, max_size=60
).filter(lambda cases: 0 < sum(label for _, label in cases) < len(cases))
RATE = st.floats(0, 1)


def split(cases: list[tuple[float, bool]]) -> tuple[list[float], list[bool]]:
    return [score for score, _ in cases], [label for _, label in cases]


def test_tied_negatives_fire_together_so_the_threshold_goes_above_them() -> None:
    scores = [0.9, 0.8, 0.8, 0.8, 0.1, 0.95, 0.85, 0.8]
    labels = [False, False, False, False, False, True, True, True]
    assert threshold_at_fpr(scores, labels, 0.2) == 0.85
    assert threshold_at_fpr(scores, labels, 0.79) == 0.85
    assert threshold_at_fpr(scores, labels, 0.8) == 0.8


def test_a_bound_that_rounding_would_miss_is_met() -> None:
    # 0.29 * 100 is 28.999999999999996 in floating point.
    scores = [1.0] * 29 + [0.0] * 71 + [1.0]
    labels = [False] * 100 + [True]
    assert threshold_at_fpr(scores, labels, 0.29) == 1.0


def test_where_nothing_fits_the_threshold_is_above_everything_and_finite() -> None:
    threshold = threshold_at_fpr([1.0, 1.0, 0.2], [False, True, False], 0.1)
    assert threshold == nextafter(1.0, inf)
    rates = detection_rates([1.0, 1.0, 0.2], [False, True, False], threshold)
    assert rates.true_positive_rate.estimate == rates.false_positive_rate.estimate == 0


@given(CASES, RATE)
def test_the_bound_holds_and_no_lower_observed_threshold_would_keep_it(
    cases: list[tuple[float, bool]], bound: float
) -> None:
    scores, labels = split(cases)
    threshold = threshold_at_fpr(scores, labels, bound)
    assert detection_rates(scores, labels, threshold).false_positive_rate.estimate <= bound
    for lower in {score for score in scores if score < threshold}:
        assert detection_rates(scores, labels, lower).false_positive_rate.estimate > bound


@given(CASES, RATE, RATE)
def test_a_looser_bound_never_raises_the_threshold_or_lowers_the_detection_rate(
    cases: list[tuple[float, bool]], one: float, other: float
) -> None:
    scores, labels = split(cases)
    tight, loose = sorted((one, other))
    assert threshold_at_fpr(scores, labels, loose) <= threshold_at_fpr(scores, labels, tight)
    assert tpr_at_fpr(scores, labels, tight) <= tpr_at_fpr(scores, labels, loose) + 1e-12


@given(CASES)
def test_the_interpolated_curve_passes_through_every_point_that_a_threshold_reaches(
    cases: list[tuple[float, bool]],
) -> None:
    scores, labels = split(cases)
    for threshold in set(scores):
        rates = detection_rates(scores, labels, threshold)
        at_most = tpr_at_fpr(scores, labels, rates.false_positive_rate.estimate)
        assert rates.true_positive_rate.estimate <= at_most + 1e-12
    assert tpr_at_fpr(scores, labels, 1.0) == 1.0


def test_two_detectors_are_compared_at_exactly_the_same_rate() -> None:
    labels = [False] * 4 + [True] * 4
    vote = [0, 0, 0, 1, 1, 1, 1, 0]
    fine = [0.1, 0.2, 0.3, 0.5, 0.6, 0.7, 0.8, 0.4]
    # The vote reaches no rate between 0 and 1/4: half way there, a fair coin gives half of its 3/4.
    assert tpr_at_fpr(vote, labels, 0.125) == 0.375
    assert tpr_at_fpr(fine, labels, 0.125) == 0.75


def test_rates_carry_their_wilson_intervals() -> None:
    rates = detection_rates([0.9, 0.9, 0.1, 0.8], [True, True, False, False], 0.85)
    assert rates.true_positive_rate.low == pytest.approx(0.3424, abs=5e-5)
    assert rates.false_positive_rate.high == pytest.approx(0.6576, abs=5e-5)


@pytest.mark.parametrize(
    ("scores", "labels", "rate", "message"),
    [
        ([0.1], [True, False], 0.1, "each case needs one of both"),
        ([0.1, nan], [True, False], 0.1, "finite"),
        ([0.1, 0.2], [True, True], 0.1, "one positive and one negative"),
        ([0.1, 0.2], [False, False], 0.1, "one positive and one negative"),
        ([0.1, 0.2], [True, False], 1.2, "false-positive rate"),
        ([0.1, 0.2], [True, False], nan, "false-positive rate"),
    ],
)
def test_what_no_threshold_can_be_fitted_to_is_refused(
    scores: list[float], labels: list[bool], rate: float, message: str
) -> None:
    for fit in (threshold_at_fpr, tpr_at_fpr):
        with pytest.raises(ValueError, match=message):
            fit(scores, labels, rate)
