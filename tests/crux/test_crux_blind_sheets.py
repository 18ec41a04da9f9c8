"""Blind sheets: people judge what no program can, and nothing on the sheet tells them who spoke."""

from __future__ import annotations

import csv
import io

import pytest

from crux import CruxConfigurationError, Persona
from crux.measurement.blind import answers_of, blind_sheet, score_sheet, sheet_csv
from crux.results import CruxCard, DebateResult, DialogueMessage, PersonaPosition

CARD = CruxCard(
    id="1",
    question="Is it so?",
    disagreement_type="premise",
    diagnosis="Why.",
    resolved=False,
    personas={
        "Ann": PersonaPosition(position="YES", reasoning="Tarrowby\nsays so.", falsifier="If it rained."),
        "Bob": PersonaPosition(position="NO", reasoning="Because not."),
    },
    source_aspect="a1",
    source_messages=(),
    crux_room_id="room-1",
    timestamp=0,
)


def debate(authors: list[Persona], *texts: str) -> DebateResult:
    said = [
        DialogueMessage(id=f"m{n}", persona=author.name, text=text, phase="opening")
        for n, (author, text) in enumerate((author, text) for author in authors for text in texts)
    ]
    return DebateResult(
        debate_id="d", topic="T", personas=tuple(author.name for author in authors), seed=0, state="finished",
        messages=tuple(said), cards=(CARD,),
    )  # fmt: skip


def named(author: Persona, name: str) -> Persona:
    contract = author.contract.model_copy(update={"name": name, "aliases": ()})
    return author.model_copy(update={"contract": contract, "id": "x"})


def test_names_go_and_the_words_around_them_stay(authors: list[Persona]) -> None:
    panel = [named(authors[0], "Simone de Beauvoir"), *authors[1:]]
    said = "The independent woman understands, said SIMONE DE BEAUVOIR; and Beauvoir's essays."
    sheet = blind_sheet(debate(panel, said), panel)
    texts = [row.text for row in sheet.rows if row.about == "Who said this?"]
    assert texts == ["The independent woman understands, said …; and …'s essays."] * len(panel)


def test_a_sheet_that_is_filled_in_is_scored_by_question(authors: list[Persona]) -> None:
    result = debate(authors, *(f"As Maud Tarrowby and Ilario Fennimast said,\n{n}." for n in range(3)))
    sheet = blind_sheet(result, authors, seed=4)
    text = sheet_csv(sheet)
    assert not any(word in text for word in ("Tarrowby says", "Tarrowby and", "Fennimast said"))
    rows = list(csv.DictReader(io.StringIO(text)))
    for row in rows:
        row["answer"] = sheet.key[int(row["number"])].upper()
    wrong = next(row for row in rows if row["about"] == "Over what do they differ?")
    assert "premise" in wrong["choices"]
    wrong["answer"] = "values"
    next(row for row in rows if row["about"] == "Who said this?")["answer"] = ""
    scores = score_sheet(sheet, answers_of(sheet, rows))
    assert {about: (score.hits, score.of) for about, score in scores.items()} == {
        "Who said this?": (3 * len(authors) - 1, 3 * len(authors) - 1),
        "Over what do they differ?": (0, 1),
        "Could this be resolved with evidence?": (1, 1),
        "Does this name a specific condition?": (1, 1),
    }


def test_a_sheet_of_another_seed_is_not_scored(authors: list[Persona]) -> None:
    result = debate(authors, "One.", "Two.", "Three.")
    rows = list(csv.DictReader(io.StringIO(sheet_csv(blind_sheet(result, authors, seed=1)))))
    with pytest.raises(CruxConfigurationError, match="another seed"):
        answers_of(blind_sheet(result, authors, seed=2), rows)
