"""A run's page: the head that all its views share, and story, events and calls as parts exchanged alone."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

from markupsafe import Markup

from assay.protocol import RunType
from assay.registry import hooks_for, known, protocol_of
from assay.report.story import Figure, Section, Story
from assay.report.svg.timeline import Span, timeline
from assay.report.tally import Call, Sums
from assay.report.units import count_noun, duration
from assay.web.asking import Ask, asking
from assay.web.calls import CallLog, PhaseNode
from assay.web.endpoints import run_links
from assay.web.live_runs import LiveRun
from assay.web.templating import render
from llm_runtime.answerer import named_words
from llm_runtime.structs import Struct

_SLUG = re.compile(r"[^a-z0-9]+")


class RunPageState(Struct):
    """What a run's page knows beside its log.

    Args:
        owned: whether this server carries the run out, and so can stop it.
        asks: what the run wants to know from a person.
        fault: why it ended, where its log does not say.
        acts: whether whoever looks may act on it.
        starts: whether they may begin another from it.
        shared: whether everybody on this server sees it; ``None`` where there is one person alone.
    """

    owned: bool = False
    asks: tuple[Ask, ...] = ()
    fault: str = ""
    acts: bool = True
    starts: bool = True
    shared: bool | None = None


class WaysOn(Struct):
    """How to go on from a run.

    Args:
        follow: the kind of run that takes up its result; empty where none does.
        field: of that kind, that takes a question.
        challenge: of that kind, that takes a sentence to attack; empty where none does.
        forks: whether it can be run again from any call.
        interjects: whether something can be said to it now.
        parent: the run that it came from, or empty.
    """

    follow: str
    field: str
    challenge: str
    forks: bool
    interjects: bool
    parent: str


class PageParts(Struct):
    """A view in exchangeable pieces: their markup by element id, and the order of those in the main column."""

    pieces: dict[str, Markup]
    order: tuple[str, ...]


def story_parts(watch: LiveRun, page_state: RunPageState) -> PageParts:
    """Return the story, section by section."""
    story = watch.story()
    named = _named(story.sections)
    sections = {name: render("section.html", name=name, section=section) for name, section in named.items()}
    contents = [(name, section.heading) for name, section in named.items()]
    return PageParts({**head_parts(watch, story, page_state, "story", contents), **sections}, tuple(sections))


def head_parts(
    watch: LiveRun, story: Story, page_state: RunPageState, view: str, contents: list[tuple[str, str]]
) -> dict[str, Markup]:
    """Return what stands above every view of a run: title, figures, actions, what happens now, open questions."""
    started = watch.started
    recorded, run = started.origin == "demo", known(started.protocol)
    hooks = hooks_for(started.protocol)
    # While it runs the panel above counts, and what comes and goes beside the text would move it.
    figures = () if watch.state == "running" else story.facts
    return {
        "masthead": render(
            "masthead.html",
            watch=watch,
            view=view,
            links=run_links(started.protocol, watch.run_id) if watch.state == "finished" else [],
            story=story,
            guide=protocol_of(run.name).how if run and recorded and view == "story" else None,
            page_state=page_state,
            going=_ways_on(watch, run, page_state),
            handout=hooks.file if page_state.acts and watch.state == "finished" else None,
        ),
        "now": render(
            "now.html",
            watch=watch,
            progress=watch.fold.progress() if view == "story" else None,
            contents=contents,
            seatless=hooks.seatless,
            calls=[(call, watch.head.waits.get(str(call.label))) for call in watch.head.tally.running.values()],
        ),
        "asks": asking(watch.run_id, page_state.asks),
        "contents": render("contents.html", contents=contents, figures=figures),
    }


def _ways_on(watch: LiveRun, run: RunType | None, page_state: RunPageState) -> WaysOn:
    """Return how somebody who looks at a run can go on from it."""
    started, hooks = watch.started, hooks_for(watch.started.protocol)
    forks = page_state.starts and hooks.replayable
    follows = page_state.starts and bool(hooks.follow) and watch.state == "finished"
    stands = watch.state in ("interrupted", "stopped", "failed") or page_state.owned
    return WaysOn(
        follow=run.name if run and follows else "",
        field=run.opening.field if run and run.opening else "",
        challenge=hooks.challenge if follows else "",
        forks=forks,
        interjects=forks and page_state.acts and stands and started.origin != "demo",
        parent=started.parent or str(started.task.get(hooks.follow) or ""),
    )


def run_page(watch: LiveRun, parts: PageParts, view: str, mark: str | None, beside: Markup | None = None) -> str:
    """Return the page of a view.

    Args:
        watch: the run.
        parts: what the page shows.
        view: which one it is.
        mark: of what it shows; its script keeps it up to date from there. ``None`` for a page that stays as it is.
        beside: what people wrote beside the run.
    """
    live = bool(mark) and is_live(watch)
    return render("run.html", watch=watch, parts=parts, beside=beside, view=view, mark=mark, live=live)


def is_live(watch: LiveRun) -> bool:
    """Tell whether more events may come: the run goes on, or may be resumed."""
    return watch.state == "running" or (watch.state != "finished" and watch.started.origin != "demo")


def _named(sections: tuple[Section, ...]) -> dict[str, Section]:
    """Return sections by a name that stays with them when others come in between."""
    named: dict[str, Section] = {}
    for each in sections:
        slug = _SLUG.sub("-", each.heading.lower()).strip("-")[:40] or "section"
        names = (f"s-{slug}" if count == 1 else f"s-{slug}-{count}" for count in itertools.count(1))
        named[next(name for name in names if name not in named)] = each
    return named


PAGE = 250
"""Events on one page."""


def events_parts(watch: LiveRun, page_state: RunPageState) -> PageParts:
    """Return the newest events; older ones stand on pages of their own."""
    return listed(watch, page_state, max(watch.seq - PAGE, 0), newest=True)


def listed(watch: LiveRun, page_state: RunPageState, after: int, *, newest: bool = False) -> PageParts:
    """Return the events behind number ``after``, at most :data:`PAGE` of them."""
    lines = watch.lines[after : after + PAGE]
    heading = "Events" if newest and after == 0 else f"Events {after + 1} to {after + len(lines)} of {watch.seq}"
    piece = render(
        "events.html",
        watch=watch,
        heading=heading,
        lines=lines,
        earlier=max(after - PAGE, 0) if after > 0 and watch.seq > PAGE else None,
        later=after + PAGE if after + PAGE < watch.seq else None,
    )
    head = head_parts(watch, watch.story(), page_state, "events", [("events", heading)])
    return PageParts({**head, "events": piece}, ("events",))


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
    head = head_parts(watch, watch.story(), page_state, "timeline", [("overview", "Over time"), *headings.items()])
    return PageParts({**head, **pieces}, tuple(pieces))


def _overview(watch: LiveRun) -> Markup:
    nothing, live = "No model was asked yet.", watch.state == "running"
    run = known(watch.started.protocol)
    if run is not None and hooks_for(run.name).own_models:
        nothing = f"A {run.noun}'s calls are made by its own process: the story follows an attempt, turn by turn."
    picture = _picture(watch.calls, _colours(watch), _PICTURED_LIVE if live else _PICTURED, live=live)
    return render("timeline.html", picture=picture, total=_settled(watch, watch.calls.tally.total), nothing=nothing)


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
    svg = timeline(rows, [_span(log, call, accents, live=live) for call in recent], "Calls over time", summary)
    return Figure(svg, f"{summary}.", "; ".join(words) + ".")


def _span(log: CallLog, call: Call, accents: dict[str, str], *, live: bool) -> Span:
    begin, end = map(log.since_start, (call.started, call.ended if call.ended is not None else log.last))
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
        watch=watch,
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
