"""The bootstrap: deterministic, paired, equal to scipy on the same replicates."""

import random
from collections.abc import Sequence
from statistics import quantiles
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.extent import examples

from llm_runtime.statistics.bootstrap import paired_bootstrap, percentile_interval

# (A's score, B's score) on twelve items: B is better by about 0.1, and the items differ far more than that.
ITEMS = [
    (0.10, 0.22),
    (0.35, 0.41),
    (0.92, 0.97),
    (0.55, 0.71),
    (0.20, 0.28),
    (0.77, 0.90),
    (0.41, 0.40),
    (0.63, 0.79),
    (0.05, 0.19),
    (0.88, 0.93),
    (0.30, 0.44),
    (0.71, 0.80),
]


def gain(items: Sequence[tuple[float, float]]) -> float:
    return sum(b - a for a, b in items) / len(items)


def undefined(_: Sequence[tuple[float, float]]) -> float:
    return float("nan")


def test_a_seed_fixes_the_interval() -> None:
    first = paired_bootstrap(ITEMS, gain, rng=random.Random(7))
    assert first == paired_bootstrap(ITEMS, gain, rng=random.Random(7))
    assert first != paired_bootstrap(ITEMS, gain, rng=random.Random(8))


def test_only_random_is_drawn_so_another_generator_can_be_injected() -> None:
    class Fixed(random.Random):
        def random(self) -> float:
            return 0.999999

    interval = paired_bootstrap(ITEMS, gain, rng=Fixed())
    assert (interval.low, interval.high) == pytest.approx((0.09, 0.09))


def test_pairing_keeps_a_small_steady_gain_visible() -> None:
    paired = paired_bootstrap(ITEMS, gain, rng=random.Random(1), resamples=2000)
    assert 0.05 < paired.low < paired.estimate < paired.high < 0.14
    shuffled = [(a, ITEMS[(i + 5) % 12][1]) for i, (a, _) in enumerate(ITEMS)]
    broken = paired_bootstrap(shuffled, gain, rng=random.Random(1), resamples=2000)
    assert broken.low < 0 < broken.high


@given(
    st.lists(st.floats(-100, 100), min_size=2, max_size=30), st.integers(0, 2**32), st.sampled_from([0.8, 0.95, 0.99])
)
@settings(max_examples=examples(30))
def test_a_mean_stays_within_its_data_and_more_confidence_never_narrows(
    values: list[float], seed: int, confidence: float
) -> None:
    def mean(sample: Sequence[float]) -> float:
        return sum(sample) / len(sample)

    interval = paired_bootstrap(values, mean, rng=random.Random(seed), resamples=200, confidence=confidence)
    narrower = paired_bootstrap(values, mean, rng=random.Random(seed), resamples=200, confidence=0.5)
    assert min(values) - 1e-9 <= interval.low <= interval.high <= max(values) + 1e-9
    assert interval.low <= narrower.low <= narrower.high <= interval.high


def test_what_never_varies_has_an_interval_of_no_width() -> None:
    interval = paired_bootstrap([(0.5, 0.75)] * 5, gain, rng=random.Random(0))
    assert (interval.low, interval.estimate, interval.high) == (0.25, 0.25, 0.25)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"units": [(0.1, 0.2)]}, "at least two units"),
        ({"resamples": 99}, "at least 100 resamples"),
        ({"confidence": 1.0}, "confidence"),
        ({"statistic": undefined}, "every resample defines"),
    ],
)
def test_what_cannot_be_resampled_is_refused(changes: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"units": ITEMS, "statistic": gain, "rng": random.Random(0)} | changes
    with pytest.raises(ValueError, match=message):
        paired_bootstrap(**arguments)


def test_no_replicates_have_no_interval() -> None:
    with pytest.raises(ValueError, match="no bootstrap replicates"):
        percentile_interval(1.0, [])


@pytest.mark.parametrize(("confidence", "parts"), [(0.8, 10), (0.95, 40)])
def test_the_quantiles_are_those_of_the_standard_library(confidence: float, parts: int) -> None:
    rng = random.Random(3)
    replicates = [rng.expovariate(1) for _ in range(998)]
    cuts = quantiles(replicates, n=parts, method="inclusive")
    ours = percentile_interval(1.0, replicates, confidence)
    assert (ours.low, ours.high) == pytest.approx((cuts[0], cuts[-1]), rel=1e-9)


@pytest.mark.long
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_scipy_agrees_on_the_same_replicates(confidence: float) -> None:
    scipy_stats = pytest.importorskip("scipy.stats", reason="needs the development oracle scipy")
    numpy = pytest.importorskip("numpy", reason="needs the development oracle numpy")
    rng = random.Random(3)
    skewed = [rng.expovariate(1) for _ in range(25)]
    theirs = scipy_stats.bootstrap(
        (numpy.array(skewed),),
        numpy.mean,
        n_resamples=999,
        confidence_level=confidence,
        method="percentile",
        rng=numpy.random.default_rng(5),
    )
    replicates = [float(value) for value in theirs.bootstrap_distribution]
    ours = percentile_interval(sum(skewed) / 25, replicates, confidence)
    low, high = map(float, theirs.confidence_interval)
    assert (ours.low, ours.high) == pytest.approx((low, high), rel=1e-9)
