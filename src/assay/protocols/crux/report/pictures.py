"""A debate's pictures: the alignment map, the timeline of positions, the crux graph."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from assay.protocols.crux.report.state import DebateState
from assay.report.story import Figure
from assay.report.svg.links import QuestionBox, Tie, link_chart
from assay.report.svg.stances import Sign, StanceRow, answer_matrix, stance_lanes
from crux.insight.crux_graph import CruxGraph, Ties, crux_graph
from crux.insight.timeline import shift_timeline
from crux.results import CruxCard, DebateResult

_SIGNS = "A full disc is YES, a ring NO, half a disc NUANCED: it depends."


def alignment_picture(cards: Sequence[CruxCard], personas: Sequence[str], accents: Sequence[str]) -> Figure | None:
    """Draw who answers which crux how."""
    if not cards:
        return None
    rows: list[StanceRow] = []
    for card in cards:
        answers = tuple(card.personas[name].position if name in card.personas else "–" for name in personas)
        rows.append(StanceRow(card.question, answers, card.disagreement_type, "resolved" if card.resolved else "open"))
    words = " ".join(
        f"{row.question} {row.remark}, {row.aside}: "
        + ", ".join(f"{name} {answer}" for name, answer in zip(personas, row.answers, strict=True) if answer != "–")
        + "."
        for row in rows
    )
    return Figure(answer_matrix(personas, rows, "Who answers which crux how", words, accents), _SIGNS, words)


def timeline_picture(state: DebateState) -> Figure | None:
    """Draw every tracked stance, in the order in which it was spoken."""
    result = state.result
    lanes = list(state.debate.personas)
    points = [point for point in shift_timeline(result) if point.stance.persona in lanes]
    if not points:
        return None
    numbers = {aspect.id: f"round {number}" for number, aspect in enumerate(result.aspects, start=1)}
    spoken = {message.id: numbers.get(message.aspect) or message.phase for message in result.messages}
    names = [point.room or spoken.get(point.stance.message, point.where) for point in points]
    signs: list[Sign] = []
    moves: list[str] = []
    for step, (point, name) in enumerate(zip(points, names, strict=True)):
        one, moved = point.stance, ""
        if point.entry:
            moved = "earned" if point.entry.earned else "unearned"
            moves.append(f"{one.persona} moved at {one.message}, {moved.replace('un', 'not ')}.")
        tip = f"{one.message}, {name}: {one.stance}. {one.position}"
        signs.append(Sign(lanes.index(one.persona), step, one.stance, tip, moved))
    told = ", ".join(f"{p.stance.message} {p.stance.persona} {p.stance.stance}" for p in points)
    words = f"{len(points)} stances of {', '.join(lanes)}: {told}. {' '.join(moves) or 'Nobody moved.'}"
    groups = [(name, len(list(run))) for name, run in groupby(names)]
    accents = [state.accent(name) for name in lanes]
    drawn = stance_lanes(lanes, signs, groups, "Stances in the order of speaking", words, accents)
    caption = (
        f"Each stance answers the question at hand: the topic, the round's, the room's. {_SIGNS} "
        "A small triangle: a position that changed for a named reason; a red diamond: one that changed without."
    )
    return Figure(drawn, caption, words)


def graph_picture(
    results: Sequence[DebateResult], personas: Sequence[str], accents: Sequence[str], ties: Ties | None = None
) -> Figure | None:
    """Draw cruxes, who answers them, and which of them ask the same."""
    cards = [card for result in results for card in result.cards]
    if not cards:
        return None
    graph = crux_graph(results, ties)
    order = {card.id: place for place, card in enumerate(cards)}
    questions: list[QuestionBox] = []
    for card in cards:
        kind = f"{card.disagreement_type}, {'resolved' if card.resolved else 'open'}"
        answers = tuple((name, side.position) for name, side in card.personas.items())
        questions.append(QuestionBox(card.question, kind, answers))
    drawn_ties = [Tie(order[link.first], order[link.second], link.kind == "negation") for link in graph.links]
    words = _graph_words(cards, graph)
    caption = f"{_SIGNS} Dashed brackets join cruxes that ask the same; red ones, a question and its denial."
    drawn = link_chart(personas, questions, drawn_ties, "Cruxes and who answers them", words, accents)
    return Figure(drawn, caption if drawn_ties else _SIGNS, words)


def _graph_words(cards: Sequence[CruxCard], graph: CruxGraph) -> str:
    sentences = [
        f"{card.question} " + ", ".join(f"{name}: {side.position}" for name, side in card.personas.items()) + "."
        for card in cards
    ]
    sentences += [f"{link.first} and {link.second}: {link.kind}." for link in graph.links]
    return " ".join(sentences)
