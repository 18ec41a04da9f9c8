"""What a step of the protocol works with; each step is a function of it that returns the next event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from criticality.asking import Asking
from criticality.events import ImplementationReceived
from criticality.human import Human
from criticality.lanes import Lanes
from criticality.language import Toolchain
from criticality.ledger import Ledger
from criticality.machine.states import Active
from criticality.verdicts import Bench
from criticality.wire import CamelCase

_Phase = TypeVar("_Phase", bound=CamelCase)


@dataclass(slots=True)
class Work(Bench):
    """Everything a step may look at. ``None`` in place of an event says that a person is awaited.

    Args:
        state: where the project stands.
        ledger: its decisions; only their constraints reach a prompt.
        received: the bodies that are to be verified.
    """

    state: Active
    ledger: Ledger
    ask: Asking
    tools: Toolchain
    human: Human
    lanes: Lanes
    received: ImplementationReceived | None

    def at(self, phase: type[_Phase]) -> _Phase:
        """Return the state of the phase that a step is for."""
        assert isinstance(self.state.phase, phase)
        return self.state.phase

    @property
    def round(self) -> int:
        """How often the present phase was entered, from 1."""
        return self.state.passes.get(self.state.phase.phase, 1)
