"""What a council says while it works. The screen, the report and the trace are folds over these.

Who is speaking is not here: the runtime's ``call.started`` says it, with the seat in the call's label.
A seat is named ``"INDEX:ROLE"``, by its place in the triaged council, because two seats may share a role.
"""

from __future__ import annotations

from typing import Literal

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


class LoopStarted(Event, type="crucible.loop_started"):
    """Loop ``loop`` of at most ``of`` begins."""

    loop: int
    of: int
    grammar: Literal["parallel", "sequential", "debate"]


class SeatAnswered(Event, type="crucible.seat_answered"):
    """A deliberating seat said something: a position, a defence of it, or a revision of the draft."""

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
