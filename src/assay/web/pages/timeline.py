"""A run's calls over time and as a tree, and each call's request and reply as they were sent."""

from __future__ import annotations

from typing import Any, cast

from assay.report.markup import Element, Trusted, element
from assay.report.story import Figure
from assay.report.svg import Span, timeline
from assay.report.tally import Call, Sums
from assay.report.units import clock, count, duration, money, several
from assay.web.calls import CallLog, PhaseNode, Place, SeatNode
from assay.web.pages.frame import page, ticking
from assay.web.pages.run import Parts, Standing, block_markup, head_parts, section
from assay.web.watch import Watch

_ACCENTS = 6
_PICTURED = 600
"""Calls that the picture shows; of more, a screen has no room for each."""


def timeline_parts(watch: Watch, standing: Standing) -> Parts:
    """The calls: a picture, then phase by phase."""
    story = watch.fold.story()
    phases = watch.calls.tree()
    named = {f"p-{index}": phase for index, phase in enumerate(phases, 1)}
    pieces = {"overview": section("overview", "Over time", *_overview(watch))}
    pieces |= {name: section(name, _phase_name(phase), _phase(watch, phase)) for name, phase in named.items()}
    contents = [("overview", "Over time"), *((name, _phase_name(phase)) for name, phase in named.items())]
    return Parts({**head_parts(watch, story, standing, "timeline", contents), **pieces}, tuple(pieces))


def call_fragment(
    run_id: str, call: Call, place: Place, request: dict[str, Any], outcome: dict[str, Any], *, forks: bool = True
) -> Element:
    """A call opened: what was sent and what came back, as plain text.

    Args:
        run_id: the run.
        call: what the tally knows of it.
        place: its events.
        request: as recorded in ``call.started``.
        outcome: the payload of ``call.finished`` or ``call.failed``; empty while there is none.
        forks: whether the run can be forked.
    """
    sent = [_said(str(message.get("role", "")), str(message.get("content", ""))) for message in _messages(request)]
    options = {key: value for key, value in request.items() if key not in ("messages", "label", "schema")}
    schema = _said("schema that the answer must fit", str(request["schema"])) if request.get("schema") else None
    return element(
        "div",
        element(
            "p",
            " · ".join(f"{key} {value}" for key, value in options.items()),
            class_="options",
        ),
        sent,
        schema,
        _outcome(outcome),
        element(
            "p",
            _forks(run_id, place) if forks else None,
            element("a", "As JSON", href=f"/runs/{run_id}/calls/{place.started}.json"),
            class_="links",
        ),
        class_="texts",
    )


def call_page(run_id: str, title: str, call: Call, fragment: Element) -> str:
    """The same as a page of its own, for who comes without a script."""
    return page(
        str(call.label),
        element(
            "main",
            element("p", element("a", title, href=f"/runs/{run_id}/timeline", dir="auto"), class_="back"),
            element("h1", str(call.label), class_="long"),
            fragment,
            id="content",
            class_="sheet wider",
        ),
        here="Runs",
    )


def _nothing(watch: Watch) -> str:
    """Why there are no calls to show."""
    if watch.started.protocol == "trial":
        return "A trial's calls are made by its own process: the story follows an attempt, turn by turn."
    return "No model was asked yet."


def _overview(watch: Watch) -> list[Trusted | Element]:
    log = watch.calls
    calls = list(log.tally.calls.values())
    if not calls:
        return [element("p", _nothing(watch), class_="empty")]
    shown = calls[-_PICTURED:]
    rows = list(dict.fromkeys(_row(call) for call in shown))
    accents = {row: f"c{index % _ACCENTS}" for index, row in enumerate(rows)}
    spans = [_span(log, call, accents) for call in shown]
    said = f"{several(len(calls), 'call')} in {duration(log.since_start(log.last))}"
    if len(shown) < len(calls):
        said += f"; the picture shows the last {len(shown)}"
    words = [f"{row}: {several(sum(_row(call) == row for call in shown), 'call')}" for row in rows]
    svg = timeline(rows, spans, [], "Calls over time", said)
    return [Trusted(block_markup(Figure(svg, f"{said}.", "; ".join(words) + "."))), _sums_line(log.tally.total)]


def _span(log: CallLog, call: Call, accents: dict[str, str]) -> Span:
    until = call.ended if call.ended is not None else log.last
    begin, end = log.since_start(call.started), log.since_start(until)
    tip = f"{_row(call)}, {call.label.phase}: {duration(max(end - begin, 0))}"
    accent = "red" if call.label.seat.endswith("red_team") else accents[_row(call)]
    return Span(_row(call), begin, max(end, begin), accent, tip, faded=call.state in ("failed", "cut"))


def _row(call: Call) -> str:
    return _words(call.label.seat.partition(":")[2] or call.label.seat or call.label.phase)


def _words(name: str) -> str:
    return name.replace("_", " ").replace(":", " · ")


def _phase_name(phase: PhaseNode) -> str:
    return _words(phase.phase).capitalize()


def _phase(watch: Watch, phase: PhaseNode) -> Element:
    names = _seat_names(list(phase.seats))
    return element(
        "div",
        _sums_line(phase.sums),
        [_seat(watch, phase.phase, seat, names[seat.seat]) for seat in phase.seats.values()],
        class_="tree",
    )


def _seat_names(seats: list[str]) -> dict[str, str]:
    """What to call seats: by their role, and by their number too where two have the same one."""
    roles = [seat.partition(":")[2] or seat for seat in seats]
    return {seat: _words(role if roles.count(role) == 1 else seat) for seat, role in zip(seats, roles, strict=True)}


def _seat(watch: Watch, phase: str, seat: SeatNode, name: str) -> Element:
    rows = [_call(watch, call, place) for call, place in seat.calls]
    if not seat.seat:
        return element("div", rows, class_="branch")
    return element(
        "details",
        element("summary", element("span", name, class_="name", dir="auto"), _sums_line(seat.sums)),
        element("div", rows, class_="inner"),
        class_="branch",
        open="",
        id=f"seat-{phase}-{seat.seat}",
    )


def _call(watch: Watch, call: Call, place: Place) -> Element:
    label = call.label
    name = f"round {label.round}" if label.round else "call"
    if label.attempt > 1:
        name += f", attempt {label.attempt}"
    href = f"/runs/{watch.run_id}/calls/{place.started}"
    began = clock(watch.calls.since_start(call.started))
    return element(
        "details",
        element(
            "summary",
            element("span", began, class_="began"),
            element("span", name, class_="name"),
            element("span", call.used or call.asked, class_="model", dir="auto"),
            _state(call),
            _figures(call),
            class_="line",
        ),
        element("div", element("a", "Open the call", href=href), class_="body", data_keep=""),
        class_=f"call {call.state}",
        data_src=href,
        id=f"call-{place.started}",
    )


def _state(call: Call) -> Element | None:
    if call.state == "running":
        return element("span", "in flight ", ticking(call.started), class_="tag busy")
    if call.state == "failed":
        return element("span", call.error or "failed", class_="tag bad")
    if call.state == "cut":
        return element("span", "no answer", class_="tag bad")
    return element("span", "replayed", class_="tag") if call.replayed else None


def _figures(call: Call) -> Element:
    if not call.used:
        return element("span", class_="sums")
    cost = "?" if call.cost is None else money(call.cost)
    said = f"{count(call.input_tokens)} → {count(call.output_tokens)} tokens · {duration(call.milliseconds)} · "
    return element("span", said, element("b", cost), class_="sums")


def _sums_line(sums: Sums) -> Element:
    both = sums.both
    said = [
        several(both.calls + sums.failed, "call"),
        f"{count(both.input_tokens)} → {count(both.output_tokens)} tokens",
        duration(both.milliseconds),
    ]
    if sums.running:
        said.insert(1, f"{sums.running} in flight")
    if sums.failed:
        said.insert(1, f"{sums.failed} failed")
    cost = money(sums.live.cost) + ("+" if both.unpriced else "")
    if sums.replayed.calls:
        cost += f" (recorded {money(sums.replayed.cost)})"
    return element("span", " · ".join(said), " · ", element("b", cost), class_="sums")


def _outcome(outcome: dict[str, Any]) -> Element:
    if not outcome:
        return element("p", "No answer yet.", class_="note")
    if "reply" in outcome:
        reply = cast("dict[str, Any]", outcome["reply"])
        return _said(f"reply · {reply.get('model', '')}", str(reply.get("text", "")), "reply")
    return element(
        "p", f"{outcome.get('error', 'failed')}: {outcome.get('message', '')}", class_="note bad", dir="auto"
    )


def _said(who: str, text: str, class_: str = "") -> Element:
    return element(
        "div",
        element("h4", who, dir="auto"),
        element("p", text, class_="plain", dir="auto"),
        class_=f"said {class_}",
    )


def _messages(request: dict[str, Any]) -> list[dict[str, Any]]:
    found = request.get("messages")
    return cast("list[dict[str, Any]]", found) if isinstance(found, list) else []


def _forks(run_id: str, place: Place) -> list[Element]:
    """Where a fork may leave the run: before the call, and after it."""
    ways = [(f"Fork before this call (event {place.started - 1})", place.started - 1)]
    if place.ended:
        ways.append((f"Fork after it (event {place.ended})", place.ended))
    return [element("a", words, href=f"/runs/{run_id}/fork?at={at}") for words, at in ways]
