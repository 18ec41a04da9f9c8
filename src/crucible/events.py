"""What a council says while it works. The screen, the report and the trace are folds over these.

Who is speaking is not here: the runtime's ``call.started`` says it, with the seat in the call's label.
A seat is named ``"INDEX:ROLE"``, by its place in the triaged council, because two seats may share a role.
"""

from __future__ import annotations

from typing import Any, Literal

from crucible.records import Short
from crucible.schemas import TriageOutput
from llm_runtime.events import Event


class TriageRead(Event, type="crucible.triage_read"):
    """Triage spelled something otherwise than its schema: what, a line each. No value was changed."""

    decoded: list[str]


class Triaged(Event, type="crucible.triaged"):
    """The council is configured."""

    triage: TriageOutput


class ShortCircuited(Event, type="crucible.short_circuited"):
    """A simple question goes to one model; no council sits."""


class Routed(Event, type="crucible.routed"):
    """Three short answers, by letters; a council sits where ``doubts`` says that something is open."""

    answers: dict[str, Short]
    doubts: list[str]
    best: str


class _OfLoop(Event):
    """What happens in a loop; they are counted from 1."""

    loop: int


class LoopStarted(_OfLoop, type="crucible.loop_started"):
    """Loop ``loop`` of at most ``of`` begins."""

    of: int
    grammar: Literal["parallel", "sequential", "debate"]


class _OfSeat(_OfLoop):
    """What a deliberating seat comes to in a loop."""

    seat: str
    role: str


class SeatAnswered(_OfSeat, type="crucible.seat_answered"):
    """A deliberating seat said something: a position, a defence of it, or a revision of the draft.

    ``text`` is prose; where the seat answered by a record, code wrote it of that, with an id before each claim.
    """

    kind: Literal["position", "defence", "draft"]
    text: str


class SeatFailed(_OfSeat, type="crucible.seat_failed"):
    """A deliberating seat gave no answer and is left out of this loop."""

    error: str
    message: str


class Critiqued(_OfLoop, type="crucible.critiqued"):
    """The red team spoke. ``step`` counts from 1 within a loop; ``targets`` are seats it named (debate only)."""

    step: int
    seat: str
    text: str
    targets: list[str] = []


class LoopEnded(_OfLoop, type="crucible.loop_ended"):
    """A loop is complete. ``judged`` is false where nobody compared it with the loop before.

    ``note`` says why, where a comparison was tried and failed.
    """

    delta_detected: bool
    judged: bool
    note: str = ""


class Synthesised(Event, type="crucible.synthesised"):
    """The final response. ``early_exit`` as in ``ExecutorResult``."""

    text: str
    loops_executed: int
    early_exit: bool


class Concluded(_OfLoop, type="crucible.concluded"):
    """A judge compared what a role concludes with what it concluded a loop before, each in a sentence."""

    role: str
    before: str
    after: str
    same: bool


class _OfCall(Event):
    """What happens to a call, by its label."""

    phase: str
    seat: str


class Shortened(_OfCall, type="crucible.shortened"):
    """A prompt did not fit the model's window, and was sent again with the council's own earlier texts cut.

    Args:
        phase, seat: of the call.
        share: of the prompt that was left to send, 0 to 1.
        reason: what the model's server, or the check before it, said.
    """

    share: float
    reason: str


class LedgerWritten(Event, type="crucible.ledger"):
    """The ledger of objections; ``ledger`` is :class:`crucible.ledger.Ledger` as data."""

    ledger: dict[str, Any]


class SpareAsked(_OfCall, type="crucible.spare_asked"):
    """A model gave no answer that could be used; another, or the same once more, is asked in its place."""

    model: str
    reason: str


class NotAttacked(_OfLoop, type="crucible.not_attacked"):
    """No model of the panel raised an objection to anything that stands in the positions of this loop."""

    reason: str
