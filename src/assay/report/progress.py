"""The one picture of a run under way that every display draws, whatever the protocol."""

from __future__ import annotations

from typing import Literal, TypeAlias

from llm_runtime.structs import Struct

SeatState: TypeAlias = Literal["waiting", "thinking", "done", "failed"]
RunState: TypeAlias = Literal["running", "finished", "stopped", "failed"]


class Wait(Struct):
    """Why something waits, and until when, in milliseconds since the epoch; ``None`` where nobody knows."""

    why: str
    until: int | None = None


class SeatProgress(Struct):
    """One participant.

    Args:
        name: who, for people.
        state: what it does now.
        since: when it began to think, in milliseconds since the epoch.
        says: its latest words, on one line.
        accent: its colour class, as in :class:`assay.report.story.Voice`.
    """

    name: str
    state: SeatState
    since: int | None = None
    says: str = ""
    accent: str = "c0"


class Progress(Struct):
    """A run at one moment.

    Args:
        protocol: its name for people: ``"Crucible"``.
        title: what the run is about.
        phase: what happens now, in a few words.
        round: 1-based; 0 before the first.
        rounds: how many there are at most; 0 where there are none.
        round_noun: what the protocol calls them: ``"loop"``.
        seats: the participants, in seat order.
        calls_done: answered or failed.
        calls_expected: in all, as far as can be known; ``None`` where it cannot.
        started: milliseconds since the epoch, put off by the time in which nobody carried it out; ``None`` before
            the first event.
        ended: the same; ``None`` while the run goes on.
        tokens: in and out, replayed calls included.
        cost: micro-dollars spent by this run.
        replayed_cost: micro-dollars that the replayed calls once cost.
        unknown: micro-dollars that attempts may have taken besides, of which nobody knows the end.
        unpriced: calls whose price nobody knows.
        replayed: calls that a recording answered.
        notes: the latest troubles, oldest first.
        news: what came last that is worth knowing, oldest first: a room that opened, a card.
        state: of the run.
        message: why it did not finish, where it did not.
        call_noun: what is counted: ``"call"``, or ``"attempt"`` where calls are made elsewhere.
    """

    protocol: str
    title: str
    phase: str = ""
    round: int = 0
    rounds: int = 0
    round_noun: str = "round"
    seats: tuple[SeatProgress, ...] = ()
    calls_done: int = 0
    calls_expected: int | None = None
    started: int | None = None
    ended: int | None = None
    tokens: int = 0
    cost: int = 0
    unknown: int = 0
    replayed_cost: int = 0
    unpriced: int = 0
    replayed: int = 0
    notes: tuple[str, ...] = ()
    news: tuple[str, ...] = ()
    state: RunState = "running"
    message: str = ""
    call_noun: str = "call"

    def elapsed(self, now: int) -> int:
        """Return the milliseconds since the start, up to the end."""
        if self.started is None:
            return 0
        return max((now if self.ended is None else self.ended) - self.started, 0)

    def left(self, now: int) -> int | None:
        """Return the milliseconds until the end at the pace so far; ``None`` where that is a mere guess."""
        if self.calls_expected is None or self.calls_done < 3 or self.state != "running":
            return None
        return self.elapsed(now) * max(self.calls_expected - self.calls_done, 0) // self.calls_done
