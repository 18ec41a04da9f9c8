"""Sums that a council's answer states are calculated: no model, no guess, and what is no plain sum is left alone."""

from __future__ import annotations

import pytest

from crucible.sums import stated_sums


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("It is 17 * 23 = 391.", "✓"),
        ("It is 17 × 23 = 390.", "is 391"),
        ("1,200 + 300 - 50 = 1,450", "✓"),
        ("$3.50 + $4 = $8", "is 7.5"),
        ("2 + 3 * 4 = 20", "is 14"),
        ("100 / 3 = 33.3", "✓"),
        ("100 / 3 = 33.4", "is 33.33333333"),
        ("2.5 * 3 = 8", "is 7.5"),
        ("8 / 0 = 4", "divides by zero"),
        ("1 - 2 = -1", "✓"),
    ],
)
def test_a_plain_sum_is_calculated_to_the_digits_that_it_states(text: str, told: str) -> None:
    assert [word for _, word in stated_sums(text)] == [told]


@pytest.mark.parametrize(
    "text",
    [
        *("x2 + 3 = 5", "a + 3 * 4 = 20", "3 * 4 = 12 + x", "2 + 2 = 4 = 2 * 2", "7 + 8 = 3 (mod 12)"),
        *("`2 + 2 = 5`", "2026-05-01 = 7", "5 + 5 = 10%", "10% + 5 = 6", "v1.2.3 + 4 = 5", "2 * (3 + 4) = 15", "f = 3"),
    ],
)
def test_what_is_part_of_something_else_is_left_alone(text: str) -> None:
    assert stated_sums(text) == []


def test_a_sign_stands_behind_its_sum_and_long_texts_are_read_in_time() -> None:
    text = "First 1 + 1 = 2, then 2 + 2 = 5."
    assert [(text[:at], word) for at, word in stated_sums(text)] == [
        ("First 1 + 1 = 2", "✓"),
        ("First 1 + 1 = 2, then 2 + 2 = 5", "is 4"),
    ]
    assert stated_sums("1 + " * 20_000) == [] and stated_sums("1" * 100_000) == []
