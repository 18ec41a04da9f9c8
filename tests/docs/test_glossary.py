"""The glossary has every word that a kind of run is called by, each word once, each on one line."""

from __future__ import annotations

import re

from docs.admission import admission_page
from docs.generate import glossary_page
from tests.docs.pages import text_of

from assay.registry import OURS, ours, packages
from assay.report.glossary import glossary, meaning
from assay.terms import Terms

WORDS_AND_REPORTS = glossary(packages())
ROWS = list(WORDS_AND_REPORTS["words"].items())
WORDS = [word for word, _ in ROWS]


def test_words_stand_in_order_and_once() -> None:
    assert len(WORDS) > 80
    assert sorted(set(WORDS), key=str.casefold) == WORDS


def test_what_a_run_is_called_is_explained() -> None:
    nouns = {run.noun for name in OURS for run in ours(name).runs}
    assert "council" in nouns and nouns <= set(WORDS)


def test_references_lead_to_words() -> None:
    for about in (about for _, about in ROWS):
        for word in re.findall(r"(?:^|; )see ([a-z ]+)$", about):
            assert word in WORDS, word


def test_models_and_bounds_are_named_by_the_terms() -> None:
    about = dict(ROWS)
    assert set(Terms.model_fields) == {"model", "seats", "effort", "max_tokens", "budget", "max_calls", "deadline"}
    assert all(word in about["bound"] for word in ("budget", "calls", "seconds", "tokens", "effort"))


def test_the_page_is_what_the_data_says() -> None:
    assert text_of("glossary.md") == glossary_page()


def test_headings_and_figures_are_explained_numbered_ones_too() -> None:
    assert (
        meaning("Loops", packages())
        and meaning("Round 2: discussion") == meaning("Round")
        and meaning("nonsense") == ""
    )
    assert list(WORDS_AND_REPORTS["reports"]) == sorted(WORDS_AND_REPORTS["reports"], key=str.casefold)


def test_the_page_on_admission_has_what_was_measured_and_what_the_puzzles_say() -> None:
    assert text_of("admission.md") == admission_page(text_of("admission.md"))
