"""What pages show, as JSON-compatible data: every page has both forms, from the same objects."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from assay.report.markup import render
from assay.report.story import Block, Details, Figure, Prose, Story, Table, Voice
from assay.report.tally import Call, Sums
from assay.web.calls import CallEvents, PhaseNode
from assay.web.live_runs import LiveRun
from llm_runtime.store import RunSummary

_OF_A_CALL = ("state", "replayed", "input_tokens", "output_tokens", "cost", "milliseconds", "retries", "error")
"""What data and the report call alike."""


def summary_data(summary: RunSummary) -> dict[str, Any]:
    """Return a run's line in a list; ``cost_usd`` beside the micro-dollars of ``cost``."""
    return {**asdict(summary), "cost_usd": None if summary.cost_unknown else summary.cost / 1_000_000}


def story_data(story: Story) -> dict[str, Any]:
    """Return a story; each block says under ``kind`` what it is."""
    return {
        "title": story.title,
        "subtitle": story.subtitle,
        "tone": story.tone,
        "facts": [asdict(fact) for fact in story.facts],
        "sections": [
            {"heading": section.heading, "blocks": [block_data(block) for block in section.blocks]}
            for section in story.sections
        ],
    }


def block_data(block: Block) -> dict[str, Any]:
    """Return one block."""
    match block:
        case Details():
            return {"kind": "details", "summary": block.summary, "blocks": [block_data(each) for each in block.blocks]}
        case Voice():
            inner = [block_data(each) for each in block.blocks]
            return {"kind": "voice", "name": block.name, "remark": block.remark, "blocks": inner}
        case Figure():
            svg = render(block.svg)
            return {"kind": "figure", "caption": block.caption, "alternative": block.alternative, "svg": svg}
        case Prose():
            data: dict[str, Any] = {"kind": "prose", "text": block.text}
            pins = [{"start": pin.start, "end": pin.end, "sign": pin.sign} for pin in block.pins]
            return data | {"changed": [list(span) for span in block.changed]} | ({"pins": pins} if pins else {})
        case Table():
            return {
                "kind": "table",
                "caption": block.caption,
                "columns": [column.head for column in block.columns],
                "rows": [list(row) for row in block.rows],
                "total": list(block.total) if block.total else None,
            }
        case _:
            return {"kind": type(block).__name__.lower(), **asdict(block)}


def tree_data(phases: list[PhaseNode]) -> list[dict[str, Any]]:
    """Return the calls of a run by phase and seat."""
    return [
        {
            "phase": phase.phase,
            **sums_data(phase.sums),
            "seats": [
                {
                    "seat": seat.seat,
                    **sums_data(seat.sums),
                    "entries": [call_data(call, place) for call, place in seat.calls],
                }
                for seat in phase.seats.values()
            ],
        }
        for phase in phases
    ]


def sums_data(sums: Sums) -> dict[str, Any]:
    """Return sums over calls: spent ones under ``cost`` (micro-dollars), replayed ones apart."""
    both = sums.both
    return {
        "calls": both.calls + sums.failed,
        "running": sums.running,
        "failed": sums.failed,
        "input_tokens": both.input_tokens,
        "output_tokens": both.output_tokens,
        "milliseconds": both.milliseconds,
        "cost": sums.live.cost,
        "replayed_cost": sums.replayed.cost,
        "unknown": sums.unknown,
        "unpriced": both.unpriced,
    }


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
