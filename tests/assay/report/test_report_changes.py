"""What is marked as new: everything that is, little else, and never at the cost of the text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.report.changes import changes
from assay.report.markup import render
from assay.report.prose import prose_html
from assay.report.story import Pin, Prose

_texts = st.text(alphabet="ab1 .!?\n*_`[]()<>&#-é漢\ue000", max_size=80) | st.text(max_size=80)


def marked(before: str, after: str) -> list[str]:
    return [after[start:end] for start, end in changes(before, after).marks]


def test_words_of_a_reworded_sentence_are_marked() -> None:
    assert marked("It costs two engineers full time.", "It costs three engineers full time.") == ["three"]


def test_a_new_sentence_is_marked_whole_and_a_lost_one_is_listed() -> None:
    found = changes("Keep it. Split billing off soon.", "Keep it. Name one person who decides.")
    assert marked("Keep it. Split billing off soon.", "Keep it. Name one person who decides.") == [
        "Name one person who decides"
    ]
    assert found.dropped == ("Split billing off soon.",)
    assert found.share == 5 / 7


@pytest.mark.parametrize(
    ("before", "after", "new"),
    [
        ("यह किताब है", "यह कुतुब है", "कुतुब"),
        ("کتاب می‌خواهم", "کتاب نمی‌خواهم", "نمی‌خواهم"),
        ("ไทยเป็นที่รัก ok", "ไทยเป็นที่ชัง ok", "ไทยเป็นที่ชัง"),
        ("මම කර්‍ම ය", "මම ධර්‍ම ය", "ධර්‍ම"),
        ("le cafe\u0301 noir", "le cafe\u0300 noir", "cafe\u0300"),
        ("ספר טוֹב", "ספר טוּב", "טוּב"),
    ],
)
def test_words_are_marked_whole_in_scripts_that_spell_with_signs_and_joiners(before: str, after: str, new: str) -> None:
    before, after = f"one two three {before}", f"one two three {after}"
    assert marked(before, after) == [new]
    assert f"<ins>{new}</ins>" in render(prose_html(Prose(after, changes(before, after).marks)))


def test_a_sentence_that_moved_is_not_new() -> None:
    assert marked("First point. Second point.", "Second point. First point.") == []


def test_the_number_of_a_list_item_is_not_marked() -> None:
    assert marked("", "1. Draw borders\n2. Wait") == ["Draw borders", "Wait"]


def test_nothing_is_new_in_an_equal_text_and_all_in_an_unrelated_one() -> None:
    assert changes("Same text.", "Same text.").share == 0.0
    assert changes("", "All of it.").share == 1.0
    assert changes("x", "").share == 0.0


@given(_texts, _texts)
def test_marks_are_apart_and_within_lines(before: str, after: str) -> None:
    found = changes(before, after)
    assert 0.0 <= found.share <= 1.0
    bounds = [bound for mark in found.marks for bound in mark]
    assert bounds == sorted(bounds)
    assert not any("\n" in after[start:end] for start, end in found.marks)


@given(_texts)
def test_equal_texts_have_no_marks(text: str) -> None:
    assert changes(text, text).marks == ()


def test_words_that_are_gone_stand_struck_out_where_they_stood() -> None:
    before = "It costs two engineers full time. We decide in **May**, or later."
    after = "It costs three engineers. We decide in **June**, or later."
    found = changes(before, after)
    html = render(prose_html(Prose(after, found.marks, gone=found.gone)))
    assert "costs <del>two</del> <ins>three</ins> engineers <del>full time</del>." in html
    assert "<strong><del>May</del> <ins>June</ins></strong>, or later" in html


@given(_texts, _texts, st.integers(0, 80), st.integers(0, 80))
def test_marks_do_not_disturb_the_markdown(before: str, after: str, one: int, other: int) -> None:
    change, (start, end) = changes(before, after), sorted((min(one, len(after)), min(other, len(after))))
    pins = (Pin(start, end, "O1", "attacked", "claim-O1", "O1"), Pin(end, end, "O2", name="O2"))
    html = render(prose_html(Prose(after, change.marks, gone=change.gone, pins=pins)))
    assert len(re.findall(r'id="claim-O1"><a href="#O1">O1</a>', html)) <= 1
    opened: list[str] = []
    for closing, tag in re.findall(r"<(/?)(\w+)[^>]*>", html):
        if not closing:
            opened += [] if tag in ("br", "hr") else [tag]
        else:
            assert opened.pop() == tag, html


def test_a_marked_emphasis_stays_one() -> None:
    text = "It is **very** good, `so_good` and _truly_ [new](https://example.test/new)."
    html = render(prose_html(Prose(text, changes("", text).marks)))
    assert "<strong><ins>very</ins></strong>" in html and "<em><ins>truly</ins></em>" in html
    assert 'href="https://example.test/new"' in html


def test_a_long_text_is_compared_within_reason() -> None:
    before = " ".join(f"Sentence number {i} of the first text." for i in range(2_000))
    after = " ".join(f"Sentence number {i} of the second text." for i in range(2_000))
    assert changes(before, after).share > 0
