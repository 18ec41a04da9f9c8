"""What became of each card of a debate when it was held again with one more piece of evidence (CX26)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from crux.insight.crux_graph import likeness, same_question
from crux.results import CruxCard, Wire


class CardChange(Wire):
    """What became of one card.

    Args:
        change: ``same`` question, answers and outcome; ``moved`` answers or outcome; else ``new`` or ``gone``.
        labels: by persona, the answer before and after.
    """

    change: Literal["same", "moved", "new", "gone"]
    before: str = ""
    after: str = ""
    question: str
    labels: dict[str, tuple[str, str]] = {}
    resolved: tuple[bool, bool] | None = None


def compare_cards(before: Sequence[CruxCard], after: Sequence[CruxCard]) -> tuple[CardChange, ...]:
    """Match each card with its counterpart: the same room's if it asks the same, else the most alike that does."""
    left = list(after)
    changes: list[CardChange] = []
    for old in before:
        alike = [card for card in left if same_question(old.question, card.question)]
        new = max(
            alike,
            key=lambda card: (card.crux_room_id == old.crux_room_id, likeness(old.question, card.question)),
            default=None,
        )
        if new is None:
            changes.append(CardChange(change="gone", before=old.id, question=old.question))
            continue
        left.remove(new)
        changes.append(_change(old, new))
    changes += [CardChange(change="new", after=card.id, question=card.question) for card in left]
    return tuple(changes)


def _change(old: CruxCard, new: CruxCard) -> CardChange:
    labels = {
        name: (old.personas[name].position, new.personas[name].position)
        for name in old.personas
        if name in new.personas
    }
    moved = any(first != second for first, second in labels.values()) or old.resolved != new.resolved
    return CardChange(
        change="moved" if moved else "same",
        before=old.id,
        after=new.id,
        question=new.question,
        labels=labels,
        resolved=(old.resolved, new.resolved),
    )
