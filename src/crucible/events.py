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


class LoopStarted(Event, type="crucible.loop_started"):
    """Loop ``loop`` of at most ``of`` begins."""

    loop: int
    of: int
    grammar: Literal["parallel", "sequential", "debate"]


class SeatAnswered(Event, type="crucible.seat_answered"):
    """A deliberating seat said something: a position, a defence of it, or a revision of the draft.

    ``text`` is prose; where the seat answered by a record, code wrote it of that, with an id before each claim.
    """

    loop: int
    seat: str
    role: str
    kind: Literal["position", "defence", "draft"]
    text: str


class SeatFailed(Event, type="crucible.seat_failed"):
    """A deliberating seat gave no answer and is left out of this loop."""

    loop: int
    seat: str
    role: str
    error: str
    message: str


class Critiqued(Event, type="crucible.critiqued"):
    """The red team spoke. ``step`` counts from 1 within a loop; ``targets`` are seats it named (debate only)."""

    loop: int
    step: int
    seat: str
    text: str
    targets: list[str] = []


class LoopEnded(Event, type="crucible.loop_ended"):
    """A loop is complete. ``judged`` is false where nobody compared it with the loop before.

    ``note`` says why, where a comparison was tried and failed.
    """

    loop: int
    delta_detected: bool
    judged: bool
    note: str = ""


class Synthesised(Event, type="crucible.synthesised"):
    """The final response. ``early_exit`` as in ``ExecutorResult``."""

    text: str
    loops_executed: int
    early_exit: bool


class Concluded(Event, type="crucible.concluded"):
    """A judge compared what a role concludes with what it concluded a loop before, each in a sentence."""

    loop: int
    role: str
    before: str
    after: str
    same: bool


class Shortened(Event, type="crucible.shortened"):
    """A prompt did not fit the model's window, and was sent again with the council's own earlier texts cut.

    Args:
        phase, seat: of the call.
        share: of the prompt that was left to send, 0 to 1.
        reason: what the model's server, or the check before it, said.
    """

    phase: str
    seat: str
    share: float
    reason: str


class LedgerWritten(Event, type="crucible.ledger"):
    """The ledger of objections; ``ledger`` is :class:`crucible.ledger.Ledger` as data."""

    ledger: dict[str, Any]


class SpareAsked(Event, type="crucible.spare_asked"):
    """A model gave no answer that could be used; another, or the same once more, is asked in its place."""

    phase: str
    seat: str
    model: str
    reason: str


class NotAttacked(Event, type="crucible.not_attacked"):
    """No model of the panel raised an objection to anything that stands in the positions of this loop."""

    loop: int
    reason: str
