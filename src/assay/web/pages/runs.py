"""The list of runs: what came of each, its models, cost, tags, ratings; batches among them, their jobs folded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import mean
from urllib.parse import urlencode

from assay.batch.progress import BatchProgress
from assay.report.standing import RunStanding
from assay.web.filters import protocol_name
from assay.web.templating import render
from llm_runtime.store import RunState, RunSummary
from llm_runtime.store.notes import Note
from llm_runtime.store.run_reader import Order

STATES: tuple[RunState, ...] = ("running", "interrupted", "finished", "stopped", "failed")
ORDERS: tuple[Order, ...] = ("newest", "dearest", "longest", "calls")
BADGES: dict[str, RunState] = {
    "finished": "finished",
    "running": "running",
    "loading": "running",
    "idle": "interrupted",
}
"""The state of a run whose colour a batch's state has."""
_ORDER_WORDS = (("dearest", "Dearest first"), ("longest", "Longest first"), ("calls", "Most calls first"))


@dataclass(frozen=True, slots=True)
class Choice:
    """How the reader searches, filters and sorts the list; empty where not at all."""

    search: str = ""
    protocol: str = ""
    state: str = ""
    tag: str = ""
    order: str = ""
    before: str = ""

    def query(self, before: str) -> str:
        """Return the query of the next page, chosen in the same way."""
        return urlencode({name: value for name, value in {**asdict(self), "before": before}.items() if value})


@dataclass(frozen=True, slots=True)
class ListedRuns:
    """Runs to show, and what is known of each by its id."""

    runs: Sequence[RunSummary]
    seen: Mapping[str, RunStanding]
    tags: Mapping[str, list[str]]
    notes: Mapping[str, list[Note]]

    def rating(self, run_id: str) -> float | None:
        """Return the mean of people's ratings."""
        ratings = [note.rating for note in self.notes[run_id] if note.rating]
        return round(mean(ratings), 1) if ratings else None


def runs_page(
    listed: ListedRuns,
    folded: Sequence[BatchProgress],
    choice: Choice,
    protocols: list[str],
    tags: list[str],
    more: bool,
) -> str:
    """Return the page.

    Args:
        listed: the runs to show, in order.
        folded: batches whose jobs would stand among them.
        choice: how they were chosen.
        protocols: those to choose from.
        tags: likewise.
        more: whether there are more.
    """
    rows: list[tuple[RunSummary | None, BatchProgress | None]] = [(run, None) for run in listed.runs]
    for progress in folded:
        began = progress.batch.created_at // 1000
        place = next((at for at, (run, _) in enumerate(rows) if run and run.started_at < began), len(rows))
        rows.insert(place, (None, progress))
    return render(
        "runs.html",
        rows=rows,
        listed=listed,
        badges=BADGES,
        choice=choice,
        filtered=choice != Choice(),
        protocols=[(name, protocol_name(name)) for name in protocols],
        states=[(state, state) for state in STATES],
        orders=_ORDER_WORDS,
        tags=[(tag, tag) for tag in tags],
        older=choice.query(listed.runs[-1].run_id) if more else "",
        live=any(run.state == "running" for run in listed.runs),
    )
