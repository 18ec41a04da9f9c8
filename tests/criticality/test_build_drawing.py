"""Generated tests share the values they are given: none of them may be weaker for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from criticality.languages.python.support import harness
from criticality.languages.python.support.harness import assume, drawn, holds
from hypothesis import errors
from hypothesis import strategies as st


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    harness._values.clear()  # pyright: ignore[reportPrivateUsage]
    yield
    harness._values.clear()  # pyright: ignore[reportPrivateUsage]


def seen_by(strategy: st.SearchStrategy[Any]) -> list[Any]:
    """The values that a test of its own, which holds, is given."""
    seen: list[Any] = []

    @drawn(value=strategy)
    def holding(value: Any) -> None:
        seen.append(value)

    holding()
    return seen


def test_tests_that_draw_the_same_are_given_the_same_hundred_values_each_time() -> None:
    first, second = seen_by(st.integers()), seen_by(st.integers())
    assert first == second and len(set(first)) > 90
    harness._values.clear()  # pyright: ignore[reportPrivateUsage]
    assert seen_by(st.integers()) == first
    assert seen_by(st.text()) != first


def test_a_promise_that_breaks_is_told_with_the_smallest_values() -> None:
    @drawn(value=st.integers(0, 1000))
    def small(value: int) -> None:
        holds("ENSURES: value < 100", lambda: value < 100, value=value)

    with pytest.raises(AssertionError, match=r"^ENSURES: value < 100 does not hold for value=100"):
        small()


def test_a_body_that_fails_once_and_never_again_has_failed() -> None:
    calls = list[int]()

    @drawn(value=st.integers())
    def moody(value: int) -> None:
        calls.append(value)
        holds("it is steady", lambda: len(calls) != 3, value=value)

    with pytest.raises(AssertionError, match="it is steady"):
        moody()


def test_where_few_values_fit_others_are_looked_for() -> None:
    seen: list[int] = []

    @drawn(value=st.integers(0, 20))
    def rare(value: int) -> None:
        assume(value % 7 == 3)
        seen.append(value)
        holds("ENSURES: value < 17", lambda: value < 17, value=value)

    with pytest.raises(AssertionError, match="value=17"):
        rare()
    assert 17 in seen and set(seen) <= {3, 10, 17}


def test_values_that_cannot_be_are_a_failure_of_every_test_that_wants_them() -> None:
    for _ in range(2):
        with pytest.raises(errors.Unsatisfiable):
            seen_by(st.integers().filter(lambda _: False))

    @drawn(value=st.integers())
    def nothing_fits(value: int) -> None:
        assume(False)

    with pytest.raises(errors.Unsatisfiable):
        nothing_fits()


def test_what_is_still_to_do_is_no_broken_promise() -> None:
    @drawn(value=st.integers())
    def skeleton(value: int) -> None:
        harness.call(lambda: (_ for _ in ()).throw(NotImplementedError("not implemented")))

    with pytest.raises(NotImplementedError):
        skeleton()
