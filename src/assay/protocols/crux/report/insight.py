"""The map of one debate or of several: who clashes over what, and the fault lines that come back (CX27)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial

from assay.protocols.crux.report.pictures import alignment_picture, graph_picture
from assay.report.columns import columns
from assay.report.outline import Own, Writing, read_outline
from assay.report.story import Block, Story, Table
from assay.report.units import count_noun
from crux.insight.alignment import alignment_map
from crux.insight.crux_graph import Ties, crux_graph
from crux.measurement.recurrence import recurrence
from crux.measurement.share import Share
from crux.results import CruxCard, DebateResult

_COUNTED = ("Agree", "Oppose", "Differ")
_outline = cache(partial(read_outline, __package__ or "", "map.toml"))


def map_story(results: Sequence[DebateResult], ties: Ties | None = None) -> Story:
    """Return the map as a report of its own; without them only questions in the same words are one."""
    cards = [card for result in results for card in result.cards]
    names = list(dict.fromkeys(name for result in results for name in result.personas))
    accents = [f"c{place % 6}" for place in range(len(names))]
    topics = list(dict.fromkeys(result.topic for result in results))
    several = f"{count_noun(len(results), 'debate')}, {len(topics)} topics"
    lines = crux_graph(results, ties).fault_lines
    scope = {
        "title": topics[0][:400] if len(topics) == 1 else several,
        "names": names,
        "results": results,
        "cards": cards,
        "resolved": sum(card.resolved for card in cards),
        "lines": lines,
        "back": _back(results, sum(line.recurring for line in lines), ties or {}),
        "apart": ties is None and len(lines) > 1,
    }
    own: Own = {
        "alignment": lambda _: alignment_blocks(cards, names, accents),
        "graph": lambda _: filter(None, [graph_picture(results, names, accents, ties)]),
    }
    return _outline().story(Writing(scope, {}, own))


def alignment_blocks(cards: Sequence[CruxCard], names: Sequence[str], accents: Sequence[str]) -> list[Block]:
    """Return who answers which crux how, and whether over facts, values or words; nothing without a card."""
    figure = alignment_picture(cards, names, accents)
    if figure is None:
        return []
    rows = tuple(
        (
            " and ".join(name for name in names if name in (pair.first, pair.second)),
            pair.mostly or "–",
            *map(str, (pair.agree, pair.oppose, pair.differ)),
        )
        for pair in alignment_map(cards)
    )
    return [figure, Table(columns("Pair", "Mostly over", numbers=_COUNTED), rows)]


def _interval(share: Share) -> str:
    return "" if share.low is None else f" (95% interval {share.low:.0%} to {share.high:.0%})"


def _back(results: Sequence[DebateResult], again: int, ties: Ties) -> str:
    """Say how many cruxes came back, and how often a card does."""
    if not again:
        return "No crux came back: of one debate none can." if len(results) == 1 else "No crux came back."
    share = recurrence([result.cards for result in results], ties)
    return (
        f"{count_noun(again, 'crux', 'cruxes')} came back in more than one debate. From one debate to another, "
        f"{share.hits} of {share.of} cards ask what a card of the other asks{_interval(share)}."
    )
