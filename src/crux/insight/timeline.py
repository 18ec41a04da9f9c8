"""The position-shift timeline: every tracked stance in order, with what moved it (CX11)."""

from __future__ import annotations

from crux.results import CamelModel, DebateResult, Stance


class StancePoint(CamelModel):
    """One persona's stance at one message.

    Args:
        step: place of the message in the debate, 0-based.
        where: ``"opening"``, an aspect's label, a room's question, ``"closing"``.
        moved: the label is another than the persona's last on the same question, or the persona says it changed.
        earned: whether the ledger holds the move to be earned; None where nothing moved.
        claim_ref: the message, evidence or condition that was named as the cause.
    """

    step: int
    message: str
    persona: str
    question: str
    where: str
    stance: Stance
    position: str
    moved: bool
    earned: bool | None = None
    claim_ref: str = ""
    room: str = ""


def shift_timeline(result: DebateResult) -> tuple[StancePoint, ...]:
    """Return the timeline of a debate, finished or not."""
    order = {stance.message: place for place, stance in enumerate(result.stances)}
    labels = {aspect.id: aspect.label for aspect in result.aspects}
    phases = {message.id: message.phase for message in result.messages}
    rooms = {message.id: message.room_id for message in result.room_messages}
    entries = {(entry.message, entry.question): entry for entry in result.ledger}
    points: list[StancePoint] = []
    for stance in result.stances:
        entry = entries.get((stance.message, stance.question))
        room = rooms.get(stance.message, "")
        points.append(
            StancePoint(
                step=order[stance.message],
                message=stance.message,
                persona=stance.persona,
                question=stance.question,
                where=room or labels.get(stance.question) or phases.get(stance.message, stance.question),
                stance=stance.stance,
                position=stance.position,
                moved=entry is not None,
                earned=entry.earned if entry else None,
                claim_ref=entry.claim_ref if entry else "",
                room=room,
            )
        )
    return tuple(points)
