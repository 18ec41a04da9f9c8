"""Two runs side by side: figures, then section beside section, what the second says anew marked."""

from __future__ import annotations

from dataclasses import replace

from assay.report.changes import changes
from assay.report.story import Block, Prose, Story
from assay.web.templating import render
from llm_runtime.store import RunSummary

Side = tuple[RunSummary, Story]


def compare_page(left: Side, right: Side) -> str:
    """Return the page."""
    first, second = ({section.heading: section.blocks for section in story.sections} for _, story in (left, right))
    headings = list(dict.fromkeys([*first, *second]))
    rows = [(name, first.get(name, ()), _marked(first.get(name, ()), second.get(name, ()))) for name in headings]
    sides = [("A", *left, right[1].facts), ("B", *right, left[1].facts)]
    return render("compare.html", sides=sides, rows=rows)


def pick_page(chosen: RunSummary | None, others: list[RunSummary]) -> str:
    """Return the page where the second run, or both, are chosen."""
    return render("pick.html", chosen=chosen, runs=[run for run in others if run != chosen])


def _marked(before: tuple[Block, ...], after: tuple[Block, ...]) -> tuple[Block, ...]:
    """Mark what is new in the leading texts of a section; texts further down are other voices."""
    old = "\n\n".join(block.text for block in before if isinstance(block, Prose))
    if not old:
        return after
    return tuple(
        replace(block, changed=changes(old, block.text).marks) if isinstance(block, Prose) else block
        for block in after
    )
