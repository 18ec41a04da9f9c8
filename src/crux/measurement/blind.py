"""Blind sheets for people: who said this, could this be resolved, does this name a condition."""

from __future__ import annotations

import random
from collections.abc import Mapping

from crux.measurement.share import Share, share
from crux.results import DebateResult, Wire


class BlindRow(Wire):
    """One thing to judge. ``about`` is the question to the judge; ``choices`` are the answers possible."""

    number: int
    about: str
    text: str
    choices: tuple[str, ...]


class BlindSheet(Wire):
    """Rows in an order drawn by lot, and the key, kept apart from them.

    Args:
        key: by row number, who really said it; only the rows that ask that have one.
        cards: by row number, the card that a row is about.
    """

    rows: tuple[BlindRow, ...]
    key: dict[int, str]
    cards: dict[int, str]


def blind_sheet(result: DebateResult, *, seed: int = 0, most: int = 20) -> BlindSheet:
    """Return a sheet of at most ``most`` utterances, with names masked, and of all cards."""
    rng = random.Random(seed)
    lines = [(m.persona, m.text) for m in (*result.messages, *result.room_messages) if m.persona]
    drawn = rng.sample(lines, min(most, len(lines)))
    rows: list[tuple[str, str, tuple[str, ...], str, str]] = []
    for persona, text in drawn:
        for name in result.personas:
            for part in (name, *name.split()):
                text = text.replace(part, "…")
        rows.append(("Who said this?", text, result.personas, persona, ""))
    yes_no = ("yes", "no")
    for card in result.cards:
        rows.append(("Could this be resolved with evidence?", card.question, yes_no, "", card.id))
        rows += [
            ("Does this name a specific condition?", side.falsifier, yes_no, "", card.id)
            for side in card.personas.values()
            if side.falsifier
        ]
    rng.shuffle(rows)
    numbered = list(enumerate(rows, start=1))
    return BlindSheet(
        rows=tuple(
            BlindRow(number=number, about=about, text=text, choices=choices)
            for number, (about, text, choices, _, _) in numbered
        ),
        key={number: persona for number, (_, _, _, persona, _) in numbered if persona},
        cards={number: card for number, (_, _, _, _, card) in numbered if card},
    )


def score_sheet(sheet: BlindSheet, answers: Mapping[int, str]) -> dict[str, Share]:
    """Score by question: right names for "who said this?", yes for the others; rows without answer do not count."""
    right: dict[str, list[bool]] = {}
    for row in sheet.rows:
        if row.number in answers:
            wanted = sheet.key.get(row.number, "yes")
            right.setdefault(row.about, []).append(answers[row.number].strip().casefold() == wanted.casefold())
    return {about: share(hits) for about, hits in right.items()}
