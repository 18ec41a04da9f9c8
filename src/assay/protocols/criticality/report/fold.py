"""A build as the live display sees it: the phase, the functions at work, and a line for each step that matters."""

from __future__ import annotations

from assay.protocols.criticality.report.state import BuildState, Unit
from assay.protocols.criticality.report.story import build_story
from assay.protocols.criticality.report.words import AUDITORS, TIERS, place_name
from assay.report.clean import one_line
from assay.report.progress import Progress, SeatProgress, SeatState
from assay.report.story import Story
from assay.report.units import several
from criticality import events as e
from criticality.machine.states import PHASES, Active, Completed
from llm_runtime.events import Event, RunFinished

_WIDTH = 160
_SHOWN = 6


class BuildFold:
    """Criticality's :class:`assay.report.run.RunFold`.

    Args:
        keep: how many settled calls to remember one by one; a live display needs few.
    """

    def __init__(self, keep: int | None = None) -> None:
        self.state = BuildState(keep)

    def apply(self, event: Event, at: int) -> None:
        """Take in the next event."""
        self.state.apply(event, at)

    def story(self) -> Story:
        """The report."""
        return build_story(self.state)

    def announce(self, event: Event) -> str | None:
        """The finished step in one line."""
        if isinstance(event, RunFinished):
            return f"run {event.state}" + (f": {one_line(event.message, _WIDTH)}" if event.message else "")
        return _line(event)

    def progress(self) -> Progress:
        """The build as it stands."""
        run, machine = self.state.run, self.state.machine
        total = run.tally.total
        phase = machine.phase.phase if isinstance(machine, Active) else ""
        started = run.started
        return Progress(
            protocol="Criticality",
            title=started.title if started else "",
            phase=place_name(self.state.place),
            round=PHASES.index(phase) + 1 if phase in PHASES else len(PHASES) * isinstance(machine, Completed),
            rounds=len(PHASES),
            round_noun="phase",
            seats=tuple(_seat(unit) for unit in self._at_work()),
            calls_done=total.both.calls + total.failed,
            started=run.began,
            ended=run.ended,
            tokens=total.both.tokens,
            cost=total.live.cost,
            replayed_cost=total.replayed.cost,
            unpriced=total.both.unpriced,
            replayed=total.replayed.calls,
            notes=tuple(run.troubles)[-3:],
            state=run.state,
            message=run.message,
        )

    def _at_work(self) -> list[Unit]:
        """Units to show while bodies are written: those at work, then those just accepted, then those to come."""
        order = {"at work": 0, "not solved": 1, "waiting": 2, "accepted": 3}
        machine = self.state.machine
        if not (isinstance(machine, Active) and machine.phase.phase == "injection"):
            return []
        return sorted(self.state.units.values(), key=lambda unit: order[unit.state])[:_SHOWN]


def _seat(unit: Unit) -> SeatProgress:
    states: dict[str, SeatState] = {
        "waiting": "waiting", "at work": "thinking", "accepted": "done", "not solved": "failed",
    }  # fmt: skip
    tier = TIERS.get(unit.tier, unit.tier)
    says = f"{tier}, {several(unit.attempts, 'attempt')}" if unit.attempts else ""
    return SeatProgress(unit.name, states[unit.state], says=says, accent="c1" if unit.state == "accepted" else "c0")


def _line(event: Event) -> str | None:
    match event:
        case e.QuestionAnswered() if event.answer:
            return f"answered: {one_line(event.text, 90)}: {one_line(event.answer, _WIDTH)}"
        case e.Delegated():
            return "the rest is left to the architect"
        case e.FeaturesProposed():
            return f"the architect lists {several(len(event.features), 'feature')}"
        case e.ProposalMade():
            return f"the architect makes proposal {event.version}"
        case e.AuditorChallenged():
            return f"the auditor objects: {one_line('; '.join(event.challenges), _WIDTH)}"
        case e.Approved():
            return f"proposal {event.version} is approved"
        case e.Revised():
            return f"proposal {event.version} is to be revised: {one_line(event.feedback, _WIDTH)}"
        case e.Rejected():
            return f"proposal {event.version} is rejected; the interview begins anew"
        case e.StructurePlanned():
            return f"{several(len(event.modules), 'module')} planned"
        case e.ModuleGenerated():
            return f"module {event.module.get('name', '')}: signatures and contracts"
        case e.CompileFailed():
            return f"the skeleton does not type-check: {several(len(event.errors), 'error')}"
        case e.CompileSucceeded():
            return "the skeleton type-checks and holds no logic"
        case e.AuditorCompleted():
            found = several(len(event.contradictions), "contradiction") if event.contradictions else "nothing"
            return f"audit, {AUDITORS.get(event.auditor, event.auditor)}: {found}"
        case e.ContradictionsReported():
            return f"{several(len(event.contradictions), 'contradiction')} go back to the interview"
        case e.TestsGenerated():
            return f"{several(event.tests, 'test')} made; every one fails on the skeleton"
        case _:
            return _later_line(event)


def _later_line(event: Event) -> str | None:
    match event:
        case e.VerificationPassed():
            return f"{event.unit} accepted: {TIERS[event.tier]}, attempt {event.attempt}"
        case e.VerificationFailed():
            kind = event.failure.get("kind", "refused")
            return f"{event.unit} discarded: {TIERS[event.tier]}, attempt {event.attempt}, {kind}"
        case e.Escalated():
            return f"{event.unit} goes from {TIERS[event.from_tier]} to {TIERS[event.to_tier]}"
        case e.VerdictHandled() if event.passed:
            return f"{event.cluster}: its claims hold"
        case e.VerdictHandled():
            return f"{event.cluster}: {', '.join(event.violated_claims)} violated; written anew"
        case e.SemanticsVerified():
            return f"{event.pattern} on {event.function}: kept"
        case e.SemanticsBroken():
            return f"{event.pattern} on {event.function}: taken back"
        case e.BlockRequested():
            return f"blocked: {one_line(event.question, _WIDTH)}"
        case e.HumanResponded():
            return f"decided: {one_line(event.label or event.option, _WIDTH)}"
        case _:
            return None
