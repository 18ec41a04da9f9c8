"""The position-shift timeline: every tracked stance in order, with what moved it (CX11)."""

from __future__ import annotations

from crux.results import DebateResult, LedgerEntry, TrackedStance
from llm_runtime.structs import Struct


class StancePoint(Struct):
    """One persona's stance at one message.

    Args:
        step: place of the message in the debate, 0-based.
        where: ``"opening"``, an aspect's label, a room, ``"closing"``.
        room: id of the room that it was taken in; empty outside.
        entry: what the ledger holds of it: the label is another than the persona's last on the same question, or the
            persona says it changed; None where nothing moved.
    """

    step: int
    stance: TrackedStance
    where: str
    room: str
    entry: LedgerEntry | None


def shift_timeline(result: DebateResult) -> tuple[StancePoint, ...]:
    """Return the timeline of a debate, finished or not."""
    order = {stance.message: place for place, stance in enumerate(result.stances)}
    labels = {aspect.id: aspect.label for aspect in result.aspects}
    phases = {message.id: message.phase for message in result.messages}
    rooms = {message.id: message.room_id for message in result.room_messages}
    entries = {(entry.message, entry.question): entry for entry in result.ledger}
    points: list[StancePoint] = []
    for stance in result.stances:
        room, entry = rooms.get(stance.message, ""), entries.get((stance.message, stance.question))
        where = room or labels.get(stance.question) or phases.get(stance.message, stance.question)
        points.append(StancePoint(order[stance.message], stance, where, room, entry))
    return tuple(points)
