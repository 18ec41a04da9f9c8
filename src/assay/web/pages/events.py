"""A run's log, event by event: type, time, and the payload as the log keeps it."""

from __future__ import annotations

from assay.web.live_runs import LiveRun
from assay.web.pages.run import PageParts, RunPageState, head_parts
from assay.web.templating import render

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
        run_id=watch.run_id,
        heading=heading,
        lines=lines,
        log=watch.calls,
        earlier=max(after - PAGE, 0) if after > 0 and watch.seq > PAGE else None,
        later=after + PAGE if after + PAGE < watch.seq else None,
    )
    head = head_parts(watch, watch.story(), page_state, "events", [("events", heading)])
    return PageParts({**head, "events": piece}, ("events",))
