"""The route that compares two runs: figures, section beside section, what the second says anew marked."""

from __future__ import annotations

from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response

from assay.report.changes import changes
from assay.report.story import Block, Prose, Story
from assay.web import data
from assay.web.app_state import respond, site_of
from assay.web.permissions import demand, seen
from assay.web.templating import render
from llm_runtime.store import RunSummary, valid_run_id

_LISTED = 30
Side = tuple[RunSummary, Story]


async def compare(request: Request) -> Response:
    """Compare two runs side by side: ``?run=ID&run=ID``; with one or none, list those to choose from."""
    site = site_of(request)
    chosen = [run_id for run_id in request.query_params.getlist("run") if valid_run_id(run_id)][:2]
    for run_id in chosen:
        demand(site.store, "see", run_id)
    runs = [site.store.summary(run_id) for run_id in chosen]
    if len(runs) < 2:
        one = runs[0] if runs else None
        others = site.store.runs(protocol=one.protocol if one else None, limit=_LISTED, among=seen())
        return respond(
            request,
            lambda: {"runs": [data.summary_data(run) for run in others]},
            lambda: render("pick.html", chosen=one, runs=[run for run in others if run != one]),
        )
    left, right = ((run, site.hub.watch(run.run_id).story()) for run in runs)
    return respond(
        request,
        lambda: {
            "runs": [
                {"run": data.summary_data(run), "story": data.story_data(story)} for run, story in (left, right)
            ]
        },
        lambda: compare_page(left, right),
    )


def compare_page(left: Side, right: Side) -> str:
    """Return the page."""
    first, second = ({section.heading: section.blocks for section in story.sections} for _, story in (left, right))
    headings = list(dict.fromkeys([*first, *second]))
    rows = [(name, first.get(name, ()), _marked(first.get(name, ()), second.get(name, ()))) for name in headings]
    sides = [("A", *left, right[1].facts), ("B", *right, left[1].facts)]
    return render("compare.html", sides=sides, rows=rows)


def _marked(before: tuple[Block, ...], after: tuple[Block, ...]) -> tuple[Block, ...]:
    """Mark what is new in the leading texts of a section; texts further down are other voices."""
    old = "\n\n".join(block.text for block in before if isinstance(block, Prose))
    if not old:
        return after
    return tuple(
        replace(block, changed=changes(old, block.text).marks) if isinstance(block, Prose) else block
        for block in after
    )
