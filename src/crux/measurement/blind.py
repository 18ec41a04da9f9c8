"""Blind sheets: what only people can judge. Who said this, over what do they differ, could this be resolved?"""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

from crux.anonymity import Panel
from crux.config import CruxConfigurationError
from crux.exports.tables import safe
from crux.measurement.share import Share, share
from crux.personas.persona import Persona
from crux.results import CamelModel, DebateResult, DisagreementType

_COLUMNS = ("number", "about", "text", "choices", "answer")


class BlindRow(CamelModel):
    """One thing to judge. ``about`` is the question to the judge; ``choices`` are the answers possible."""

    number: int
    about: str
    text: str
    choices: tuple[str, ...]


class BlindSheet(CamelModel):
    """Rows in an order drawn by lot, and the key, kept apart from them.

    Args:
        key: by row number, who said it, the card's own type of disagreement, or yes.
    """

    rows: tuple[BlindRow, ...]
    key: dict[int, str]


def blind_sheet(result: DebateResult, personas: Sequence[Persona], *, seed: int = 0, most: int = 20) -> BlindSheet:
    """Return a sheet of at most ``most`` utterances, with names masked as agents see them, and of all cards."""
    rng, panel, yes_no = random.Random(seed), Panel(personas), ("yes", "no")
    lines = [(m.persona, m.text) for m in (*result.messages, *result.room_messages) if m.persona]
    rows = [
        ("Who said this?", panel.blind(text), result.personas, persona)
        for persona, text in rng.sample(lines, min(most, len(lines)))
    ]
    for card in result.cards:
        sides = "; ".join(f"{side.position}: {side.reasoning}" for side in card.personas.values())
        asked = f"{card.question} {panel.blind(sides)}"
        rows.append(("Over what do they differ?", asked, get_args(DisagreementType), card.disagreement_type))
        rows.append(("Could this be resolved with evidence?", card.question, yes_no, "yes"))
        rows += [
            ("Does this name a specific condition?", side.falsifier, yes_no, "yes")
            for side in card.personas.values()
            if side.falsifier
        ]
    rng.shuffle(rows)
    return BlindSheet(
        rows=tuple(
            BlindRow(number=number, about=about, text=" ".join(text.split()), choices=choices)
            for number, (about, text, choices, _) in enumerate(rows, start=1)
        ),
        key={number: right for number, (*_, right) in enumerate(rows, start=1)},
    )


def sheet_csv(sheet: BlindSheet) -> str:
    """Return the rows for a spreadsheet, with an empty column for the answers."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(_COLUMNS)
    writer.writerows((row.number, row.about, safe(row.text), " | ".join(row.choices), "") for row in sheet.rows)
    return text.getvalue()


def answers_of(sheet: BlindSheet, rows: Iterable[Mapping[str, Any]]) -> dict[int, str]:
    """Return the answers in the rows of a filled-in sheet, by row number.

    Raises:
        CruxConfigurationError: the rows are another sheet's.
    """
    texts = {str(row.number): safe(row.text) for row in sheet.rows}
    answers: dict[int, str] = {}
    for row in rows:
        number = str(row.get("number"))
        if texts.get(number) != row.get("text"):
            raise CruxConfigurationError("these rows are of another debate or another seed; give the sheet's own")
        answers[int(number)] = str(row.get("answer") or "").strip()
    return {number: answer for number, answer in answers.items() if answer}


def score_sheet(sheet: BlindSheet, answers: Mapping[int, str]) -> dict[str, Share]:
    """Score by question: answers as the key has them, of all answers; rows without answer do not count."""
    right: dict[str, list[bool]] = {}
    for row in sheet.rows:
        if row.number in answers:
            hit = answers[row.number].strip().casefold() == sheet.key[row.number].casefold()
            right.setdefault(row.about, []).append(hit)
    return {about: share(hits) for about, hits in right.items()}
