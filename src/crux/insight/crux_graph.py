"""Cruxes of several debates as a graph, and the fault lines that keep coming back (CX27).

Whether two cards ask the same, or one asks the denial of the other, is for the judge to say; words in common decide
nothing. Without a verdict only questions in the same words are one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Literal, TypeAlias

from crux.claims.judge import Pair, Verdict
from crux.insight.alignment import COARSE, most_common
from crux.quotes import folded
from crux.results import CamelModel, CoarseType, CruxCard, DebateResult
from crux.retrieval.lexical import Lexical
from llm_runtime.grouping import grouped

Tie: TypeAlias = Literal["same", "negation"]
Ties: TypeAlias = Mapping[frozenset[str], Tie]
"""By two questions in the words of :func:`worded`: how they are tied; those that are not are left out."""
#: Up to so many questions, each is judged with every other; of more, with its nearest in words.
_EACH, _NEAR = 24, 8


class CruxLink(CamelModel):
    """Two cards that ask the same, or the opposite."""

    first: str
    second: str
    kind: Tie


class FaultLine(CamelModel):
    """A crux that comes back.

    Args:
        question: of its first card.
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


class CruxGraph(CamelModel):
    """Links between cards, and fault lines, those of most debates first."""

    links: tuple[CruxLink, ...]
    fault_lines: tuple[FaultLine, ...]


def question_pairs(debates: Sequence[DebateResult]) -> list[Pair]:
    """Return which questions of several debates a judge should compare, in both orders."""
    first: dict[str, str] = {}
    for debate in debates:
        for card in debate.cards:
            first.setdefault(worded(card.question), card.question)
    asked = list(first.values())
    pairs = list(combinations(asked, 2))
    if len(asked) > _EACH:
        index = Lexical.of(asked)
        near = {(one, asked[at]) for one in asked for at, _ in index.nearest(one, _NEAR + 1)}
        pairs = [(one, other) for one, other in pairs if (one, other) in near or (other, one) in near]
    return [Pair(*pair) for pair in pairs]


def ties_of(pairs: Sequence[Pair], verdicts: Sequence[Verdict]) -> Ties:
    """Return which questions ask the same, or one another's denial, by the verdicts on their pairs."""
    ties: dict[str, Tie] = {"same": "same", "contradicts": "negation"}
    judged = ((pair, verdict.kind) for pair, verdict in zip(pairs, verdicts, strict=True))
    return {frozenset((worded(pair.premise), worded(pair.claim))): ties[kind] for pair, kind in judged if kind in ties}


def crux_graph(debates: Sequence[DebateResult], ties: Ties | None = None) -> CruxGraph:
    """Return the graph of all cards of the given debates.

    Args:
        ties: what :func:`ties_of` found; without any, only questions in the same words are tied.
    """
    cards = [(debate.debate_id, card) for debate in debates for card in debate.cards]
    links = _links([card for _, card in cards], ties or {})
    groups = _groups([card.id for _, card in cards], links)
    lines = [_line([(debate, card) for debate, card in cards if card.id in group], links) for group in groups]
    widest_first = sorted(lines, key=lambda line: (-len(line.debates), -len(line.cards)))
    return CruxGraph(links=links, fault_lines=tuple(widest_first))


def worded(question: str) -> str:
    """Return a question in the form in which ties know it: straight marks, single spaces, no capitals."""
    return folded(question).casefold()


def _links(cards: Sequence[CruxCard], ties: Ties) -> tuple[CruxLink, ...]:
    links: list[CruxLink] = []
    for first, second in combinations(cards, 2):
        pair = frozenset((worded(first.question), worded(second.question)))
        tie = "same" if len(pair) == 1 else ties.get(pair)
        if tie is not None:
            links.append(CruxLink(first=first.id, second=second.id, kind=tie))
    return tuple(links)


def _groups(cards: Sequence[str], links: Sequence[CruxLink]) -> list[list[str]]:
    """Return cards joined by what says the same; two groups never join across a negation."""
    group = {card: {card} for card in cards}
    apart = {frozenset((link.first, link.second)) for link in links if link.kind == "negation"}
    for link in links:
        left, right = group[link.first], group[link.second]
        if link.kind != "same" or left is right or any(frozenset((a, b)) in apart for a in left for b in right):
            continue
        left |= right
        for card in right:
            group[card] = left
    return list(grouped((id(group[card]), card) for card in cards).values())


def _line(own: Sequence[tuple[str, CruxCard]], links: Sequence[CruxLink]) -> FaultLine:
    """Return the line of some cards, each after the debate that it came up in."""
    cards, debates = [card for _, card in own], tuple(dict.fromkeys(debate for debate, _ in own))
    members = [card.id for card in cards]
    beyond = [{link.first, link.second} - {*members} for link in links if link.kind == "negation"]
    return FaultLine(
        question=cards[0].question,
        cards=tuple(members),
        debates=debates,
        personas=tuple(dict.fromkeys(name for card in cards for name in card.personas)),
        recurring=len(debates) > 1,
        coarse=most_common(COARSE[card.disagreement_type] for card in cards) or "factual",
        resolved=sum(card.resolved for card in cards),
        negated_by=tuple(dict.fromkeys([one for others in beyond if len(others) == 1 for one in others])),
    )
