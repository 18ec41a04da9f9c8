"""A run's calls as a tree: phase, seat, call, with sums on every node, and where each stands in the log."""

from __future__ import annotations

from dataclasses import dataclass, field

from assay.report.tally import Call, CallKey, Sums, Tally
from llm_runtime.answerer import named_words
from llm_runtime.events import CallFailed, CallFinished, CallStarted, Event, RunResumed
from llm_runtime.messages import CallLabel


@dataclass(slots=True)
class CallEvents:
    """Sequence numbers of the events of a call; ``ended`` is 0 while it has no outcome."""

    started: int
    ended: int = 0


@dataclass(slots=True)
class SeatNode:
    """The calls of one seat in one phase, in the order they began."""

    seat: str
    sums: Sums = field(default_factory=Sums)
    calls: list[tuple[Call, CallEvents]] = field(default_factory=list[tuple[Call, CallEvents]])


@dataclass(slots=True)
class PhaseNode:
    """The seats of one phase, in the order they first spoke."""

    phase: str
    sums: Sums = field(default_factory=Sums)
    seats: dict[str, SeatNode] = field(default_factory=dict[str, SeatNode])


class CallLog:
    """The fold over the call events of any protocol's run."""

    def __init__(self) -> None:
        self.tally = Tally()
        self.places: dict[CallKey, CallEvents] = {}
        self.began = 0
        self.last = 0
        self._pauses: list[tuple[int, int]] = []

    def apply(self, seq: int, event: Event, at: int) -> None:
        """Take in event number ``seq``, stamped ``at`` milliseconds since the epoch."""
        self.began = self.began or at
        if isinstance(event, RunResumed):
            self._pauses.append((at, max(at - self.last, 0)))
        self.last = max(at, self.last)
        if isinstance(event, (CallStarted, CallFinished, CallFailed)):
            self._place(seq, event)
        self.tally.apply(event, at)

    def since_start(self, at: int) -> int:
        """Return the milliseconds from the first event to ``at``, without the time in which the run stood still."""
        return max(at - self.began - sum(length for end, length in self._pauses if end <= at), 0)

    def about(self, event: Event) -> str:
        """Name the call that an event just applied is about; empty where it is about none."""
        if not isinstance(event, (CallStarted, CallFinished, CallFailed)):
            return ""
        call = self.tally.calls.get((event.digest, event.occurrence))
        return place_words(call.label) if call else ""

    def tree(self) -> list[PhaseNode]:
        """Return the calls by phase and seat."""
        phases: dict[str, PhaseNode] = {}
        for key, call in self.tally.calls.items():
            phase = phases.setdefault(call.label.phase, PhaseNode(call.label.phase))
            seat = phase.seats.setdefault(call.label.seat, SeatNode(call.label.seat))
            seat.calls.append((call, self.places[key]))
            for sums in (phase.sums, seat.sums):
                _count(sums, call)
        return list(phases.values())

    def at(self, seq: int) -> tuple[Call, CallEvents] | None:
        """Return the call that began with event ``seq``."""
        for key, place in self.places.items():
            if place.started == seq and key in self.tally.calls:
                return self.tally.calls[key], place
        return None

    def _place(self, seq: int, event: CallStarted | CallFinished | CallFailed) -> None:
        key = event.digest, event.occurrence
        if isinstance(event, CallStarted):
            known = self.tally.calls.get(key)
            # A resumed run passes once more by the answers that it has; they stay where they first were.
            if known is None or known.state in ("failed", "cut", "running"):
                self.places[key] = CallEvents(seq)
        elif (place := self.places.get(key)) is not None and not place.ended:
            place.ended = seq


def place_words(label: CallLabel) -> str:
    """Write for people where a call stands: ``"position · pragmatist · 2"``, with the round last.

    >>> place_words(CallLabel("crucible", "red_team", "3:red_team"))
    'red team · red team'
    """
    seat = named_words(label.seat.partition(":")[2] or label.seat)
    parts = (label.phase, seat, str(label.round) if label.round else "")
    return " · ".join(part.replace("_", " ") for part in parts if part)


def _count(sums: Sums, call: Call) -> None:
    if call.state == "running":
        sums.running += 1
    elif call.state == "failed":
        sums.failed += 1
    if call.state == "done" or call.answered:
        (sums.replayed if call.replayed else sums.live).add(call)
