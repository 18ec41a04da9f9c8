"""What a run's log says of its beginning and its end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from llm_runtime.errors import LlmRuntimeError
from llm_runtime.events import Event, RunFinished, RunStarted


def first_event(events: Iterable[Event]) -> RunStarted:
    """Return the first event of a run, which says what to do."""
    first = next(iter(events), None)
    if not isinstance(first, RunStarted):
        raise LlmRuntimeError("the run's log does not begin with run.started; see: assay runs verify")
    return first


def result_of(events: Iterable[Event]) -> dict[str, Any] | None:
    """Return the result of a run that finished; ``None`` where it has none, or was resumed and has not ended."""
    result = None
    for event in events:
        if isinstance(event, RunFinished):
            result = event.result if event.state == "finished" else None
    return result
