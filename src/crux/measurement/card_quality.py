"""Card quality: falsifiers, citations, recurrence."""

from __future__ import annotations

from collections.abc import Sequence

from crux.insight.crux_graph import Ties, worded
from crux.measurement.share import Share, share
from crux.results import CamelModel, CruxCard


class CardQuality(CamelModel):
    """The third table.

    Args:
        falsifiers: sides that have a falsifier at all.
        cited: positions that cite at least one message of their own speaker.
    """

    falsifiers: Share
    cited: Share


def card_quality(cards: Sequence[CruxCard]) -> CardQuality:
    """Return the third table, but for what needs people (:mod:`crux.measurement.blind`) or other debates."""
    sides = [side for card in cards for side in card.personas.values()]
    return CardQuality(
        falsifiers=share(bool(side.falsifier) for side in sides),
        cited=share(bool(side.messages) for side in sides),
    )


def recurrence(runs: Sequence[Sequence[CruxCard]], ties: Ties) -> Share:
    """Count how often independent debates on one topic come to the same cruxes.

    Over all ordered pairs of different runs: cards of the one that have a card in the other which asks the same, in
    the same words or as judged (:func:`crux.insight.crux_graph.ties_of`), over all cards.
    """

    def same(one: CruxCard, other: CruxCard) -> bool:
        pair = frozenset((worded(one.question), worded(other.question)))
        return len(pair) == 1 or ties.get(pair) == "same"

    return share(
        any(same(card, other) for other in second)
        for place, first in enumerate(runs)
        for against, second in enumerate(runs)
        if place != against
        for card in first
    )
