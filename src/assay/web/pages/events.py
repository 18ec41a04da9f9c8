"""A run's log, event by event: what was said, when, and the words of each as they are kept."""

from __future__ import annotations

import json

from assay.report.markup import Element, element
from assay.report.units import clock
from assay.web.pages.frame import page
from assay.web.pages.run import Parts, Standing, head_parts, section
from assay.web.watch import Line, Watch

PAGE = 250
"""Events on one page."""


def events_parts(watch: Watch, standing: Standing) -> Parts:
    """The newest events; older ones stand on pages of their own."""
    return listed(watch, standing, max(watch.seq - PAGE, 0), newest=True)


def listed(watch: Watch, standing: Standing, after: int, *, newest: bool = False) -> Parts:
    """The events behind number ``after``, at most :data:`PAGE` of them."""
    lines = watch.lines[after : after + PAGE]
    story = watch.fold.story()
    rows = [_row(watch, line) for line in lines]
    body = element("ol", rows, class_="log", id="log")
    heading = "Events" if newest and after == 0 else f"Events {after + 1} to {after + len(lines)} of {watch.seq}"
    piece = section("events", heading, _paging(watch, after), body)
    return Parts(
        {**head_parts(watch, story, standing, "events", [("events", heading)]), "events": piece}, ("events",)
    )


def event_fragment(run_id: str, seq: int, payload: object, *, forks: bool = True) -> Element:
    """An event opened: its payload as the log keeps it, indented."""
    return element(
        "div",
        element("pre", json.dumps(payload, indent=1, ensure_ascii=False), class_="raw", dir="auto", tabindex="0"),
        element("p", element("a", f"Fork at event {seq}", href=f"/runs/{run_id}/fork?at={seq}"), class_="links")
        if forks
        else None,
        class_="texts",
    )


def event_page(run_id: str, title: str, seq: int, fragment: Element) -> str:
    """The same as a page of its own."""
    return page(
        f"Event {seq}",
        element(
            "main",
            element("p", element("a", title, href=f"/runs/{run_id}/events", dir="auto"), class_="back"),
            element("h1", f"Event {seq}"),
            fragment,
            id="content",
            class_="sheet wider",
        ),
        here="Runs",
    )


def _row(watch: Watch, line: Line) -> Element:
    href = f"/runs/{watch.run_id}/events/{line.seq}"
    return element(
        "li",
        element(
            "details",
            element(
                "summary",
                element("span", str(line.seq), class_="seq"),
                element("span", clock(watch.calls.since_start(line.at)), class_="began"),
                element("span", line.type, class_="type", dir="auto"),
                element("span", line.step or line.about, class_="says" if line.step else "says soft", dir="auto"),
                class_="line",
            ),
            element("div", element("a", "Open the event", href=href), class_="body", data_keep=""),
            class_="call",
            data_src=href,
            id=f"event-{line.seq}",
        ),
    )


def _paging(watch: Watch, after: int) -> Element | None:
    if watch.seq <= PAGE:
        return None
    base = f"/runs/{watch.run_id}/events"
    links: list[Element] = []
    if after > 0:
        links.append(element("a", "Earlier", href=f"{base}?after={max(after - PAGE, 0)}"))
    if after + PAGE < watch.seq:
        links.append(element("a", "Later", href=f"{base}?after={after + PAGE}"))
    return element("p", links, class_="links")
