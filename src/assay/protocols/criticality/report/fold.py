"""A build as the live display sees it: the phase, the functions at work, the time left, a line for each step."""

from __future__ import annotations

from dataclasses import replace

from assay.protocols.criticality.report.state import BuildState, Unit
from assay.protocols.criticality.report.story import build_story
from assay.protocols.criticality.report.words import AUDITORS, LINES, TIERS, place_name
from assay.report.clean import one_line
from assay.report.frame import run_progress
from assay.report.generic import GenericFold
from assay.report.lines import WIDTH
from assay.report.progress import Progress, SeatProgress, SeatState
from assay.report.story import Story
from assay.report.units import count_noun
from criticality import edits
from criticality import events as e
from criticality.edits import ClaimsEdited
from criticality.machine.states import PHASES, Active, Completed, Implementing, Verifying
from llm_runtime.events import CallStarted, Event

_SHOWN = 6
_EVERY = "every one fails on the skeleton"


class BuildFold(GenericFold):
    """Criticality's :class:`assay.report.run.RunFold`.

    Args:
        keep: how many settled calls to remember one by one; a live display needs few.
    """

    protocol = "Criticality"

    def _start(self) -> None:
        self.state = BuildState(self.run)
        self._announced = 0
        self._begun = self._now = self._done = 0

    def apply(self, event: Event, at: int) -> None:
        """Take in the next event."""
        self.state.apply(event, at)
        self._now = at
        match event:
            case e.ProjectCreated() | e.TestsGenerated() | e.VerdictHandled():
                self._begun = self._done = 0
            # A call is being made now; what a journal tells again says nothing of how long a function takes.
            case CallStarted() if not self._begun and self._injecting:
                self._begun = at
            case e.VerificationPassed() if self._begun:
                self._done += 1
            case _:
                pass

    def story(self) -> Story:
        """Return the report."""
        return build_story(self.state)

    def announce(self, event: Event) -> str | None:
        """Return the finished step in one line; ``None`` for a step that is told again."""
        if event.type.startswith("criticality."):
            if len(self.state.history) <= self._announced:
                return None
            self._announced = len(self.state.history)
        line = super().announce(event)
        return f"{line}; {self._count()}" if line and isinstance(event, e.VerificationPassed) else line

    def progress(self) -> Progress:
        """Return the build as it stands."""
        run, machine = self.state.run, self.state.machine
        phase = machine.phase.phase if isinstance(machine, Active) else ""
        return replace(
            run_progress(run, self.protocol),
            phase=place_name(self.state.place) + (f", {self._count()}" if self._injecting else ""),
            round=PHASES.index(phase) + 1 if phase in PHASES else len(PHASES) * isinstance(machine, Completed),
            rounds=len(PHASES),
            round_noun="phase",
            seats=tuple(_seat(unit, self._trying(unit)) for unit in self._at_work()),
        )

    @property
    def _injecting(self) -> bool:
        return self.state.place.startswith("injection")

    def _count(self) -> str:
        """Count the functions, and estimate the time left by those that were finished in this sitting."""
        total = len(self.state.units)
        left = sum(unit.state != "accepted" for unit in self.state.units.values())
        if not (left and self._done):
            return f"{total - left} of {total}"
        seconds = (self._now - self._begun) / self._done * left / 1000
        words = f"{max(1, round(seconds))} s" if seconds < 90 else f"{round(seconds / 60)} min"
        return f"{total - left} of {total}, about {words} left"

    def _trying(self, unit: Unit) -> str:
        """Say what is being tried on a unit now, and against what."""
        phase = self.state.machine.phase if isinstance(self.state.machine, Active) else None
        if not isinstance(phase, Implementing | Verifying) or phase.function_id != unit.name:
            return ""
        attempt = f"attempt {phase.total_attempts} of the {TIERS.get(phase.current_tier, phase.current_tier)}"
        if isinstance(phase, Implementing):
            return f"{attempt} is written"
        functions, names = self.state.artifacts.functions, unit.name.split("+")
        clauses = sum(len(functions[name][1].contract.predicates) for name in names if name in functions)
        claims = sum(bool({*names}.intersection(claim.functions)) for claim in self.state.artifacts.claims.values())
        before = f" ({count_noun(unit.tests, 'case')} the last time)" if unit.tests else ""
        return f"{attempt} against {count_noun(clauses, 'clause')} and {count_noun(claims, 'claim')}{before}"

    def _at_work(self) -> list[Unit]:
        """Units to show while bodies are written: those at work, then those just accepted, then those to come."""
        order = {"at work": 0, "not solved": 1, "waiting": 2, "accepted": 3}
        machine = self.state.machine
        if not (isinstance(machine, Active) and machine.phase.phase == "injection"):
            return []
        return sorted(self.state.units.values(), key=lambda unit: order[unit.state])[:_SHOWN]


def _seat(unit: Unit, trying: str) -> SeatProgress:
    states: dict[str, SeatState] = {
        "waiting": "waiting", "at work": "thinking", "accepted": "done", "not solved": "failed",
    }  # fmt: skip
    tier = TIERS.get(unit.tier, unit.tier)
    says = trying or (f"{tier}, {count_noun(unit.attempts, 'attempt')}" if unit.attempts else "")
    if unit.state == "accepted" and unit.tests:
        says += f", {count_noun(unit.tests, 'case')}"
    return SeatProgress(unit.name, states[unit.state], says=says, accent="c1" if unit.state == "accepted" else "c0")


def _audited(fold: BuildFold, event: e.AuditorCompleted) -> str:
    count = count_noun(len(event.contradictions), "contradiction") if event.contradictions else "nothing"
    return f"audit, {AUDITORS.get(event.auditor, event.auditor)}: {count}"


def _accepted(fold: BuildFold, event: e.VerificationPassed) -> str:
    noticed, tried = (sum(f.get(key, 0) for f in event.measured.values()) for key in ("noticed", "changes"))
    against = f", {count_noun(event.tests, 'case')}, {noticed} of {tried} other bodies rejected" if event.tests else ""
    return f"{event.unit} accepted: {TIERS[event.tier]}, attempt {event.attempt}{against}"


def _discarded(fold: BuildFold, event: e.VerificationFailed) -> str:
    kind = event.failure.get("kind", "refused")
    what = "".join(f": {one_line(str(each), 90)}" for each in event.failure.get("what", ())[:1])
    after = f" after {count_noun(event.tests, 'case')}" if event.tests else ""
    return f"{event.unit} discarded: {TIERS[event.tier]}, attempt {event.attempt}, {kind}{after}{what}"


def _claims(fold: BuildFold, event: ClaimsEdited) -> str:
    tests = f"tests of {', '.join(str(claim['id']) for claim in event.claims)} as you wrote them"
    return f"{tests}: {', '.join(event.units)} written anew" if event.units else f"{tests}: they hold"


def _judged(fold: BuildFold, event: e.VerdictHandled) -> str:
    violated = f"{', '.join(event.violated_claims)} violated; written anew"
    return f"{event.cluster}: {'its claims hold' if event.passed else violated}"


def _left_out(told: str, notes: list[str]) -> str:
    return one_line("; ".join(filter(None, [told, *(f"left out, {why}" for why in notes)])), 400)


BuildFold.lines = {
    **{getattr(edits if hasattr(edits, name) else e, name): text for name, text in LINES.items()},
    e.QuestionAnswered: lambda _, e: (
        f"answered: {one_line(e.text, 90)}: {one_line(e.answer, WIDTH)}" if e.answer else None
    ),
    e.AuditorChallenged: lambda _, e: f"the auditor objects: {one_line('; '.join(e.challenges), WIDTH)}",
    e.AuditorCompleted: _audited,
    e.TestsGenerated: lambda _, e: _left_out(f"{count_noun(e.tests, 'test')} made; {_EVERY}", e.left_out),
    e.ClusterTestsGenerated: lambda _, e: _left_out("", e.left_out) or None,
    e.VerificationPassed: _accepted,
    e.VerificationFailed: _discarded,
    ClaimsEdited: _claims,
    e.Escalated: lambda _, e: f"{e.unit} goes from {TIERS[e.from_tier]} to {TIERS[e.to_tier]}",
    e.VerdictHandled: _judged,
    e.HumanResponded: lambda _, e: f"decided: {one_line(e.label or e.option, WIDTH)}",
}
