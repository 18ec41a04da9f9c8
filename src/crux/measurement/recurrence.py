"""How often independent debates on one topic come to the same cruxes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from crux.insight.crux_graph import Ties, worded
from crux.measurement.share import Share, share
from crux.results import CruxCard


def recurrence(runs: Sequence[Sequence[CruxCard]], ties: Ties) -> Share:
    """Count how often independent debates on one topic come to the same cruxes.

    Over all ordered pairs of different runs: cards of the one that have a card in the other which asks the same, in
    the same words or as judged (:func:`crux.insight.crux_graph.ties_of`), over all cards.
    """

    def same(one: CruxCard, other: CruxCard) -> bool:
        pair = frozenset((worded(one.question), worded(other.question)))
        return len(pair) == 1 or ties.get(pair) == "same"

    pairs = permutations(runs, 2)
    return share(any(same(card, other) for other in second) for first, second in pairs for card in first)
