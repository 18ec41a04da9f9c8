"""The alignment map: which pairs clash on which cards, and whether over facts, values or words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Literal, TypeAlias

from crux.results import CamelModel, CoarseType, CruxCard, DisagreementType
from crux.words import WORDS

Relation: TypeAlias = Literal["agree", "oppose", "differ"]

COARSE: dict[DisagreementType, CoarseType] = WORDS["coarse"]
"""The six types of a card by the three that speakers use (CX5)."""


class AlignmentCell(CamelModel):
    """How two personas relate on one card: ``oppose`` is YES against NO, ``differ`` any other two answers."""

    first: str
    second: str
    card: str
    relation: Relation
    type: DisagreementType
    coarse: CoarseType
    resolved: bool


class PairTally(CamelModel):
    """A pair over all cards; ``mostly`` is the coarse type of most of its clashes, None without any."""

    first: str
    second: str
    agree: int
    oppose: int
    differ: int
    mostly: CoarseType | None = None


class AlignmentMap(CamelModel):
    """A disagreement matrix.

    Args:
        personas: in the order of first appearance.
        cards: by card id, its question.
        cells: one for each card and each pair on it.
        pairs: the matrix: one entry for each pair that met.
    """

    personas: tuple[str, ...]
    cards: dict[str, str]
    cells: tuple[AlignmentCell, ...]
    pairs: tuple[PairTally, ...]


def alignment_map(cards: Sequence[CruxCard]) -> AlignmentMap:
    """Return the map of a debate's cards, or of several debates'."""
    personas = tuple(dict.fromkeys(name for card in cards for name in card.personas))
    cells = [
        AlignmentCell(
            first=first,
            second=second,
            card=card.id,
            relation=_relation(card.personas[first].position, card.personas[second].position),
            type=card.disagreement_type,
            coarse=COARSE[card.disagreement_type],
            resolved=card.resolved,
        )
        for card in cards
        for first, second in combinations([name for name in personas if name in card.personas], 2)
    ]
    return AlignmentMap(
        personas=personas,
        cards={card.id: card.question for card in cards},
        cells=tuple(cells),
        pairs=tuple(
            tally for first, second in combinations(personas, 2) if (tally := _tally(first, second, cells)) is not None
        ),
    )


def _relation(first: str, second: str) -> Relation:
    if first == second:
        return "agree"
    return "oppose" if {first, second} == {"YES", "NO"} else "differ"


def _tally(first: str, second: str, cells: Sequence[AlignmentCell]) -> PairTally | None:
    own = [cell for cell in cells if (cell.first, cell.second) == (first, second)]
    if not own:
        return None
    clashes: list[CoarseType] = [cell.coarse for cell in own if cell.relation != "agree"]
    return PairTally(
        first=first,
        second=second,
        agree=sum(cell.relation == "agree" for cell in own),
        oppose=sum(cell.relation == "oppose" for cell in own),
        differ=sum(cell.relation == "differ" for cell in own),
        mostly=most_common(clashes),
    )


def most_common(types: Sequence[CoarseType]) -> CoarseType | None:
    """Return the type that comes most often, the first of several; None of none."""
    counts: dict[CoarseType, int] = {}
    for kind in types:
        counts[kind] = counts.get(kind, 0) + 1
    return max(counts, key=lambda kind: counts[kind], default=None)
