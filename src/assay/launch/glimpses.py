"""What a list says of a run beside its summary: how it stands, of a part of its log."""

from __future__ import annotations

from functools import lru_cache

from assay.registry import standing
from assay.report.run import RunTotals, timed_events
from assay.report.standing import RunStanding
from llm_runtime.errors import StoreDamaged
from llm_runtime.store import RunState, RunStore, RunSummary

_BEGINNING, _END = 24, 200
"""Records that are read of a long log: who answers first, and what it came to or waits for."""


def glimpses(store: RunStore, runs: list[RunSummary]) -> dict[str, RunStanding]:
    """Return how each run stands, by its id; of a long log only beginning and end are read."""
    return {run.run_id: _glimpse(store, run.run_id, run.events, run.state) for run in runs}


@lru_cache(maxsize=2048)
def _glimpse(store: RunStore, run_id: str, length: int, state: RunState) -> RunStanding:
    head, end = RunTotals(), _END if state == "running" else 2
    after = max(length - end, _BEGINNING)
    try:
        for at, limit in ((0, _BEGINNING), (after, length - after)):
            for event, when in timed_events(store.records(run_id, at, limit) if limit > 0 else ()):
                head.apply(event, when)
        if after > _BEGINNING:
            head.idle = store.idle(run_id)
    except StoreDamaged:
        return RunStanding(state, fact="its log is damaged")
    return standing(head, state)
