"""What a report on a build is made from: the project's own state and artifacts, folded from the run's events."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from assay.protocols.criticality.report.words import TIERS
from assay.report.run import RunTotals
from assay.report.units import count_noun
from criticality import events as e
from criticality.artifacts import Artifacts
from criticality.edits import BodyEdited, EditRefused
from criticality.machine.states import PHASES, Active, ProtocolState, Verifying, beginning
from criticality.machine.step import NoTransition, advance, where
from criticality.telemetry import phase_of
from llm_runtime.events import Event

UnitState = Literal["waiting", "at work", "accepted", "not solved"]


def _after(cases: int) -> str:
    return f"after {count_noun(cases, 'case')}" if cases else "before it ran"


@dataclass(slots=True)
class Unit:
    """What became of a unit of Injection: one function, or several that call each other.

    Args:
        life: each thing that happened to it, in a few words, and the case or reason behind it.
    """

    name: str
    state: UnitState = "waiting"
    tier: str = ""
    attempts: int = 0
    tests: int = 0
    life: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    again: int = 0


class BuildState:
    """The fold over a build's events.

    A run that goes on with a project tells its story from the beginning again, so that what happened to the
    project elsewhere is in it too; the first event of a journal therefore begins everything anew.
    """

    def __init__(self, run: RunTotals) -> None:
        self.run = run
        self.clear()

    def clear(self) -> None:
        """Begin a project without a past."""
        self.machine: ProtocolState = beginning()
        self.artifacts = Artifacts()
        self.units: dict[str, Unit] = {}
        self.history: list[Event] = []
        self.back: dict[tuple[str, str], int] = {}
        self.odd = 0

    def apply(self, event: Event, at: int) -> None:
        """Take in the next event."""
        self.run.apply(event, at)
        if not event.type.startswith("criticality."):
            return
        if isinstance(event, e.ProjectCreated):
            self.clear()
        else:
            self._advance(event)
        self.artifacts.apply(event)
        self.history.append(event)
        self._unit(event)

    @property
    def place(self) -> str:
        """``phase.subState``, ``blocked`` or ``completed``."""
        return where(self.machine)

    def _advance(self, event: Event) -> None:
        before = self.machine
        try:
            self.machine = advance(before, event)[0]
        except (NoTransition, AssertionError):  # written by another version: the story goes on without that step
            self.odd += 1
        source, target = phase_of(before), phase_of(self.machine)
        if {source, target} <= {*PHASES} and PHASES.index(target) < PHASES.index(source):
            self.back[source, target] = self.back.get((source, target), 0) + 1

    def _unit(self, event: Event) -> None:
        match event:
            case e.TestsGenerated():
                for name in event.units:
                    self._named(name).state = "waiting"
            case e.FunctionSelected():
                self._named(event.unit).state = "at work"
            case e.VerificationFailed() | e.VerificationPassed():
                unit, who = self._named(event.unit), TIERS.get(event.tier, event.tier)
                unit.attempts, unit.tier, unit.tests = event.attempt, event.tier, event.tests
                if isinstance(event, e.VerificationPassed):
                    unit.state = "accepted"
                    unit.life.append((f"{who}: accepted", _after(event.tests)))
                else:
                    what = [str(each) for each in event.failure.get("what", ())][:1]
                    why = f"attempt {event.attempt}, {': '.join([_after(event.tests), *what])}"
                    unit.life.append((f"{who}: {event.failure.get('kind', 'refused')}", why))
            case e.CalleeBlamed() | e.TestSuspected():
                name = f"{event.callee} at fault" if isinstance(event, e.CalleeBlamed) else "test suspected"
                self._named(event.unit).life.append((name, event.what))
                for each in event.units:
                    self._named(each).state = "waiting"
            case EditRefused():
                for each in event.units:
                    self._named(each).life.append(("you: refused", event.what))
            case BodyEdited():
                for each in event.units:
                    unit = self._named(each)
                    unit.state, unit.tier, unit.tests = "accepted", "hand", event.tests
                    unit.life.append(("you: accepted", _after(event.tests)))
            case e.Escalated():
                self._named(event.unit).tier = event.to_tier
            case e.TiersExhausted():
                self._named(event.unit).state = "not solved"
            case e.VerdictHandled():
                for name in event.units:
                    unit = self._named(name)
                    unit.state, unit.again = "waiting", unit.again + 1
            case _:
                pass
        if isinstance(self.machine, Active) and isinstance(self.machine.phase, Verifying):
            self._named(self.machine.phase.function_id).state = "at work"

    def _named(self, name: str) -> Unit:
        return self.units.setdefault(name, Unit(name))
