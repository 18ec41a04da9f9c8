"""What is taken out of text that is not ours, and what spells and therefore stays."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.report.clean import clean, one_line

SIGNS = "aé \u200c\u200d\u200b\u202e\u2066\u2067\u2068\u2069سක්\u200d👩💻🏽\ufe0fé\n\x1b[1m"


@pytest.mark.parametrize(
    "text",
    [
        "می\u200cخواهم بدانم",
        "නිර්මාණය ශ්\u200dරී ලංකා",
        "क्\u200dष and क्\u200cष",
        "👩\u200d💻 👩🏽\u200d🔬 🏳\ufe0f\u200d🌈 ❤\ufe0f\u200d🔥",
        "قال \u2066Assay 1.0\u2069 نعم",
        "the file \u2068שם\u2069, twice \u2068a \u2066b\u2069\u2069",
    ],
)
def test_what_spells_stays(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("pay\u200dpal, pay\u200cpal", "paypal, paypal"),
        ("س\u200c\u200c\u200dم", "سم"),
        ("\u200dس and س\u200c and 1\u200d2", "س and س and 12"),
        ("\u2066never closed", "never closed"),
        ("closed\u2069 before, \u2066\nand on another line\u2069", "closed before, \nand on another line"),
        ("a\u202eb\u202cc\u2067\u202dd\u2069", "abc\u2067d\u2069"),
    ],
)
def test_what_hides_goes(text: str, left: str) -> None:
    assert clean(text) == left


@given(st.text(st.sampled_from(SIGNS)))
def test_what_is_left_is_closed_single_and_stays_so(text: str) -> None:
    left = clean(text)
    assert clean(left) == left
    assert not re.search("[\u200c\u200d]{2}|[\u200b\u202e\x1b]", left)
    for line in [*left.split("\n"), one_line(text, 9)]:
        depth = 0
        for sign in line:
            depth += (sign in "\u2066\u2067\u2068") - (sign == "\u2069")
            assert depth >= 0
        assert depth == 0
