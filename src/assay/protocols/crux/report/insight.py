"""The map of one debate or of several: who clashes over what, and the fault lines that come back (CX27)."""

from __future__ import annotations

from collections.abc import Sequence

from assay.protocols.crux.report.pictures import alignment_picture, graph_picture
from assay.report.story import Block, Fact, Note, Section, Story, Table, columns
from assay.report.units import count_noun, in_words
from crux.insight.alignment import alignment_map
from crux.insight.crux_graph import Ties, crux_graph
from crux.measurement.recurrence import recurrence
from crux.measurement.share import Share
from crux.results import CruxCard, DebateResult

_COUNTED = ("Agree", "Oppose", "Differ")


def map_story(results: Sequence[DebateResult], ties: Ties | None = None) -> Story:
    """Return the map as a report of its own; without them only questions in the same words are one."""
    cards = [card for result in results for card in result.cards]
    names = list(dict.fromkeys(name for result in results for name in result.personas))
    accents = [f"c{place % 6}" for place in range(len(names))]
    topics = list(dict.fromkeys(result.topic for result in results))
    graph = graph_picture(results, names, accents, ties)
    aligned = alignment_blocks(cards, names, accents) or [Note("No crux card: there is nothing to map.")]
    sections = (
        Section("Alignment map", tuple(aligned)),
        Section("Crux graph", (graph,)) if graph else None,
        _lines(results, ties),
    )
    return Story(
        title=topics[0][:400]
        if len(topics) == 1
        else f"{count_noun(len(results), 'debate')}, {len(topics)} topics",
        subtitle=f"Crux · {in_words(names)}",
        facts=(
            Fact("Debates", str(len(results))),
            Fact("Cards", str(len(cards))),
            Fact("Resolved", str(sum(card.resolved for card in cards))),
        ),
        sections=tuple(section for section in sections if section),
    )


def alignment_blocks(cards: Sequence[CruxCard], names: Sequence[str], accents: Sequence[str]) -> list[Block]:
    """Return who answers which crux how, and whether over facts, values or words; nothing without a card."""
    figure = alignment_picture(cards, names, accents)
    if figure is None:
        return []
    heads = columns("Pair", "Mostly over", numbers=_COUNTED)
    rows = tuple(
        (
            " and ".join(name for name in names if name in (pair.first, pair.second)),
            pair.mostly or "–",
            *map(str, (pair.agree, pair.oppose, pair.differ)),
        )
        for pair in alignment_map(cards).pairs
    )
    return [figure, Table(heads, rows)]


def _interval(share: Share) -> str:
    return "" if share.low is None else f" (95% interval {share.low:.0%} to {share.high:.0%})"


def _lines(results: Sequence[DebateResult], ties: Ties | None) -> Section | None:
    lines = crux_graph(results, ties).fault_lines
    if not lines:
        return None
    heads = columns("Question", "Over", numbers=("Debates", "Cards", "Resolved"))
    rows = tuple(
        (line.question, line.coarse, str(len(line.debates)), str(len(line.cards)), str(line.resolved))
        for line in lines
    )
    again = sum(line.recurring for line in lines)
    share = recurrence([result.cards for result in results], ties or {})
    summary = (
        f"{count_noun(again, 'crux', 'cruxes')} came back in more than one debate. From one debate to another, "
        f"{share.hits} of {share.of} cards ask what a card of the other asks{_interval(share)}."
        if again
        else ("No crux came back: of one debate none can." if len(results) == 1 else "No crux came back.")
    )
    blocks: list[Block] = [Note(summary), Table(heads, rows)]
    if ties is None and len(lines) > 1:
        blocks.insert(1, Note("Only questions in the same words are joined: --judged asks a model for the others."))
    return Section("Fault lines", tuple(blocks))
