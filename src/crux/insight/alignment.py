"""The alignment map: which pairs clash on which cards, and whether over facts, values or words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Literal, TypeAlias, get_args

from crux.results import CamelModel, CoarseType, CruxCard, DisagreementType
from crux.words import WORDS

Relation: TypeAlias = Literal["agree", "oppose", "differ"]

COARSE: dict[DisagreementType, CoarseType] = WORDS["coarse"]
"""The six types of a card by the three that speakers use (CX5)."""


class PairTally(CamelModel):
    """A pair over all cards: ``oppose`` is YES against NO, ``differ`` any other two answers.

    ``mostly`` is the coarse type of most of its clashes, None without any.
    """

    first: str
    second: str
    agree: int
    oppose: int
    differ: int
    mostly: CoarseType | None = None


def alignment_map(cards: Sequence[CruxCard]) -> tuple[PairTally, ...]:
    """Return the disagreement matrix of a debate's cards, or of several debates': one entry for each pair that met."""
    personas = dict.fromkeys(name for card in cards for name in card.personas)
    tallies = (_tally(first, second, cards) for first, second in combinations(personas, 2))
    return tuple(tally for tally in tallies if tally is not None)


def _relation(first: str, second: str) -> Relation:
    return "agree" if first == second else "oppose" if {first, second} == {"YES", "NO"} else "differ"


def _tally(first: str, second: str, cards: Sequence[CruxCard]) -> PairTally | None:
    met = [card for card in cards if {first, second} <= card.personas.keys()]
    if not met:
        return None
    relations = [_relation(card.personas[first].position, card.personas[second].position) for card in met]
    clashes = (card for card, relation in zip(met, relations, strict=True) if relation != "agree")
    counts = {relation: relations.count(relation) for relation in get_args(Relation)}
    mostly = most_common(COARSE[card.disagreement_type] for card in clashes)
    return PairTally(first=first, second=second, mostly=mostly, **counts)


def most_common(types: Iterable[CoarseType]) -> CoarseType | None:
    """Return the type that comes most often, the first of several; None of none."""
    return next((kind for kind, _ in Counter(types).most_common(1)), None)
