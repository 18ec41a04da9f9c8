"""Cruxes of several debates as a graph, and the fault lines that keep coming back (CX27).

Likeness of wording proposes that two cards ask the same; a negation or an antonym between them keeps them apart, as
the two sides of one question, never as one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from crux.insight.alignment import COARSE, most_common
from crux.polarity import content_words, opposed
from crux.results import CoarseType, CruxCard, DebateResult, DisagreementType, Wire

Alike: TypeAlias = Callable[[str, str], float]

#: Share of content words that two questions have in common (Dice), from which on they are taken to ask the same.
SAME = 0.5
#: Likeness from which a question with an odd negation counts as the denial of the other, and not just as another.
DENIED = 0.75


class CruxPoint(Wire):
    """One card of one debate."""

    card: str
    debate: str
    question: str
    type: DisagreementType
    personas: tuple[str, ...]
    resolved: bool


class CruxLink(Wire):
    """Two cards that ask the same, or the opposite. ``likeness`` is 0 to 1, :func:`likeness` of the questions."""

    first: str
    second: str
    kind: Literal["same", "negation"]
    likeness: float


class FaultLine(Wire):
    """A crux that comes back.

    Args:
        question: of the card that is most like all the others.
        debates: the distinct debates it came up in.
        recurring: more than one debate.
        coarse: the coarse type of most of its cards.
        resolved: how many of its cards were resolved.
        negated_by: ids of cards that ask the opposite; they belong to other lines.
    """

    question: str
    cards: tuple[str, ...]
    debates: tuple[str, ...]
    personas: tuple[str, ...]
    recurring: bool
    coarse: CoarseType
    resolved: int
    negated_by: tuple[str, ...] = ()


class CruxGraph(Wire):
    """Cards, links, and fault lines, those of most debates first."""

    points: tuple[CruxPoint, ...]
    links: tuple[CruxLink, ...]
    fault_lines: tuple[FaultLine, ...]


def crux_graph(debates: Sequence[DebateResult], alike: Alike | None = None) -> CruxGraph:
    """Return the graph of all cards of the given debates.

    Args:
        alike: the likeness of two questions, 0 to 1, in place of :func:`likeness`: an embedding's, say. Whatever it
            says, opposites stay apart.
    """
    alike = alike or likeness
    cards = [(debate.debate_id, card) for debate in debates for card in debate.cards]
    points = tuple(
        CruxPoint(
            card=card.id,
            debate=debate,
            question=card.question,
            type=card.disagreement_type,
            personas=tuple(card.personas),
            resolved=card.resolved,
        )
        for debate, card in cards
    )
    links = _links(points, alike)
    lines = [_line(members, points, links, [card for _, card in cards]) for members in _groups(points, links)]
    return CruxGraph(
        points=points,
        links=links,
        fault_lines=tuple(sorted(lines, key=lambda line: (-len(line.debates), -len(line.cards)))),
    )


def likeness(first: str, second: str) -> float:
    """Return 2 |A ∩ B| / (|A| + |B|) over the stemmed content words of two questions (Dice 1945); 0 to 1.

    It says nothing about polarity: a question and its negation are as alike as can be. See :func:`same_question`.
    """
    left, right = content_words(first), content_words(second)
    return 2 * len(left & right) / (len(left) + len(right)) if left and right else 0.0


def same_question(first: str, second: str) -> bool:
    """Tell whether two questions ask the same: alike enough, and not opposed."""
    return likeness(first, second) >= SAME and not opposed(first, second)


def _links(points: Sequence[CruxPoint], alike: Alike) -> tuple[CruxLink, ...]:
    links: list[CruxLink] = []
    for place, first in enumerate(points):
        for second in points[place + 1 :]:
            near = alike(first.question, second.question)
            turned = opposed(first.question, second.question)
            if near >= (DENIED if turned else SAME):
                kind: Literal["same", "negation"] = "negation" if turned else "same"
                links.append(CruxLink(first=first.card, second=second.card, kind=kind, likeness=round(near, 3)))
    return tuple(links)


def _groups(points: Sequence[CruxPoint], links: Sequence[CruxLink]) -> list[list[str]]:
    """Return cards joined by likeness, strongest first; two groups never join across a negation."""
    group = {point.card: {point.card} for point in points}
    apart = {frozenset((link.first, link.second)) for link in links if link.kind == "negation"}
    for link in sorted(links, key=lambda link: -link.likeness):
        left, right = group[link.first], group[link.second]
        if link.kind != "same" or left is right or any(frozenset((a, b)) in apart for a in left for b in right):
            continue
        left |= right
        for card in right:
            group[card] = left
    seen: dict[int, list[str]] = {}
    for point in points:
        seen.setdefault(id(group[point.card]), []).append(point.card)
    return list(seen.values())


def _line(
    members: Sequence[str], points: Sequence[CruxPoint], links: Sequence[CruxLink], cards: Sequence[CruxCard]
) -> FaultLine:
    own = [point for point in points if point.card in members]
    central = max(own, key=lambda point: sum(likeness(point.question, other.question) for other in own))
    coarse: list[CoarseType] = [COARSE[card.disagreement_type] for card in cards if card.id in members]
    debates = tuple(dict.fromkeys(point.debate for point in own))
    negations = [
        second if first in members else first
        for first, second in ((link.first, link.second) for link in links if link.kind == "negation")
        if (first in members) != (second in members)
    ]
    return FaultLine(
        question=central.question,
        cards=tuple(members),
        debates=debates,
        personas=tuple(dict.fromkeys(name for point in own for name in point.personas)),
        recurring=len(debates) > 1,
        coarse=most_common(coarse) or "factual",
        resolved=sum(point.resolved for point in own),
        negated_by=tuple(dict.fromkeys(negations)),
    )
