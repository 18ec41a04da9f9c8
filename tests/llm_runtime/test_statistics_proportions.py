"""Wilson, Newcombe and McNemar against the tables of their papers, statsmodels, and what must always hold."""

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_runtime.statistics.interval import Interval
from llm_runtime.statistics.proportions import PairedCounts, mcnemar, newcombe, newcombe_paired, wilson

CONFIDENCE = st.floats(0.5, 0.999)


@st.composite
def proportions(draw: st.DrawFn) -> tuple[int, int]:
    trials = draw(st.integers(1, 400))
    return draw(st.integers(0, trials)), trials


CELLS = st.builds(PairedCounts, *[st.integers(0, 60)] * 4).filter(lambda counts: counts.total > 0)


def rounded(interval: Interval) -> tuple[float, float]:
    return round(interval.low, 4), round(interval.high, 4)


@pytest.mark.parametrize(
    ("successes", "trials", "published"),
    [(81, 263, (0.2553, 0.3662)), (15, 148, (0.0624, 0.1605)), (0, 20, (0.0, 0.1611)), (1, 29, (0.0061, 0.1718))],
)
def test_wilson_gives_the_values_of_newcombe_1998_table_one_method_three(
    successes: int, trials: int, published: tuple[float, float]
) -> None:
    assert rounded(wilson(successes, trials)) == published


@pytest.mark.parametrize(
    ("table", "published"),
    [
        ((56, 70, 48, 80), (0.0524, 0.3339)),
        ((9, 10, 3, 10), (0.1705, 0.8090)),
        ((6, 7, 2, 7), (0.0582, 0.8062)),
        ((5, 56, 0, 29), (-0.0381, 0.1926)),
        ((0, 10, 0, 20), (-0.1611, 0.2775)),
        ((0, 10, 0, 10), (-0.2775, 0.2775)),
        ((10, 10, 0, 20), (0.6791, 1.0)),
        ((10, 10, 0, 10), (0.6075, 1.0)),
    ],
)
def test_newcombe_gives_the_values_of_the_1998_comparison_of_eleven_methods_table_two_method_ten(
    table: tuple[int, int, int, int], published: tuple[float, float]
) -> None:
    assert rounded(newcombe(*table)) == published


def test_paired_newcombe_gives_the_published_values() -> None:
    # Newcombe 1998, Stat. Med. 17:2635-2650, first example of the table of illustrations, method 10.
    assert rounded(newcombe_paired(PairedCounts(36, 12, 2, 0))) == (0.0569, 0.3404)
    # Fagerland, Lydersen & Laake 2014, airway hyper-responsiveness before and after transplantation.
    airway = newcombe_paired(PairedCounts(both=1, only_a=1, only_b=7, neither=12))
    assert (round(airway.low, 3), round(airway.high, 3)) == (-0.507, -0.026)


def test_mcnemar_gives_the_published_values() -> None:
    # The same data in Fagerland, Lydersen & Laake 2013: exact 0.070, mid-p 0.039.
    assert mcnemar(1, 7) == 0.0703125
    assert mcnemar(1, 7, mid_p=True) == 0.0390625


def test_no_disagreement_and_equal_disagreement_are_no_evidence() -> None:
    assert mcnemar(0, 0) == mcnemar(0, 0, mid_p=True) == 1.0
    assert mcnemar(5, 5) == 1.0
    assert mcnemar(1, 1, mid_p=True) == 0.75


def test_the_ends_of_wilson_are_exact() -> None:
    assert wilson(0, 7).low == 0.0
    assert wilson(7, 7).high == 1.0


def test_paired_counts_come_from_outcomes() -> None:
    outcomes = [(True, True), (True, False), (True, False), (False, True), (False, False)]
    assert PairedCounts.of(outcomes) == PairedCounts(both=1, only_a=2, only_b=1, neither=1)


def test_an_interval_knows_what_it_holds_and_reads_as_text() -> None:
    interval = wilson(81, 263)
    assert 0.3 in interval
    assert 0.4 not in interval
    assert str(interval) == "0.308 (95% interval 0.255 to 0.366)"


@given(proportions(), CONFIDENCE)
def test_wilson_lies_within_zero_and_one_around_its_estimate_and_is_symmetric(
    counts: tuple[int, int], confidence: float
) -> None:
    successes, trials = counts
    interval = wilson(successes, trials, confidence)
    mirror = wilson(trials - successes, trials, confidence)
    assert 0 <= interval.low <= interval.estimate <= interval.high <= 1
    assert (interval.low, interval.high) == pytest.approx((1 - mirror.high, 1 - mirror.low))


@given(proportions())
def test_more_confidence_and_less_data_widen_the_interval(counts: tuple[int, int]) -> None:
    successes, trials = counts
    narrow, wide, sharp = (
        wilson(successes, trials, 0.8),
        wilson(successes, trials, 0.99),
        wilson(successes * 4, trials * 4, 0.8),
    )
    assert wide.low <= narrow.low + 1e-12
    assert narrow.high <= wide.high + 1e-12
    assert sharp.high - sharp.low < narrow.high - narrow.low


@given(proportions(), proportions(), CONFIDENCE)
def test_newcombe_lies_within_bounds_around_its_estimate_and_changes_sign_with_its_arguments(
    a: tuple[int, int], b: tuple[int, int], confidence: float
) -> None:
    interval, swapped = newcombe(*a, *b, confidence), newcombe(*b, *a, confidence)
    assert -1 <= interval.low <= interval.estimate <= interval.high <= 1
    assert (interval.low, interval.high) == pytest.approx((-swapped.high, -swapped.low))


@given(CELLS, CONFIDENCE)
def test_paired_newcombe_lies_within_bounds_and_changes_sign_with_its_arguments(
    counts: PairedCounts, confidence: float
) -> None:
    interval = newcombe_paired(counts, confidence)
    swapped = newcombe_paired(PairedCounts(counts.both, counts.only_b, counts.only_a, counts.neither), confidence)
    assert -1 <= interval.low <= interval.estimate + 1e-12
    assert interval.estimate <= interval.high + 1e-12 <= 1 + 1e-12
    assert interval.estimate == pytest.approx((counts.only_a - counts.only_b) / counts.total)
    assert (interval.low, interval.high) == pytest.approx((-swapped.high, -swapped.low), abs=1e-9)


@given(st.integers(0, 80), st.integers(0, 80))
def test_mcnemar_is_symmetric_bounded_and_its_mid_p_is_never_larger(only_a: int, only_b: int) -> None:
    exact, middle = mcnemar(only_a, only_b), mcnemar(only_a, only_b, mid_p=True)
    assert exact == mcnemar(only_b, only_a)
    assert 0 < middle <= exact <= 1
    n, k = only_a + only_b, min(only_a, only_b)
    assert exact == min(1.0, 2 * sum(comb(n, i) for i in range(k + 1)) / 2**n)


@given(st.integers(0, 40), st.integers(0, 40))
def test_a_wider_gap_in_disagreement_never_raises_mcnemars_p(fewer: int, gap: int) -> None:
    assert mcnemar(fewer, fewer + gap + 1) <= mcnemar(fewer, fewer + gap)


def test_mcnemar_stays_exact_where_floats_underflow() -> None:
    assert mcnemar(0, 1000) == 2.0**-999
    assert mcnemar(0, 20_000) == 0.0


@pytest.mark.parametrize(
    ("successes", "trials", "confidence"),
    [(0, 0, 0.95), (-1, 5, 0.95), (6, 5, 0.95), (1, 2, 0.0), (1, 2, 1.0), (1, 2, float("nan"))],
)
def test_wilson_refuses_what_is_no_proportion(successes: int, trials: int, confidence: float) -> None:
    with pytest.raises(ValueError, match=r"proportion|successes|confidence"):
        wilson(successes, trials, confidence)


def test_negative_counts_and_empty_tables_are_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        PairedCounts(1, 2, -1, 0)
    with pytest.raises(ValueError, match="negative"):
        mcnemar(-1, 2)
    with pytest.raises(ValueError, match="at least one trial"):
        newcombe_paired(PairedCounts(0, 0, 0, 0))


@pytest.mark.parametrize(
    ("confidence", "one", "difference"),
    [(0.8, (0.2728, 0.3456), (0.1043, 0.2897)), (0.99, (0.2401, 0.3853), (0.0054, 0.3718))],
)
def test_other_confidences_give_what_statsmodels_gave(
    confidence: float, one: tuple[float, float], difference: tuple[float, float]
) -> None:
    assert rounded(wilson(81, 263, confidence)) == one
    assert rounded(newcombe(56, 70, 48, 80, confidence)) == difference


@pytest.mark.long
@given(proportions(), proportions(), st.sampled_from([0.8, 0.95, 0.99]))
def test_statsmodels_agrees(a: tuple[int, int], b: tuple[int, int], confidence: float) -> None:
    oracle = pytest.importorskip("statsmodels.stats.proportion", reason="needs the development oracle statsmodels")
    ours = wilson(*a, confidence)
    theirs = oracle.proportion_confint(*a, alpha=1 - confidence, method="wilson")
    assert (ours.low, ours.high) == pytest.approx(tuple(map(float, theirs)), abs=1e-9)
    ours = newcombe(*a, *b, confidence)
    theirs = oracle.confint_proportions_2indep(*a, *b, method="newcomb", compare="diff", alpha=1 - confidence)
    assert (ours.low, ours.high) == pytest.approx(tuple(map(float, theirs)), abs=1e-9)


@pytest.mark.long
@given(st.integers(0, 60), st.integers(0, 60))
def test_statsmodels_and_scipy_agree_on_mcnemar(only_a: int, only_b: int) -> None:
    tables = pytest.importorskip(
        "statsmodels.stats.contingency_tables", reason="needs the development oracle statsmodels"
    )
    scipy_stats = pytest.importorskip("scipy.stats", reason="needs the development oracle scipy")
    exact = mcnemar(only_a, only_b)
    if only_a + only_b > 0:
        assert exact == pytest.approx(float(tables.mcnemar([[3, only_a], [only_b, 4]], exact=True).pvalue), abs=1e-12)
        mass = scipy_stats.binom.pmf(min(only_a, only_b), only_a + only_b, 0.5)
        halved = mass / 2 if only_a == only_b else mass
        assert mcnemar(only_a, only_b, mid_p=True) == pytest.approx(exact - float(halved), abs=1e-12)
