"""What pages show, as JSON-compatible data: every page has both forms, from the same objects."""

from __future__ import annotations

from dataclasses import asdict, fields
from io import BytesIO
from typing import Any

from assay.report.columns import Column
from assay.report.markup import Element, render
from assay.report.story import (
    Details,
    Fact,
    Figure,
    Footnotes,
    Mark,
    Marked,
    Note,
    Pin,
    Plain,
    Prose,
    Quote,
    Section,
    Story,
    Table,
    Voice,
)
from assay.report.tally import Call, Sums
from assay.web.calls import CallEvents, PhaseNode, SeatNode
from assay.web.live_runs import LiveRun
from llm_runtime.store import RunStore, RunSummary
from llm_runtime.store.transfer import export_run

_OF_A_CALL = ("state", "replayed", "input_tokens", "output_tokens", "cost", "milliseconds", "retries", "error")
"""What data and the report call alike."""
_OF_A_STORY = ("title", "subtitle", "tone", "facts", "sections")


def summary_data(summary: RunSummary) -> dict[str, Any]:
    """Return a run's line in a list; ``cost_usd`` beside the micro-dollars of ``cost``."""
    return {**asdict(summary), "cost_usd": None if summary.cost_unknown else summary.cost / 1_000_000}


def log_of(store: RunStore, run_id: str) -> bytes:
    """Return a run's log as `assay runs import` takes it."""
    out = BytesIO()
    export_run(store, run_id, out)
    return out.getvalue()


def story_data(story: Story) -> dict[str, Any]:
    """Return a story; each block says under ``kind`` what it is."""
    return {name: _plain(getattr(story, name)) for name in _OF_A_STORY}


def _plain(part: Any) -> Any:
    """Return a part of a story by the names of its fields; of a column its head, of a picture its markup."""
    match part:
        case Element():
            return render(part)
        case Column():
            return part.head
        case [*several]:
            return list(map(_plain, several))
        case Prose() | Plain() | Marked() | Quote() | Table() | Figure() | Note() | Footnotes() | Details() | Voice():
            named = {"kind": type(part).__name__.lower()}
        case Section() | Fact() | Mark() | Pin():
            named = dict[str, Any]()
        case _:
            return part
    return named | {field.name: _plain(getattr(part, field.name)) for field in fields(part)}


def tree_data(phases: list[PhaseNode]) -> list[dict[str, Any]]:
    """Return the calls of a run by phase and seat."""
    return [
        {"phase": one.phase, **sums_data(one.sums), "seats": list(map(_seat_data, one.seats.values()))}
        for one in phases
    ]


def _seat_data(seat: SeatNode) -> dict[str, object]:
    entries = [call_data(call, place) for call, place in seat.calls]
    return {"seat": seat.seat, **sums_data(seat.sums), "entries": entries}


def sums_data(sums: Sums) -> dict[str, Any]:
    """Return sums over calls: spent ones under ``cost`` (micro-dollars), replayed ones apart."""
    both = sums.both
    own = {name: getattr(sums, name) for name in ("running", "failed", "unknown")}
    own |= {name: getattr(both, name) for name in ("input_tokens", "output_tokens", "milliseconds", "unpriced")}
    return {**own, "calls": both.calls + sums.failed, "cost": sums.live.cost, "replayed_cost": sums.replayed.cost}


def call_data(call: Call, place: CallEvents) -> dict[str, Any]:
    """Return one call, without its texts."""
    return {
        "seq": place.started,
        "ended_seq": place.ended or None,
        "label": str(call.label),
        "asked": call.model,
        "answered_by": call.who if call.answered and call.by else "",
        "by": asdict(call.by) if call.by else None,
        **{name: getattr(call, name) for name in _OF_A_CALL},
    }


def run_data(watch: LiveRun, summary: RunSummary) -> dict[str, Any]:
    """Return a run's page."""
    return {
        "run": summary_data(summary),
        "standing": watch.standing.data(),
        "seq": watch.seq,
        "progress": asdict(watch.fold.progress()),
        "story": story_data(watch.story()),
        "result": watch.head.result,
    }
