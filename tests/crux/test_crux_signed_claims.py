"""A claim with its sign: the latest stance counts, earlier ones are told, and there is one way to word it."""

from __future__ import annotations

import pytest

from crux.book import Claim, ClaimBook, Mention, Relation, Stance, moved
from crux.results import Place

TEXT = "The toll must go"


def book(*told: tuple[str, str, Stance], author: str = "Ann", relations: tuple[Relation, ...] = ()) -> ClaimBook:
    """A book of one claim: (text, date, stance)."""
    mentions = [
        Mention(
            claim="c1",
            author=author,
            stance=stance,
            place=Place(item=item, start=10 * at, end=10 * at + 5, quote=f"{item}{at}", date=date),
        )
        for at, (item, date, stance) in enumerate(told)
    ]
    claims = (Claim(id="c1", text=TEXT, kind="proposal"), Claim(id="c2", text="A toll is unfair", kind="value"))
    return ClaimBook(claims=claims, mentions=tuple(mentions), relations=relations)


@pytest.mark.parametrize(
    ("told", "stance", "history", "words"),
    [
        ([("a", "2026-01-05", "holds")], "holds", "", TEXT),
        ([("a", "2026-01-05", "denies")], "denies", "", f"It is not so: {TEXT}"),
        # The order of reading does not matter; dates do.
        ([("b", "2026-02-01", "denies"), ("a", "2026-01-05", "holds")], "denies", "held until 2026-02-01", None),
        ([("a", "2026-01-05", "denies"), ("b", "2026-02-01", "grants")], "grants", "denied until 2026-02-01", TEXT),
        ([("a", "2026-01-05", "holds"), ("b", "2026-02-01", "grants")], "holds", "", TEXT),
        # Within one text what stands later counts; two texts of one day, or of none, cannot be put in order.
        ([("a", "2026-01-05", "holds"), ("a", "2026-01-05", "denies")], "denies", "held until 2026-01-05", None),
        ([("a", "2026-01-05", "holds"), ("b", "2026-01-05", "denies")], "mixed", "held until 2026-01-05", TEXT),
        ([("a", "", "holds"), ("b", "", "denies")], "mixed", "held elsewhere", TEXT),
        ([("b", "", "denies"), ("a", "2026-01-05", "holds")], "holds", "denied until 2026-01-05", TEXT),
        ([("a", "2026-01-05T10:00:00Z", "holds"), ("b", "2026-01-05T11:30:00Z", "denies")], "denies", None, None),
        # What is only told is no answer.
        ([("a", "2026-01-05", "holds"), ("b", "2026-02-01", "reports")], "holds", "", TEXT),
        ([("a", "2026-01-05", "reports")], "reports", "", TEXT),
    ],
)
def test_the_latest_answer_counts(
    told: list[tuple[str, str, Stance]], stance: str, history: str | None, words: str | None
) -> None:
    signed = book(*told).signed("c1", "Ann")
    assert signed.stance == stance
    assert history is None or signed.history == history
    assert words is None or signed.words() == words
    assert signed.words().startswith("It is not so") == (stance == "denies")


def test_the_sentences_shown_are_those_of_the_answer_that_counts() -> None:
    signed = book(("b", "2026-02-01", "denies"), ("a", "2026-01-05", "holds"), ("c", "2026-03-01", "denies")).signed(
        "c1", "Ann"
    )
    assert [place.item for place in signed.places] == ["b", "c"]


def test_a_reversal_is_news_and_a_second_sentence_is_none() -> None:
    before = book(("a", "2026-01-05", "holds"))
    after = book(("a", "2026-01-05", "holds"), ("b", "2026-02-01", "denies"))
    (change,) = moved(before, after, "Ann")
    assert change.line() == "Ann denies it now, 2026-02-01; before: holds"
    assert moved(before, book(("a", "2026-01-05", "holds"), ("b", "2026-02-01", "holds")), "Ann") == []
    assert moved(before, book(("a", "2026-01-05", "holds"), ("b", "2026-02-01", "grants")), "Ann") == []
    (mixed,) = moved(before, book(("a", "2026-01-05", "holds"), ("b", "2026-01-05", "denies")), "Ann")
    assert mixed.after == "mixed" and "says both" in mixed.line()


def test_what_rested_on_an_answer_rests_on_its_contrary_no_more() -> None:
    ties = (
        Relation(from_="c2", to="c1", kind="supports", author="Ann", origin="judged", denied=(False, False)),
        Relation(from_="c2", to="c1", kind="narrower", author="Ann", origin="stated"),
    )
    held = book(("a", "2026-01-05", "holds"), relations=ties)
    assert len(held.standing_relations) == 2 and held.dependants("c2") == ["c1"]
    denied = book(("a", "2026-01-05", "holds"), ("b", "2026-02-01", "denies"), relations=ties)
    assert denied.standing_relations == ties[1:]
