"""The map of one debate or of several: who clashes over what, and the fault lines that come back (CX27)."""

from __future__ import annotations

from collections.abc import Sequence

from assay.protocols.crux.report.pictures import alignment_picture, graph_picture
from assay.report.story import Block, Column, Fact, Note, Section, Story, Table
from assay.report.units import in_words, several
from crux.insight import alignment_map, crux_graph
from crux.results import DebateResult


def map_story(results: Sequence[DebateResult]) -> Story:
    """The map, as a report of its own."""
    cards = [card for result in results for card in result.cards]
    names = list(dict.fromkeys(name for result in results for name in result.personas))
    accents = [f"c{place % 6}" for place in range(len(names))]
    topics = list(dict.fromkeys(result.topic for result in results))
    sections = [_map(results, names, accents), _lines(results)]
    graph = graph_picture(results, names, accents)
    if graph is not None:
        sections.insert(1, Section("Crux graph", (graph,)))
    return Story(
        title=topics[0][:400] if len(topics) == 1 else f"{several(len(results), 'debate')}, {len(topics)} topics",
        subtitle=f"Crux · {in_words(names)}",
        facts=(
            Fact("Debates", str(len(results))),
            Fact("Cards", str(len(cards))),
            Fact("Resolved", str(sum(card.resolved for card in cards))),
        ),
        sections=tuple(section for section in sections if section),
    )


def _map(results: Sequence[DebateResult], names: list[str], accents: list[str]) -> Section:
    cards = [card for result in results for card in result.cards]
    figure = alignment_picture(cards, names, accents)
    if figure is None:
        return Section("Alignment map", (Note("No crux card: there is nothing to map."),))
    columns = (
        Column("Pair"),
        Column("Mostly over"),
        Column("Agree", "number"),
        Column("Oppose", "number"),
        Column("Differ", "number"),
    )
    rows = tuple(
        (f"{p.first} and {p.second}", p.mostly or "–", str(p.agree), str(p.oppose), str(p.differ))
        for p in alignment_map(cards).pairs
    )
    return Section("Alignment map", (figure, Table(columns, rows)))


def _lines(results: Sequence[DebateResult]) -> Section | None:
    lines = crux_graph(results).fault_lines
    if not lines:
        return None
    columns = (
        Column("Question"),
        Column("Over"),
        Column("Debates", "number"),
        Column("Cards", "number"),
        Column("Resolved", "number"),
    )
    rows = tuple(
        (line.question, line.coarse, str(len(line.debates)), str(len(line.cards)), str(line.resolved))
        for line in lines
    )
    again = sum(line.recurring for line in lines)
    told = (
        f"{several(again, 'crux', 'cruxes')} came back in more than one debate."
        if again
        else ("No crux came back: of one debate none can." if len(results) == 1 else "No crux came back.")
    )
    blocks: list[Block] = [Note(told), Table(columns, rows)]
    return Section("Fault lines", tuple(blocks))
