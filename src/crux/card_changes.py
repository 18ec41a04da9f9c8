"""What became of each card of a debate when it was held again with one more piece of evidence (CX26)."""

from __future__ import annotations

from typing import Literal

from crux.results import CamelModel, CruxCard, DebateResult


class CardChange(CamelModel):
    """What became of one card.

    Args:
        change: ``same`` answers and outcome; ``moved`` answers or outcome; else ``new`` or ``gone``.
        labels: by persona, the answer before and after.
    """

    change: Literal["same", "moved", "new", "gone"]
    before: str = ""
    after: str = ""
    question: str
    labels: dict[str, tuple[str, str]] = {}
    resolved: tuple[bool, bool] | None = None


def compare_cards(before: DebateResult, after: DebateResult) -> tuple[CardChange, ...]:
    """Match each card with that of the same room: one of the same two, that opened on the same claim."""
    counterparts = _by_room(after)
    changes: list[CardChange] = []
    for room, old in _by_room(before).items():
        new = counterparts.pop(room, None)
        if new is None:
            changes.append(CardChange(change="gone", before=old.id, question=old.question))
        else:
            changes.append(_change(old, new))
    changes += [CardChange(change="new", after=card.id, question=card.question) for card in counterparts.values()]
    return tuple(changes)


def _by_room(result: DebateResult) -> dict[tuple[str, ...], CruxCard]:
    claims = [one.claim for one in result.candidates if one.queued]
    opened = {f"room-{number}": claim for number, claim in enumerate(claims, start=1)}
    return {
        (card.crux_room_id, opened.get(card.crux_room_id, ""), *sorted(card.personas)): card for card in result.cards
    }


def _change(old: CruxCard, new: CruxCard) -> CardChange:
    both = ((name, side, new.personas.get(name)) for name, side in old.personas.items())
    labels = {name: (before.position, after.position) for name, before, after in both if after}
    resolved = (old.resolved, new.resolved)
    moved = any(first != second for first, second in (*labels.values(), resolved))
    became, told = "moved" if moved else "same", {"before": old.id, "after": new.id, "question": new.question}
    return CardChange(change=became, labels=labels, resolved=resolved, **told)
