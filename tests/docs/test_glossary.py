"""The glossary has every word that a kind of run is called by, each word once, each on one line."""

from __future__ import annotations

import re

from tests.docs.pages import text_of

from assay.registry import OURS, ours
from assay.terms import Terms

ROWS = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", text_of("glossary.md"), re.MULTILINE)[1:]
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
