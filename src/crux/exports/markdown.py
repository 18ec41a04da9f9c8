"""A debate as Markdown for people: cards first, then shifts, ledger and every message."""

from __future__ import annotations

import re

from crux.results import RESOLVABLE, CardNotes, CruxCard, DebateResult, PersonaPosition, SentenceSource

SEEN = {
    "both": "Found in the texts before the debate, and in the debate.",
    "debate": "Found in the debate alone; the comparison of the texts had not named it.",
}
"""Where a card's question was met."""
NO_TEXT = "No sentence that the model wrote for this side is borne by a text of theirs."
_SPECIAL = re.compile(r"([\\`*_{}\[\]#|!~])")
_LINE_START = re.compile(r"^([^\S\n]*)([-+>=]|\d+[.)])", re.MULTILINE)


def to_markdown(result: DebateResult) -> str:
    """Return the document; whatever a model or an author wrote is escaped."""
    notes = {note.card_id: note for note in result.notes}
    parts = [f"# {plain(result.topic)}", _head(result)]
    parts += [_card(card, notes.get(card.id)) for card in result.cards]
    parts += [f"Found in the texts alone: {plain(question)}" for question in result.texts_alone]
    if result.shifts:
        parts.append("## From opening to closing\n\n" + "\n".join(_shifts(result)))
    if result.ledger:
        parts.append("## Concessions\n\n" + "\n".join(_ledger(result)))
    parts.append("## The debate\n\n" + "\n\n".join(_messages(result)))
    if result.errors:
        parts.append("## What went wrong\n\n" + "\n".join(f"- {plain(line)}" for line in result.errors))
    return "\n\n".join(parts) + "\n"


def plain(text: str) -> str:
    """Return a text on one line, in which nothing means anything to Markdown or HTML."""
    escaped = _SPECIAL.sub(r"\\\1", " ".join(text.split()))
    escaped = escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _LINE_START.sub(r"\1\\\2", escaped)


def _head(result: DebateResult) -> str:
    cost = "unknown" if result.spend.cost is None else f"${result.spend.cost / 1_000_000:.4f}"
    state = result.state + (f" ({plain(result.stopped_because)})" if result.stopped_because else "")
    cards = "crux card" if len(result.cards) == 1 else "crux cards"
    return (
        f"{', '.join(map(plain, result.personas))}. {len(result.cards)} {cards}. State: {state}. "
        f"{result.spend.calls} calls, cost {cost}."
    )


def _card(card: CruxCard, notes: CardNotes | None) -> str:
    kind = f", {notes.kind}" if notes and notes.kind != "not tested" else ""
    lines = [
        f"## {plain(card.question)}",
        f"*{card.disagreement_type}* ({RESOLVABLE[card.disagreement_type]}), "
        f"{'resolved' if card.resolved else 'open'}{kind}. {plain(card.diagnosis)}",
        f"*{plain(card.spoken)}*",
    ]
    if notes and notes.seen_in:
        lines.append(SEEN[notes.seen_in])
    if card.resolution:
        lines.append(plain(card.resolution))
    lines += [_side(name, side, notes) for name, side in card.personas.items()]
    for one in struck(card, notes):
        lines.append(f"Left out, for no text bears it: ~~{plain(one.persona)}: {plain(one.sentence)}~~")
    if notes and notes.flags:
        lines.append("Flags: " + "; ".join(map(plain, notes.flags)))
    return "\n\n".join(lines)


def _side(name: str, side: PersonaPosition, notes: CardNotes | None) -> str:
    block = [f"**{plain(name)}: {side.position}.** {plain(side.reasoning or NO_TEXT)}"]
    if side.condition:
        block.append(f"Condition: {plain(side.condition)}")
    if side.falsifier:
        block.append(f"Would change: {plain(side.falsifier)}")
    for place in notes.places.get(name, ()) if notes else ():
        source = ", ".join(part for part in (place.title or place.item, place.date) if part)
        block.append(f"> {plain(place.quote)} ({plain(source)}, characters {place.start} to {place.end})")
    return "\n\n".join(block)


def struck(card: CruxCard, notes: CardNotes | None) -> list[SentenceSource]:
    """Return the sentences that the model wrote for a side and that its card leaves out."""
    if not card.texts:
        return []
    sides = {name: f"{side.reasoning} {side.falsifier} {side.condition}" for name, side in card.personas.items()}
    return [
        one for one in (notes.sources if notes else ()) if one.persona and one.sentence not in sides[one.persona]
    ]


def _shifts(result: DebateResult) -> list[str]:
    return [
        f"- {plain(shift.persona)}: {shift.before} to {shift.after}"
        + (f", because of {plain(shift.claim_ref)}: {plain(shift.because)}" if shift.claim_ref else "")
        + ("" if shift.earned is None else ", earned" if shift.earned else ", not earned")
        for shift in result.shifts
    ]


def _ledger(result: DebateResult) -> list[str]:
    return [
        f"- {plain(entry.persona)} at {entry.message}: {entry.before} to {entry.after}, "
        f"{'earned' if entry.earned else 'not earned'}: {plain(entry.reason)}"
        for entry in result.ledger
    ]


def _messages(result: DebateResult) -> list[str]:
    everything = sorted(
        (*result.messages, *result.room_messages),
        key=lambda message: (int(message.id[1:]) if message.id[1:].isdigit() else 0, message.id),
    )
    return [
        f"**{plain(message.persona or 'evidence')}** ({message.id}, {message.phase}): {plain(message.text)}"
        for message in everything
    ]
