"""From opening to closing: who shifted, by which claim, in which room (CX11)."""

from __future__ import annotations

from crux.results import DialogueMessage, PositionShift
from crux.retrieval.grounding import Grounding
from crux.transcript import TOPIC, SeatedTranscript


def position_shifts(transcript: SeatedTranscript, groundings: dict[str, Grounding]) -> tuple[PositionShift, ...]:
    """Return one entry for each persona that both opened and closed.

    A shift is another label on the topic. The distance between the texts stands beside it as drift, and decides
    nothing: a claim is nearer to its negation than to its paraphrase.
    """
    shifts: list[PositionShift] = []
    for persona in transcript.panel.personas:
        opening, closing = (_spoken(transcript, persona.name, phase) for phase in ("opening", "closing"))
        first, last = (
            next((s for s in transcript.stances if message and s.message == message.id), None)
            for message in (opening, closing)
        )
        if opening is None or closing is None or first is None or last is None:
            continue
        entry = next((e for e in transcript.ledger if e.message == closing.id), None)
        shift = PositionShift(
            persona=persona.name,
            before=first.stance,
            after=last.stance,
            shifted=first.stance != last.stance,
            opening=opening.id,
            closing=closing.id,
            because=last.because if entry else "",
            claim_ref=last.claim_ref if entry else "",
            earned=entry.earned if entry else None,
            rooms=rooms_that_moved(transcript, persona.name),
            drift=round(1 - groundings[persona.name].likeness(opening.text, closing.text), 3),
        )
        shifts.append(shift)
    return tuple(shifts)


def rooms_that_moved(transcript: SeatedTranscript, persona: str) -> tuple[str, ...]:
    """Return the rooms whose messages a persona named as the cause of an earned change, wherever it was made."""
    room_of = {message.id: message.room_id for message in transcript.room_messages}
    named = [e.claim_ref for e in transcript.ledger if e.persona == persona and e.earned and e.question == TOPIC]
    inside = [e.message for e in transcript.ledger if e.persona == persona and e.earned]
    return tuple(dict.fromkeys(room_of[key] for key in (*inside, *named) if key in room_of))


def _spoken(transcript: SeatedTranscript, persona: str, phase: str) -> DialogueMessage | None:
    return next((m for m in transcript.messages if m.persona == persona and m.phase == phase), None)
