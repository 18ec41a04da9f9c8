"""Crux cards as blocks: question, type, both sides with their quotations, and what every sentence rests on."""

from __future__ import annotations

from collections.abc import Iterable

from assay.report.crux.state import DebateState
from assay.report.story import (
    Block,
    Column,
    Details,
    Mark,
    Marked,
    Note,
    Plain,
    Prose,
    Quote,
    Section,
    Table,
    Voice,
)
from assay.report.units import several
from crux.results import RESOLVABLE, CardNotes, CruxCard, CruxMessage, PersonaPosition, Place, SentenceSource

_WHOLE_TEXT = 12_000
"""Characters up to which a quotation opens to its whole text; of a longer one, to what stands around it."""
_AROUND = 1_500
_KINDS = {
    "double crux": "Double crux: were it settled the other way, both would answer the topic differently.",
    "single crux": "Single crux: were it settled the other way, one of the two would answer the topic differently.",
    "not a crux": "Not a crux: were it settled the other way, both would answer the topic as before.",
}


def cards_section(state: DebateState) -> Section:
    """What a reader came for."""
    result = state.result
    notes = {note.card_id: note for note in result.notes}
    blocks: list[Block] = []
    if result.state != "finished":
        blocks.append(_unfinished(state))
    if not result.cards:
        blocks.append(Note("No crux card: " + _why_none(state)))
    for number, card in enumerate(result.cards, start=1):
        blocks += _card(state, number, card, notes.get(card.id, CardNotes(card_id=card.id)))
    return Section("Crux cards", tuple(blocks))


def room_blocks(state: DebateState, messages: list[CruxMessage]) -> tuple[Block, ...]:
    """What was said in a room, turn by turn."""
    blocks: list[Block] = []
    for turn in messages:
        where = f"{turn.id}, {turn.phase}, turn {turn.turn}"
        if not turn.persona:
            blocks.append(Note(f"Evidence ({turn.id}): {turn.text}"))
            continue
        remark = where + (f", {turn.stance}" if turn.stance else "")
        blocks.append(
            Voice(
                turn.persona,
                (Prose(escaped(turn.text)), *flag_notes(turn.flags)),
                state.accent(turn.persona),
                remark,
            )
        )
    return tuple(blocks)


def flag_notes(flags: tuple[str, ...]) -> list[Block]:
    """What the checks found in a message."""
    return [Note(f"Flagged: {flag}.", "warning") for flag in flags]


def in_seat_order(state: DebateState, names: Iterable[str]) -> list[str]:
    """Names as they sit; a log keeps the keys of an object in alphabetical order."""
    seats = list(state.personas)
    return sorted(names, key=lambda name: seats.index(name) if name in seats else len(seats))


def escaped(text: str) -> str:
    """A text within our own Markdown, on one line, in which nothing means anything."""
    flat = " ".join(text.split())
    marked = "".join(f"\\{sign}" if sign in "\\`*_{}[]()#+!|<>~&" else sign for sign in flat)
    return f"\\{marked}" if marked[:1] in ("-", "=", ":") else marked


def _card(state: DebateState, number: int, card: CruxCard, notes: CardNotes) -> list[Block]:
    tone = "good" if card.resolved else "info"
    ending = "Resolved." if card.resolved else "Open."
    settle = RESOLVABLE.get(card.disagreement_type, "")
    told = f"{card.disagreement_type.capitalize()}. Can it be resolved? {settle.capitalize()}. {ending}"
    if card.resolution:
        told += f" {card.resolution}"
    blocks: list[Block] = [
        Prose(f"# {number}. {escaped(card.question)}", lead=True),
        Note(told, tone),
        Prose("\n\n".join([escaped(card.diagnosis), *([_KINDS[notes.kind]] if notes.kind in _KINDS else [])])),
    ]
    blocks += [_side(state, name, card.personas[name], notes) for name in in_seat_order(state, card.personas)]
    blocks += [Note(f"{flag[:1].upper()}{flag[1:]}.", "warning") for flag in notes.flags]
    if notes.dropped_quotes:
        many = several(notes.dropped_quotes, "quotation")
        blocks.append(Note(f"{many} stood nowhere in the texts and were dropped.", "warning"))
    if notes.sources:
        blocks.append(Details("What each sentence rests on", (_sources(state, notes.sources),)))
    room = [turn for turn in state.result.room_messages if turn.room_id == card.crux_room_id]
    if room:
        blocks.append(Details(f"The room it comes from, in {several(len(room), 'turn')}", room_blocks(state, room)))
    return blocks


def _side(state: DebateState, name: str, side: PersonaPosition, notes: CardNotes) -> Voice:
    told = [escaped(side.reasoning)]
    if side.condition:
        told.append(f"**It depends:** {escaped(side.condition)}")
    if side.falsifier:
        told.append(f"**What would change this mind:** {escaped(side.falsifier)}")
    else:
        told.append("Named nothing that would change this position.")
    blocks: list[Block] = [Prose("\n\n".join(told))]
    places = notes.places.get(name, ())
    for place in places:
        blocks += _opened(state, name, place)
    known = {place.quote for place in places}
    blocks += [Plain(f"“{quote}”") for quote in side.grounding_quotes or () if quote not in known]
    remark = side.position + (f", by {', '.join(side.messages)}" if side.messages else "")
    return Voice(name, tuple(blocks), state.accent(name), remark)


def _opened(state: DebateState, name: str, place: Place) -> tuple[Block, Block]:
    """A quotation, and the place where it was written, folded away."""
    item = state.text(name, place.item)
    by = ", ".join(part for part in (place.title or place.item, place.date, place.url) if part)
    quote = Quote(" ".join(place.quote.split()), by)
    if item is None or item.text[place.start : place.end] != place.quote:
        return quote, Note("The text is not in this run's log.", "warning")
    start, end = 0, len(item.text)
    if end > _WHOLE_TEXT:
        start, end = max(place.start - _AROUND, 0), min(place.end + _AROUND, end)
    mark = Mark(place.start - start, place.end - start)
    by += "" if end - start == len(item.text) else ", in part"
    summary = f"Where it stands: characters {place.start} to {place.end} of the text"
    return quote, Details(summary, (Marked(item.text[start:end], (mark,), by),))


def _sources(state: DebateState, sources: tuple[SentenceSource, ...]) -> Table:
    rows: list[tuple[str, ...]] = []
    for source in sources:
        beliefs = [_belief(state, source.persona, key) for key in source.beliefs]
        places = [f"{place.title or place.item}, {place.date}: “{place.quote}”" for place in source.places]
        part = f"{source.part}, {source.persona}" if source.persona else source.part
        rows.append((part, source.sentence, ", ".join(source.messages), "\n".join([*beliefs, *places])))
    columns = (Column("Part"), Column("Sentence"), Column("Said in"), Column("Belief and place"))
    return Table(columns, tuple(rows))


def _belief(state: DebateState, persona: str, key: str) -> str:
    names = [persona] if persona else list(state.beliefs)
    found = next((belief for name in names if (belief := state.beliefs.get(name, {}).get(key))), None)
    return f"{key}: {found.concept} (confidence {found.confidence:.2f})." if found else f"{key}."


def _unfinished(state: DebateState) -> Note:
    run = state.run
    run_id = run.started.run_id if run.started else "ID"
    if run.state == "running":
        return Note(f"The log ends before the debate does; to go on: assay runs resume {run_id}", "warning")
    because = f": {run.message.rstrip('.')}" if run.message else ""
    tone = "bad" if run.state == "failed" else "warning"
    return Note(
        f"The debate {run.state}{because}. This is what there was; to go on: assay runs resume {run_id}", tone
    )


def _why_none(state: DebateState) -> str:
    if any(candidate.clashes for candidate in state.result.candidates):
        return "the clashes came to no room, or no room to a card."
    return "no two on the panel were found to oppose each other on a specific claim."
