"""What is said around a council: what its seats conclude, and what became of the objections."""

from __future__ import annotations

from typing import Any

from llm_runtime.events import Event


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
    """The ledger of objections; ``ledger`` is :class:`assay.protocols.crucible.ledger.Ledger` as data."""

    ledger: dict[str, Any]
