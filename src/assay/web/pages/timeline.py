"""A run's calls over time and as a tree, and each call's request and reply as they were sent."""

from __future__ import annotations

import itertools
from dataclasses import replace

from markupsafe import Markup

from assay.registry import hooks_for, known
from assay.report.story import Figure
from assay.report.svg.timeline import Span, timeline
from assay.report.tally import Call, Sums
from assay.report.units import count_noun, duration
from assay.web.calls import CallLog, PhaseNode
from assay.web.live_runs import LiveRun
from assay.web.pages.run import PageParts, RunPageState, head_parts
from assay.web.templating import render
from llm_runtime.answerer import named_words

_ACCENTS = 6
_PICTURED, _PICTURED_LIVE = 600, 120
"""Calls that the picture shows, of a run that is over and of one that goes on; a screen has no room for more."""
_MOST_LIVE = 12
"""Calls of a seat that are listed while the run goes on: its whole list is sent again whenever one is added."""


def timeline_parts(watch: LiveRun, page_state: RunPageState) -> PageParts:
    """Return the calls: a picture, then phase by phase."""
    phases = {f"p-{index}": phase for index, phase in enumerate(watch.calls.tree(), 1)}
    headings = {name: _words(phase.phase).capitalize() for name, phase in phases.items()}
    pieces = {"overview": _overview(watch)}
    pieces |= {name: _phase(watch, name, headings[name], phase) for name, phase in phases.items()}
    contents = [("overview", "Over time"), *headings.items()]
    head = head_parts(watch, watch.story(), page_state, "timeline", contents)
    return PageParts({**head, **pieces}, tuple(pieces))


def _overview(watch: LiveRun) -> Markup:
    nothing, live = "No model was asked yet.", watch.state == "running"
    run = known(watch.started.protocol)
    if run is not None and hooks_for(run.name).own_models:
        nothing = f"A {run.noun}'s calls are made by its own process: the story follows an attempt, turn by turn."
    return render(
        "timeline.html",
        picture=_picture(watch.calls, _colours(watch), _PICTURED_LIVE if live else _PICTURED, live=live),
        total=_settled(watch, watch.calls.tally.total),
        nothing=nothing,
    )


def _colours(watch: LiveRun) -> dict[str, str]:
    """Return the colour that a seat has in the story, by its name."""
    return {seat.name.lower(): seat.accent for seat in watch.fold.progress().seats}


def _picture(log: CallLog, known_colours: dict[str, str], most: int, *, live: bool) -> Figure | None:
    calls = list(log.tally.calls.values())
    if not calls:
        return None
    recent = calls[-most:]
    rows = list(dict.fromkeys(_row(call) for call in recent))
    others = (f"c{index % _ACCENTS}" for index in itertools.count(len(known_colours)))
    accents = {row: known_colours.get(row.lower()) or next(others) for row in rows}
    summary = f"{count_noun(len(calls), 'call')} in {duration(log.since_start(log.last))}"
    if len(recent) < len(calls):
        summary += f"; the picture shows the last {len(recent)}"
    words = [f"{row}: {count_noun(sum(_row(call) == row for call in recent), 'call')}" for row in rows]
    svg = timeline(rows, [_span(log, call, accents, live=live) for call in recent], [], "Calls over time", summary)
    return Figure(svg, f"{summary}.", "; ".join(words) + ".")


def _span(log: CallLog, call: Call, accents: dict[str, str], *, live: bool) -> Span:
    until = call.ended if call.ended is not None else log.last
    begin, end = log.since_start(call.started), log.since_start(until)
    unanswered = ("failed", "cut") if live else ("failed", "cut", "running")
    tip = f"{_row(call)}, {call.label.phase}: {duration(max(end - begin, 0))}"
    return Span(_row(call), begin, max(end, begin), accents[_row(call)], tip, faded=call.state in unanswered)


def _row(call: Call) -> str:
    return _words(call.label.seat.partition(":")[2] or call.label.seat or call.label.phase)


def _words(name: str) -> str:
    return named_words(name).replace("_", " ").replace(":", " · ")


def _phase(watch: LiveRun, name: str, heading: str, phase: PhaseNode) -> Markup:
    return render(
        "phase.html",
        name=name,
        heading=heading,
        most=_MOST_LIVE if watch.state == "running" else 0,
        live=watch.state == "running",
        run_id=watch.run_id,
        log=watch.calls,
        phase=phase,
        sums=_settled(watch, phase.sums),
        seats=[(seat, _settled(watch, seat.sums)) for seat in phase.seats.values()],
        seat_names=_seat_names(list(phase.seats)),
    )


def _settled(watch: LiveRun, sums: Sums) -> Sums:
    """Return sums without calls in flight where nobody carries the run out: the log of a killed one has no end."""
    return sums if watch.state == "running" else replace(sums, running=0)


def _seat_names(seats: list[str]) -> dict[str, str]:
    """Return what to call seats: by their role, and by their number too where two have the same one."""
    roles = [seat.partition(":")[2] or seat for seat in seats]
    return {seat: _words(role if roles.count(role) == 1 else seat) for seat, role in zip(seats, roles, strict=True)}
