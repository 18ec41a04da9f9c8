"""Crux cards as blocks: question, type, both sides with their quotations, and what every sentence rests on."""

from __future__ import annotations

from collections.abc import Iterable

from assay.protocols.crux.report.state import DebateState
from assay.report.clean import escaped
from assay.report.frame import ending, ending_notes
from assay.report.story import Block, Details, Mark, Marked, Note, Plain, Prose, Quote, Voice
from assay.report.units import count_noun, in_words
from crux.results import RESOLVABLE, CardNotes, CruxCard, CruxMessage, PersonaPosition, Place, SentenceSource
from llm_runtime.toml import own_table

_WORDS: dict[str, dict[str, str]] = own_table(__package__ or "", "words.toml")
_SEEN, _KINDS = _WORDS["seen"], _WORDS["kinds"]
_NO_TEXT = "No sentence that the model wrote for this side is borne by a text of theirs."
_WHOLE_TEXT = 12_000
"""Characters up to which a quotation's whole text is at hand; of a longer one, what stands around it."""
_AROUND = 1_500


def card_blocks(state: DebateState) -> list[Block]:
    """Return what a reader came for."""
    result = state.result
    notes = {note.card_id: note for note in result.notes}
    blocks: list[Block] = []
    if result.state != "finished":
        blocks += ending_notes(state.run, f"{ending(state.run, 'The debate')} This is what there is.")
    if not result.cards:
        blocks.append(Note("No crux card: " + _why_none(state)))
    for number, card in enumerate(result.cards, start=1):
        blocks += _card(state, number, card, notes.get(card.id, CardNotes(card_id=card.id)))
    return [*blocks, *(Plain(f"Found in the texts alone: {question}") for question in result.texts_alone)]


def room_blocks(state: DebateState, messages: Iterable[CruxMessage]) -> tuple[Block, ...]:
    """Return a room's turns, one by one."""
    blocks: list[Block] = []
    for turn in messages:
        if not turn.persona:
            blocks.append(Note(f"Evidence ({turn.id}): {turn.text}"))
            continue
        remark = f"{turn.id}, {turn.phase}, turn {turn.turn}" + (f", {turn.stance}" if turn.stance else "")
        said = (Prose(escaped(turn.text)), *(Note(f"Flagged: {flag}.", "warning") for flag in turn.flags))
        blocks.append(Voice(turn.persona, said, state.accent(turn.persona), remark))
    return tuple(blocks)


def _card(state: DebateState, number: int, card: CruxCard, notes: CardNotes) -> list[Block]:
    ending = "Resolved." if card.resolved else "Open."
    settle = RESOLVABLE.get(card.disagreement_type, "")
    verdict = f"{card.disagreement_type.capitalize()}. Can it be resolved? {settle.capitalize()}. {ending}"
    if card.resolution:
        verdict += f" {card.resolution}"
    blocks: list[Block] = [
        Prose(f"# {number}. {escaped(card.question)}", lead=True),
        Note(verdict, "good" if card.resolved else "info"),
        Plain(notes.spoken),
        *([Plain(_SEEN[notes.seen_in])] if notes.seen_in else []),
        Prose("\n\n".join([escaped(card.diagnosis), *([_KINDS[notes.kind]] if notes.kind in _KINDS else [])])),
    ]
    blocks += [_side(state, name, side, notes) for name, side in card.personas.items()]
    blocks += [Note(f"{flag[:1].upper()}{flag[1:]}.", "warning") for flag in notes.flags]
    if notes.dropped_quotes:
        many = count_noun(notes.dropped_quotes, "quotation")
        why = "stood nowhere in the person's own words, or did not speak for the answer"
        blocks.append(Note(f"{many} {why}, and were dropped.", "warning"))
    if left := _struck(card, notes):
        said = tuple(Prose(f"~~{escaped(one.persona)}: {escaped(one.sentence)}~~") for one in left)
        blocks.append(Details("Left out: what the model said for them and no text of theirs bears", said))
    if notes.sources:
        blocks.append(Details("What each sentence rests on", tuple(_sources(state, notes.sources))))
    room = [turn for turn in state.result.room_messages if turn.room_id == card.crux_room_id]
    if room:
        blocks.append(Details(f"The room it comes from, in {count_noun(len(room), 'turn')}", room_blocks(state, room)))
    return blocks


def _struck(card: CruxCard, notes: CardNotes) -> list[SentenceSource]:
    """Return the sentences that the model wrote for a side and that its card leaves out."""
    sides = {name: f"{side.reasoning} {side.falsifier} {side.condition}" for name, side in card.personas.items()}
    own = [one for one in notes.sources if one.persona] if notes.texts else []
    return [one for one in own if one.sentence not in sides[one.persona]]


def _side(state: DebateState, name: str, side: PersonaPosition, notes: CardNotes) -> Voice:
    parts = [escaped(side.reasoning or _NO_TEXT)]
    if side.condition:
        parts.append(f"**It depends:** {escaped(side.condition)}")
    if side.falsifier:
        parts.append(f"**What would change this mind:** {escaped(side.falsifier)}")
    else:
        parts.append("Named nothing that would change this position.")
    blocks: list[Block] = [Prose("\n\n".join(parts))]
    places = notes.places.get(name, ())
    for place in places:
        blocks += _opened(state, name, place)
    known = {place.quote for place in places}
    blocks += [Plain(f"“{quote}”") for quote in side.grounding_quotes or () if quote not in known]
    remark = side.position + (f", said in {in_words(list(side.messages))}" if side.messages else "")
    return Voice(name, tuple(blocks), state.accent(name), remark)


def _opened(state: DebateState, name: str, place: Place) -> tuple[Block, Block]:
    """Return a quotation, and the place where it was written, folded away."""
    item = state.text(name, place.item)
    by = _written(place)
    quote = Quote(" ".join(place.quote.split()), by)
    if item is None or item.text[place.start : place.end] != place.quote:
        return quote, Note("The text is not in this run's log.", "warning")
    summary = f"Where it stands: characters {place.start} to {place.end} of the text"
    paragraph = _paragraph(item.text, place)
    shown = [_marked(item.text, place, paragraph, by)]
    around = (0, len(item.text))
    if around[1] > _WHOLE_TEXT:
        around = max(place.start - _AROUND, 0), min(place.end + _AROUND, around[1])
    if around != paragraph:
        more = "The whole text" if around == (0, len(item.text)) else "More of the text"
        return quote, Details(summary, (*shown, Details(more, (_marked(item.text, place, around, by),))))
    return quote, Details(summary, tuple(shown))


def _paragraph(text: str, place: Place) -> tuple[int, int]:
    """Return the span of the paragraph that holds a quotation, within :data:`_AROUND` characters of it."""
    before, after = text.rfind("\n\n", 0, place.start), text.find("\n\n", place.end)
    start, end = before + 2 if before >= 0 else 0, after if after >= 0 else len(text)
    return max(start, place.start - _AROUND), min(end, place.end + _AROUND)


def _marked(text: str, place: Place, span: tuple[int, int], by: str) -> Marked:
    start, end = span
    return Marked(text[start:end], (Mark(place.start - start, place.end - start),), by)


def _sources(state: DebateState, sources: tuple[SentenceSource, ...]) -> list[Voice]:
    """Return each sentence with the messages it was said in, and the beliefs and places behind it."""
    spoken = {message.id: message for message in (*state.result.messages, *state.result.room_messages)}
    voices: list[Voice] = []
    for source in sources:
        blocks: list[Block] = [Prose(escaped(source.sentence))]
        heard = [(key, spoken[key]) for key in source.messages if key in spoken]
        blocks += [Details(f"Said in {key}, by {one.persona}", (Prose(escaped(one.text)),)) for key, one in heard]
        blocks += _behind(state, source)
        if not source.messages and not source.places and not source.beliefs:
            blocks.append(Note("No source: nothing that was said or written bears it.", "warning"))
        accent = state.accent(source.persona) if source.persona else "quiet"
        voices.append(Voice(source.part.capitalize(), tuple(blocks), accent, source.persona))
    return voices


def _behind(state: DebateState, source: SentenceSource) -> list[Block]:
    """Return the beliefs behind a sentence, each with its place where every one has one."""
    beliefs = [f"Belief: {_belief(state, source.persona, key)}" for key in source.beliefs]
    quotes = [" ".join(place.quote.split()) for place in source.places]
    by = [_written(place) for place in source.places]
    if len(beliefs) == len(quotes):
        pairs = zip(quotes, beliefs, by, strict=True)
        return [Quote(quote, f"{belief}. {written}") for quote, belief, written in pairs]
    return [*map(Plain, beliefs), *(Quote(quote, written) for quote, written in zip(quotes, by, strict=True))]


def _written(place: Place) -> str:
    return ", ".join(part for part in (place.title or place.item, place.date, place.url) if part)


def _belief(state: DebateState, persona: str, key: str) -> str:
    names = [persona] if persona else list(state.beliefs)
    belief = next((one for name in names if (one := state.beliefs.get(name, {}).get(key))), None)
    return f"{belief.concept} (confidence {belief.confidence:.2f})" if belief else key


def _why_none(state: DebateState) -> str:
    if any(candidate.clashes for candidate in state.result.candidates):
        return "the clashes came to no room, or no room to a card."
    return "no two on the panel were found to oppose each other on a specific claim."
