"""A council's pictures: what was objected to whom, and what of it is open; who spoke when."""

from __future__ import annotations

from assay.protocols.crucible.report.state import CouncilState, NamedSeat, title
from assay.report.story import Figure
from assay.report.svg.bars import Bar, bar_chart
from assay.report.svg.canvas import twice
from assay.report.svg.timeline import Band, Span, timeline
from assay.report.tally import Call
from assay.report.units import count_noun, duration
from crucible.ledger import Ledger


def objections_picture(state: CouncilState) -> Figure | None:
    """Draw how many objections each seat met, and how many of them are open."""
    ledger = state.ledger or Ledger()
    open_, bars = {one.id for one in ledger.still_open}, list[Bar]()
    for seat in state.deliberating:
        aimed = [one.id in open_ for one in ledger.objections if seat.key in one.targets]
        many, left = len(aimed), sum(aimed)
        bars += [Bar(seat.name, many, f"{many - left} met, {left} open", "c1", left)] if aimed else []
    words = "; ".join(f"{bar.name}: {bar.written}" for bar in bars)
    drawn = twice(lambda width: bar_chart(bars, "Objections by seat", words, width))
    return Figure(drawn, "Objections by the seat that they strike: met, and open.", words) if bars else None


def calls_picture(state: CouncilState) -> Figure | None:
    """Draw the timeline of the calls, a row for each seat and for each phase without one."""
    calls = list(state.run.tally.calls.values())
    if not calls:
        return None
    began = min(call.started for call in calls)
    until = max(state.run.last or began, *(call.ended or call.started for call in calls))
    names = {seat.key: seat for seat in state.seats}
    spans = [_span(call, names, began, until) for call in calls]
    bands = _bands(calls, began, until)
    rows = _rows(state, spans)
    title = "Who spoke when"
    parts = [f"{row}: {count_noun(sum(span.row == row for span in spans), 'call')}" for row in rows]
    description = f"{count_noun(len(calls), 'call')} in {duration(until - began)}. {'; '.join(parts)}."
    caption = "Each bar is one call, from request to answer; bars above one another ran at the same time."
    return Figure(timeline(rows, spans, bands, title, description), caption, description)


def _span(call: Call, seats: dict[str, NamedSeat], began: int, until: int) -> Span:
    seat = seats.get(call.label.seat)
    row = seat.name if seat else call.label.seat or title(call.label.phase)
    end = until if call.ended is None else call.ended
    loop = f", loop {call.label.round}" if call.label.round else ""
    ending = {"failed": f", failed: {call.error}", "cut": ", never answered"}.get(call.state, "")
    tip = f"{row}: {call.label.phase.replace('_', ' ')}{loop}, {duration(end - call.started)}{ending}"
    lost = call.state in ("failed", "cut")
    return Span(row, call.started - began, end - began, seat.accent if seat else "quiet", tip, faded=lost)


def _bands(calls: list[Call], began: int, until: int) -> list[Band]:
    bounds: dict[int, tuple[int, int]] = {}
    for call in calls:
        if call.label.round:
            end = until if call.ended is None else call.ended
            low, high = bounds.get(call.label.round, (call.started, end))
            bounds[call.label.round] = min(low, call.started), max(high, end)
    return [Band(f"loop {number}", low - began, high - began) for number, (low, high) in sorted(bounds.items())]


def _rows(state: CouncilState, spans: list[Span]) -> list[str]:
    """Seats in council order, with the phases without a seat before or after them, as they first came."""
    present = list(dict.fromkeys(span.row for span in spans))
    seated = [seat.name for seat in state.seats if seat.name in present]
    began = present.index(seated[0]) if seated else len(present)
    first, later = ([row for row in part if row not in seated] for part in (present[:began], present[began:]))
    return [*first, *seated, *later]
