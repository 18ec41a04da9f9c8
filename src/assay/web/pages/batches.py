"""The list of batches, and the page of one: its report, as the file of it would be."""

from __future__ import annotations

from assay.batch.progress import BatchProgress
from assay.report.story import Story
from assay.web.templating import render
from llm_runtime.store import RunState

BADGES: dict[str, RunState] = {
    "finished": "finished",
    "running": "running",
    "loading": "running",
    "idle": "interrupted",
}
"""The state of a run whose colour a batch's state has."""


def batches_page(batches: list[BatchProgress]) -> str:
    """Return the list, newest first."""
    live = any(progress.state == "running" for progress in batches)
    return render("batches.html", batches=batches, live=live, badges=BADGES)


def batch_page(progress: BatchProgress, story: Story) -> str:
    """Return the page of one batch."""
    return render("batch.html", progress=progress, story=story, badges=BADGES)
