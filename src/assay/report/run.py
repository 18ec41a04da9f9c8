"""What every run has, whatever its protocol: a beginning, a state, an end, and its calls' sums."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Protocol

from assay.report.progress import Progress, RunState, Wait
from assay.report.story import Story
from assay.report.tally import Tally
from assay.report.units import count_noun, kind_words
from llm_runtime.events import (
    CallFailed,
    CallFinished,
    CallRetried,
    CallsQueued,
    EndpointPaused,
    Event,
    ModelSubstituted,
    Record,
    RunFinished,
    RunResumed,
    RunStarted,
)
from llm_runtime.store.reading import read_event

#: A wait whose end is told by the clock.
_WORTH_A_WORD_MS = 60_000


class RunFold(Protocol):
    """What a protocol plugs in here: one fold over its run, from which every view is made."""

    def apply(self, event: Event, at: int) -> None:
        """Take in the next event, stamped ``at`` milliseconds since the epoch. Unknown events are passed over."""
        ...

    def announce(self, event: Event) -> str | None:
        """Describe in one line the step that ``event``, just applied, completed; ``None`` where there is none."""
        ...

    def progress(self) -> Progress:
        """Return the run as it is now, for a live display."""
        ...

    def story(self) -> Story:
        """Return the run as it is now, for a report."""
        ...


def timed_events(records: Iterable[Record]) -> Iterator[tuple[Event, int]]:
    """Yield the events of a log with their stamps, in milliseconds since the epoch.

    Raises:
        StoreDamaged: an event's data does not fit its type.
    """
    for record in records:
        yield read_event(record), record.at


class RunTotals:
    """The fold over the events that any run has.

    Args:
        keep: as in :class:`assay.report.tally.Tally`.
    """

    def __init__(self, keep: int | None = None) -> None:
        self.tally = Tally(keep)
        self.started: RunStarted | None = None
        self.began: int | None = None
        self.last: int | None = None
        self.ended: int | None = None
        self.idle = 0
        """Milliseconds in which nobody carried it out: between an end and going on."""
        self.state: RunState = "running"
        self.result: dict[str, Any] = {}
        self.error = ""
        self.message = ""
        self.bound = ""
        """The term that ended it, by its name."""
        self.resumed = 0
        self.troubles: deque[str] = deque(maxlen=200)
        self.waits: dict[str, Wait] = {}
        """What waits for a provider: by the label of a call, or by the provider's name for all of its calls."""

    @property
    def title(self) -> str:
        """What the run is about; empty before it has begun."""
        return self.started.title if self.started else ""

    @property
    def milliseconds(self) -> int:
        """From the first event to the last one so far, without the times in which nobody carried it out."""
        return 0 if self.began is None or self.last is None else max(self.last - self.began - self.idle, 0)

    def goes_on(self) -> tuple[str, ...]:
        """Return when what waits for a provider goes on, by this machine's clock, where that is worth a word."""
        last = self.last or 0
        ends = {wait.until for wait in self.waits.values() if wait.until and wait.until - last >= _WORTH_A_WORD_MS}
        return tuple(f"goes on at {datetime.fromtimestamp(end / 1000):%H:%M}" for end in sorted(ends))

    def apply(self, event: Event, at: int) -> None:
        """Take in the next event."""
        if self.began is None:
            self.began = at
        if isinstance(event, RunResumed) and self.last is not None:
            self.idle += max(at - self.last, 0)
        self.last = at
        if isinstance(event, (CallFinished, CallFailed)) and self.waits:
            call = self.tally.calls.get((event.digest, event.occurrence))
            self.waits.pop(str(call.label) if call else "", None)
        elif isinstance(event, (RunResumed, RunFinished)):
            self.waits.clear()
        self.tally.apply(event, at)
        match event:
            case RunStarted():
                self.started = self.started or event
            case RunResumed():
                self.resumed += 1
                self.state, self.ended, self.error, self.message = "running", None, "", ""
                self.troubles.append(f"resumed after {count_noun(event.finished_calls, 'finished call')}")
            case RunFinished():
                self.state, self.ended = event.state, at
                self.result, self.error, self.message = event.result, event.error, event.message
                self.bound = event.bound or ""
            case CallFinished(reply={"repairs": [*repairs]}):
                call = self.tally.calls.get((event.digest, event.occurrence))
                for repair in repairs:
                    self._note(f"{_place(str(call.label))}: {repair}" if call else str(repair))
            case CallRetried():
                self._note(f"retried {_place(event.label)}: {kind_words(event.error)}")
                why = f"waits for the provider ({kind_words(event.error)}), asks again"
                self.waits[event.label] = Wait(why, at + event.wait_ms)
            case EndpointPaused():
                self._note(f"{event.provider} is left alone for {event.seconds} s: {event.message}")
                why = f"all wait: {event.provider} failed again and again, asked again"
                self.waits[event.provider] = Wait(why, at + event.seconds * 1_000)
            case CallsQueued():
                waiting = count_noun(event.waiting, "call")
                self.waits[event.provider] = Wait(f"{waiting} waiting for a place at {event.provider}")
                if not event.waiting:
                    del self.waits[event.provider]
            case ModelSubstituted():
                self._note(f"{event.used} answers instead of {event.asked}: {event.reason}")
            case CallFailed():
                self._note(f"a call failed: {event.message or kind_words(event.error)}")
            case _:
                pass

    def _note(self, trouble: str) -> None:
        if trouble not in self.troubles:  # a resumed run passes by its old troubles again
            self.troubles.append(trouble)


def _place(label: str) -> str:
    """Shorten ``"crucible/position/1:pragmatist/2/1"`` to ``"position 1:pragmatist"``."""
    return " ".join(part for part in label.split("/")[1:3] if part) or label
