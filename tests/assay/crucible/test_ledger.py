"""What code keeps of a clerk's answers: objections that are there, and no words that are not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.protocols.crucible.report.objections import gist
from crucible.ledger import Change, Ledger, Objection, headline
from crucible.passages import Passage, Span, locate
from crucible.prose.entries import Attack, Entries, entered

DATA: dict[str, Any] = json.loads(Path(__file__).with_name("critiques.json").read_text("utf-8"))
CASES: list[dict[str, Any]] = DATA["critiques"]


def attack_of(case: dict[str, Any]) -> Attack:
    council = DATA["councils"][case["council"]]
    before = {seat: Passage(f"1/{seat}/position", text) for seat, text in council["before"].items()}
    after = {seat: Passage(f"2/{seat}/position", text) for seat, text in council["after"].items()}
    letters = {seat: chr(ord("A") + number) for number, seat in enumerate(before)}
    answer = Passage("answer", council["answer"])
    return Attack(1, 1, Passage("critique/1/1", case["critique"]), before, after, answer, letters)


def read(case: dict[str, Any]) -> list[Objection]:
    return entered(attack_of(case), Entries.model_validate({"objections": case["clerk"]}).objections)


def spans(objections: list[Objection]) -> list[Span]:
    found = [span for one in objections for span in (one.text, one.claim, one.reply) if span]
    changes = [change for one in objections for change in one.changes]
    return [*found, *(span for change in changes for span in (change.before, change.after) if span)]


def text_at(attack: Attack, source: str) -> str:
    passages = [attack.critique, *attack.before.values(), *attack.after.values()]
    passages += [attack.answer] if attack.answer else []
    return next(passage.text for passage in passages if passage.source == source)


def test_of_thirty_labelled_critiques_nine_objections_in_ten_are_found_and_nothing_is_made_up() -> None:
    assert len(CASES) == 30
    wanted = found = right = invented = extra = 0
    for case in CASES:
        attack, objections = attack_of(case), read(case)
        for beginning, outcome in case["labels"]:
            at = case["critique"].index(beginning)
            mine = [one for one in objections if one.text.start <= at < one.text.end]
            wanted, found = wanted + 1, found + (len(mine) == 1)
            right += [one.outcome for one in mine] == [outcome]
        extra += max(len(objections) - len(case["labels"]), 0)
        invented += sum(text_at(attack, span.source)[span.start : span.end] != span.words for span in spans(objections))
    print(f"{found} of {wanted} found, {right} with their outcome, {extra} more, {invented} invented spans")
    assert wanted == 70 and invented == 0
    assert found >= 0.9 * wanted and right >= 0.9 * wanted, (found, right)
    assert extra <= 0.1 * wanted


def test_words_that_stood_there_before_the_objection_are_no_reaction_to_it() -> None:
    case = next(case for case in CASES if "no branch" in case["critique"])
    objections = read(case)
    assert [one.outcome for one in objections] == ["open", "conceded"]
    assert objections[1].by == "answer" and objections[1].changes


def test_a_conceded_objection_shows_what_is_gone_and_what_is_new() -> None:
    first, second, third = read(CASES[0])
    assert [one.id for one in (first, second, third)] == ["O1", "O2", "O3"]
    (change,) = first.changes
    assert change.before and change.before.words.startswith("The load balancer brings back")
    assert change.after.words == "the image goes back and the schema stays"
    assert first.targets == ("0:pragmatist",) and third.outcome == "refuted" and not third.changes


@pytest.mark.parametrize(
    ("words", "how"),
    [
        ("the image goes back", "exact"),
        ("THE IMAGE  goes\nback", "folded"),
        ("the image … back and the schema", "folded"),
        ("the picture goes back", None),
        ("back", None),
        ("", None),
    ],
)
def test_a_quotation_is_found_to_the_letter_or_folded_or_not_at_all(words: str, how: str | None) -> None:
    span = locate(words, Passage("answer", "So the image goes back and the schema stays."))
    assert (span.how if span else None) == how


def test_a_critique_that_no_clerk_has_read_is_one_open_objection_as_a_whole() -> None:
    attack = attack_of(CASES[0] | {"critique": "1. It has no source.\n2. Nobody pays for it.\n\nTARGETS: A, B"})
    (whole,) = entered(attack, (), 4)
    assert (whole.id, whole.outcome) == ("O4", "open")
    assert whole.text.words == "1. It has no source.\n2. Nobody pays for it."


def test_the_headline_counts_what_became_of_them() -> None:
    span = Span(source="answer", start=0, end=1, how="exact", words="x")
    outcomes = ["conceded"] * 3 + ["refuted"] * 2 + ["open"] * 2
    objections = [
        Objection.model_validate(
            {
                "id": "O",
                "loop": 1,
                "step": 1,
                "text": span,
                "outcome": outcome,
                "changes": (Change(after=span),) if outcome == "conceded" else (),
            }
        )
        for outcome in outcomes
    ]
    assert headline(Ledger(objections=tuple(objections))) == "7 objections: 3 conceded, 2 refuted, 2 open"
    assert headline(Ledger()) == "no objections"


_text = st.text(alphabet='ab1.2)\n *-#"“…TARGETS: é\u200b', max_size=80)


_entries = st.lists(st.fixed_dictionaries({"quote": _text, "attacks": _text, "reply": _text}), max_size=4)


@given(_text, _text, _entries)
def test_no_critique_and_no_clerk_breaks_the_ledger(critique: str, later: str, said: list[dict[str, str]]) -> None:
    attack = Attack(1, 1, Passage("c", critique), {"0:a": Passage("b", later)}, {"0:a": Passage("l", later)})
    entries = Entries.model_validate({"objections": [{**one, "outcome": "conceded"} for one in said]})
    for span in spans(entered(attack, entries.objections)):
        assert {"c": critique, "b": later, "l": later}[span.source][span.start : span.end] == span.words


@pytest.mark.parametrize(
    ("words", "gist_of_it"),
    [
        ("### 3) The deadline is a Sunday, so nobody can sign.", "The deadline is a Sunday, so nobody can sign."),
        ("12 percent of the users are lost. Nobody counts them.", "12 percent of the users are lost."),
        ("1. Attack the premise itself first. It is **stale**.", "Attack the premise itself first."),
        ("没有人测量过负载。", "没有人测量过负载。"),
        ("Objection:", "Objection:"),
    ],
)
def test_the_table_shows_the_first_sentence_of_an_objection(words: str, gist_of_it: str) -> None:
    assert gist(words) == gist_of_it
