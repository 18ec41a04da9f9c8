"""Argdown (argdown.org): each card as a statement, each side as an argument for or against it."""

from __future__ import annotations

import json
import re

from crux.results import CardLabel, DebateResult

_RESERVED = re.compile(r"[\[\]<>{}#@*_:/\\|()\"`]")


def to_argdown(result: DebateResult) -> str:
    """Return the document. A NUANCED side supports and attacks nothing: an undercut ties it to its condition."""
    lines = titled(result.topic)
    spoken = {note.card_id: note.spoken for note in result.notes}
    for number, card in enumerate(result.cards, start=1):
        lines.append(f"[Crux {number}]: {flat(card.question)} #{card.disagreement_type}")
        lines.append(f"// {flat(spoken.get(card.id, 'Spoken by a model.'))}")
        for name, side in card.personas.items():
            reasons = flat(side.reasoning) or side.position
            lines.append(f"  {_RELATION[side.position]} <{flat(name)} {number}>: {reasons}")
            if side.condition:
                lines.append(f"    + [Condition of {flat(name)} {number}]: {flat(side.condition)}")
            if side.falsifier:
                lines.append(f"    - [Falsifier of {flat(name)} {number}]: {flat(side.falsifier)}")
            for place, quote in enumerate(side.grounding_quotes or (), start=1):
                lines.append(f"    + [Source {number}.{place} of {flat(name)}]: {flat(quote)}")
        lines.append("")
    return "\n".join(lines)


_RELATION: dict[CardLabel, str] = {"YES": "+", "NO": "-", "NUANCED": "_"}


def titled(title: str) -> list[str]:
    """Return the lines that a document begins with; they are YAML, so that the title is quoted."""
    return ["===", f"title: {json.dumps(flat(title), ensure_ascii=False)}", "===", ""]


def flat(text: str) -> str:
    """Return one line without the characters that Argdown reads."""
    return " ".join(_RESERVED.sub(" ", text).split())
