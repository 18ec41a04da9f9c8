"""What a run's log says of its beginning and its end, and when others hear of what it takes."""

from __future__ import annotations

from collections.abc import Awaitable, Generator, Iterable
from typing import Any

from llm_runtime.errors import LlmRuntimeError
from llm_runtime.events import CallFinished, Emit, Event, RunFinished, RunStarted, silent
from llm_runtime.structs import Struct


def first_event(events: Iterable[Event]) -> RunStarted:
    """Return the first event of a run, which says what to do."""
    first = next(iter(events), None)
    if not isinstance(first, RunStarted):
        raise LlmRuntimeError("the run's log does not begin with run.started", advice="see: assay runs verify")
    return first


def result_of(events: Iterable[Event]) -> dict[str, Any] | None:
    """Return the result of a run that finished; ``None`` where it has none, or was resumed and has not ended."""
    result = None
    for event in events:
        if isinstance(event, RunFinished):
            result = event.result if event.state == "finished" else None
    return result


def told_when_kept(log: Emit, listeners: Emit) -> Emit:
    """Return one ``Emit`` for a log and who listens beside it; an answer is shown only once it is on disk."""
    if listeners is silent:
        return log

    def emit(event: Event) -> Awaitable[None] | None:
        written = log(event)
        if written is not None and isinstance(event, CallFinished):
            return _Answered(written, event, listeners)
        listeners(event)
        return written

    return emit


class _Answered(Struct):
    written: Awaitable[None]
    event: CallFinished
    listeners: Emit

    def __await__(self) -> Generator[Any, None, None]:
        yield from self.written.__await__()
        self.listeners(self.event)
