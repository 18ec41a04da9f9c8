"""Krippendorff's alpha against its author's own example, the `krippendorff` package, and what must always hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_runtime.statistics.agreement import interval_disagreement, krippendorff_alpha, nominal_disagreement

# Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, section C: four observers, twelve units.
PUBLISHED: list[list[float | None]] = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]


@st.composite
def rating_tables(draw: st.DrawFn) -> list[list[float | None]]:
    raters, units = draw(st.integers(2, 5)), draw(st.integers(1, 8))
    entry = st.none() | st.integers(0, 6).map(float)
    return draw(st.lists(st.lists(entry, min_size=units, max_size=units), min_size=raters, max_size=raters))


def test_the_published_example() -> None:
    assert krippendorff_alpha(PUBLISHED, nominal_disagreement) == pytest.approx(0.743, abs=5e-4)
    assert krippendorff_alpha(PUBLISHED, interval_disagreement) == pytest.approx(0.849, abs=5e-4)


def test_full_agreement_is_one_and_systematic_disagreement_is_negative() -> None:
    assert krippendorff_alpha([[0.1, 0.9], [0.1, 0.9]], interval_disagreement) == 1
    opposed = krippendorff_alpha([[0.1, 0.9], [0.9, 0.1]], interval_disagreement)
    assert opposed is not None
    assert opposed < 0


def test_categories_may_be_words() -> None:
    ratings = [["violation", "benign", "benign"], ["violation", "benign", None]]
    assert krippendorff_alpha(ratings, nominal_disagreement) == 1


@pytest.mark.parametrize(
    "ratings",
    [[], [[0.5, 0.5], [0.5, 0.5]], [[0.1, None], [None, 0.9]], [[0.2, 0.4]], [[None], [None]]],
    ids=["no raters", "no variation", "never paired", "one rater", "all silent"],
)
def test_where_alpha_is_undefined_it_is_none(ratings: list[list[float | None]]) -> None:
    assert krippendorff_alpha(ratings, interval_disagreement) is None


def test_ragged_rows_and_numbers_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="one entry a unit"):
        krippendorff_alpha([[0.1, 0.2], [0.1]], interval_disagreement)
    with pytest.raises(ValueError, match="finite"):
        krippendorff_alpha([[0.1, float("nan")], [0.1, 0.3]], interval_disagreement)


@given(rating_tables(), st.randoms(use_true_random=False))
def test_alpha_is_at_most_one_and_does_not_depend_on_the_order_of_raters_or_units(
    ratings: list[list[float | None]], rng: object
) -> None:
    alpha = krippendorff_alpha(ratings, interval_disagreement)
    reordered = [row[::-1] for row in ratings[::-1]]
    again = krippendorff_alpha(reordered, interval_disagreement)
    assert (alpha is None) == (again is None)
    if alpha is not None:
        assert alpha <= 1 + 1e-12
        assert again == pytest.approx(alpha, abs=1e-9)


@given(rating_tables())
def test_interval_alpha_ignores_unit_and_origin_of_the_scale(ratings: list[list[float | None]]) -> None:
    moved = [[None if value is None else 3 * value - 7 for value in row] for row in ratings]
    alpha, again = (krippendorff_alpha(table, interval_disagreement) for table in (ratings, moved))
    assert again == (None if alpha is None else pytest.approx(alpha, abs=1e-9))


@given(rating_tables())
def test_the_krippendorff_package_agrees(ratings: list[list[float | None]]) -> None:
    oracle = pytest.importorskip("krippendorff", reason="needs the development oracle krippendorff")
    numpy = pytest.importorskip("numpy", reason="needs the development oracle numpy")
    data = numpy.array([[numpy.nan if value is None else value for value in row] for row in ratings])
    for level, metric in (("interval", interval_disagreement), ("nominal", nominal_disagreement)):
        ours = krippendorff_alpha(ratings, metric)
        if ours is not None:
            theirs = float(oracle.alpha(reliability_data=data, level_of_measurement=level))
            assert ours == pytest.approx(theirs, abs=1e-9)
