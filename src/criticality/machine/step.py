"""One advance: ``(state, event) -> (state, actions)``, with nothing else looked at (CT3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from criticality import events as e
from criticality.edits import BodyEdited, ClaimsEdited, EditRefused, SpecEdited
from criticality.machine import states as s
from criticality.machine.breaker import tripped
from criticality.machine.entering import BUILD, MachineLimits, auditors_after, critical_after
from criticality.machine.table import AUDITORS, TRANSITIONS, WAYS_OUT, Action, Guard, Transition
from llm_runtime.errors import LlmRuntimeError
from llm_runtime.events import Event

_BEFORE_BLOCK = 3


class NoTransition(LlmRuntimeError):
    """The event has no place in the state: the driver, not the project, is at fault."""

    exit_code = 5


def advance(
    state: s.ProtocolState, event: Event, limits: MachineLimits | None = None
) -> tuple[s.ProtocolState, tuple[Action, ...]]:
    """Return the state after an event, and what is to be done about it.

    Raises:
        NoTransition: no row of the table holds.
    """
    limits = limits or MachineLimits()
    if isinstance(event, e.BESIDE_THE_MACHINE):
        return state, ()
    row = find(state, event, limits)
    if row is None:
        raise NoTransition(f"{name_of(event)} has no place in {where(state)}; the journal and the program do not fit")
    if isinstance(event, BodyEdited | ClaimsEdited | EditRefused | SpecEdited):
        return _by_hand(state, event, row), row.actions
    if row.target == "completed":
        assert isinstance(state, s.Active)
        return s.Completed(regressions=state.regressions, passes=state.passes), row.actions
    if isinstance(state, s.Blocked):
        return _resumed(state, event), row.actions
    assert isinstance(state, s.Active)
    if row.target == "blocked":
        return _blocked(state, event), row.actions
    return _entered(state, BUILD[row.target](state.phase, event, limits), row)


def find(state: s.ProtocolState, event: Event, limits: MachineLimits) -> Transition | None:
    """Return the first row for the state and the event whose guard holds."""
    places = (where(state), "active") if isinstance(state, s.Active) else (where(state),)
    name = name_of(event)
    for row in TRANSITIONS:
        if row.source in places and row.event == name and _holds(row.guard, state, event, limits):
            return row
    return None


def where(state: s.ProtocolState) -> str:
    """``phase.subState``, ``blocked`` or ``completed``."""
    return f"{state.phase.phase}.{state.phase.type}" if isinstance(state, s.Active) else state.type


def name_of(event: Event) -> str:
    """Return the event's name without its protocol."""
    return event.type.rpartition(".")[2]


def _entered(state: s.Active, after: Any, row: Transition) -> tuple[s.ProtocolState, tuple[Action, ...]]:
    """Into the next sub-state; over a phase's boundary passes are counted, and steps back."""
    source, target = state.phase.phase, after.phase
    if source == target:
        return s.Active(phase=after, regressions=state.regressions, passes=state.passes), row.actions
    passes = {**state.passes, target: state.passes.get(target, 0) + 1}
    if s.PHASES.index(target) > s.PHASES.index(source):
        return s.Active(phase=after, regressions=state.regressions, passes=passes), row.actions
    edge = f"{source}->{target}"
    regressions = {**state.regressions, edge: state.regressions.get(edge, 0) + 1}
    moved = s.Active(phase=after, regressions=regressions, passes=passes)
    if regressions[edge] < _BEFORE_BLOCK:
        return moved, row.actions
    again = s.QueryOption(id="again", label=f"Go back to {target} once more", resumes="prior")
    restate = s.QueryOption(id="restate", label="Go back to the interview", resumes="ignition")
    told = f"The protocol has gone back from {source} to {target} {regressions[edge]} times. How to go on?"
    options = (again, restate)
    query = s.HumanQuery(id=f"regression_{edge}", category="structural_defect", question=told, options=options)
    fresh = moved.model_copy(update={"regressions": {**regressions, edge: 0}})
    blocked = s.Blocked(
        reason="structural_defect", query=query, prior_phase=target, prior_sub_state=after.type, prior=fresh
    )
    return blocked, (*row.actions, Action("sendNotification", "block"))


def _by_hand(
    state: s.ProtocolState, event: BodyEdited | ClaimsEdited | EditRefused | SpecEdited, row: Transition
) -> s.ProtocolState:
    """Go on from what a person changed on disk; it is no step back of the protocol's own."""
    base = state.prior if isinstance(state, s.Blocked) else state
    if isinstance(base, s.Completed):
        base = s.Active(phase=s.AnalyzingComplexity(), regressions=base.regressions, passes=base.passes)
    if isinstance(event, EditRefused):
        return _blocked(base, event)
    if isinstance(event, SpecEdited):
        passes = {**base.passes, "lattice": base.passes.get("lattice", 0) + 1}
        phase = s.CompilingCheck() if event.planned else s.GeneratingStructure()
        return base.model_copy(update={"phase": phase, "passes": passes})
    if isinstance(event, ClaimsEdited):
        return base.model_copy(update={"phase": _reopened(base.phase, event.units)}) if event.units else state
    waits = isinstance(base.phase, s.SelectingFunction) and {*base.phase.progress.remaining}.intersection(event.units)
    if waits or (isinstance(state, s.Blocked) and state.reason == "hand_edit"):
        return base.model_copy(update={"phase": _without(base.phase, event.units)})
    return state


def _reopened(phase: s.SubState, units: Sequence[str]) -> s.SubState:
    """Return the phase in which some units are the next to be written."""
    progress = phase.progress if isinstance(phase, s.SelectingFunction) else s.Progress()
    left = (*units, *(unit for unit in progress.remaining if unit not in units))
    done = tuple(unit for unit in progress.completed if unit not in units)
    changed = {"remaining": left, "completed": done, "total": max(progress.total, len(left))}
    return s.SelectingFunction(progress=progress.model_copy(update=changed))


def _without(phase: s.SubState, units: Sequence[str]) -> s.SubState:
    """Return a phase in which some units are accepted."""
    if not isinstance(phase, s.SelectingFunction):
        return phase
    left = tuple(unit for unit in phase.progress.remaining if unit not in units)
    done = tuple(dict.fromkeys((*phase.progress.completed, *units)))
    return s.SelectingFunction(progress=phase.progress.model_copy(update={"remaining": left, "completed": done}))


def _blocked(state: s.Active, event: Event) -> s.Blocked:
    reason: s.BlockKind = "structural_defect"
    category, question = "structural_defect", ""
    options = _options(WAYS_OUT["blocked"])
    match event:
        case e.BlockRequested():
            reason, category, question = event.reason, event.reason, event.question
            options = _options(event.options)
        case EditRefused():
            reason = category = "hand_edit"
            question = f"{event.path}, as you changed it: {event.what}"
            options = _ways_out(event)
        case e.RepairsExhausted():
            question = "The skeleton does not compile after all repairs: " + "; ".join(event.errors[:5])
        case e.ContradictionsReported():
            reason = category = "unresolved_contradiction"
            question = "Confirmed decisions contradict each other: " + "; ".join(event.contradictions[:5])
            options = options[::-1]
        case e.TiersExhausted():
            reason = "security_review" if event.reason.startswith("security") else "circuit_breaker"
            category = reason
            question = f"No model could implement {event.unit}: {event.reason}"
        case _:
            question = f"{name_of(event)} in {where(state)}"
    prior = state
    if isinstance(state.phase, s.Escalating):
        # The unit goes back to the queue; how it was tried is not remembered.
        progress = state.phase.progress
        back = progress.model_copy(update={"remaining": (state.phase.function_id, *progress.remaining)})
        prior = state.model_copy(update={"phase": s.SelectingFunction(progress=back)})
    elif isinstance(state.phase, s.RepairingStructure):
        prior = state.model_copy(update={"phase": s.GeneratingStructure()})
    name = f"{category}_{sum(state.passes.values())}"
    query = s.HumanQuery(id=name, category=category, question=question, options=options)
    left, within = state.phase.phase, state.phase.type
    return s.Blocked(reason=reason, query=query, prior_phase=left, prior_sub_state=within, prior=prior)


def _ways_out(event: EditRefused) -> tuple[s.QueryOption, ...]:
    """Name what a person can do about an edit of theirs; to mend the file needs no option."""
    restore, model, contract = _options(WAYS_OUT["hand_edit"])
    model = model.model_copy(update={"units": tuple(event.units)})
    return (restore, model, contract) if event.units else (restore, contract)


def _options(told: Sequence[Mapping[str, Any]]) -> tuple[s.QueryOption, ...]:
    return tuple(map(s.QueryOption.model_validate, told))


def _resumed(state: s.Blocked, event: Event) -> s.Active:
    """Tell where a person's answer leads; what was going on before the block is not restored, but its place is."""
    assert isinstance(event, e.HumanResponded)
    passes = dict(state.prior.passes)
    phase = state.prior.phase
    if event.resumes == "prior":
        passes[phase.phase] = passes.get(phase.phase, 0) + 1
        if isinstance(phase, s.SelectingFunction):
            progress = phase.progress.model_copy(update={"pass_number": phase.progress.pass_number + 1})
            phase = s.SelectingFunction(progress=progress)
        elif isinstance(phase, s.ReportingContradictions):
            phase = s.Auditing()
        return s.Active(phase=phase, regressions=state.prior.regressions, passes=passes)
    passes[event.resumes] = passes.get(event.resumes, 0) + 1
    if event.resumes == "ignition":
        phase = s.Interviewing(open_questions=(f"resolution:{state.query.id}",))
    elif event.resumes == "lattice":
        phase = s.GeneratingStructure()
    else:
        phase = _reopened(phase, event.units)
    return s.Active(phase=phase, regressions=state.prior.regressions, passes=passes)


def _holds(guard: Guard, state: s.ProtocolState, event: Event, limits: MachineLimits) -> bool:
    if guard.type == "and":
        return all(_holds(inner, state, event, limits) for inner in guard.guards)
    if guard.type == "not":
        return not _holds(guard.guards[0], state, event, limits)
    if guard.type == "always":
        return True
    if guard.type in _FIELDS:
        return getattr(event, _FIELDS[guard.type], None) == (guard.argument or True)
    assert isinstance(state, s.Active)
    return _GUARDS[guard.type](state.phase, event, limits)


def _breaker(phase: Any, event: Any, limits: MachineLimits) -> bool:
    progress = phase.progress
    units = (*progress.remaining, *progress.completed, *progress.failed)
    return bool(tripped(units, progress.escalated, progress.failed, limits.breaker))


#: Guards that look at a field of the event.
_FIELDS = {"resumes": "resumes", "nextIs": "next", "planned": "planned"}
_GUARDS: dict[str, Callable[[Any, Any, MachineLimits], bool]] = {
    "lastQuestion": lambda phase, event, limits: event.last,
    "allModulesGenerated": lambda phase, event, limits: (
        {*phase.modules_generated, event.module["name"]} >= {*phase.modules_planned}
    ),
    "repairAttemptsExhausted": lambda phase, event, limits: phase.repair_attempt > phase.max_repair_attempts,
    "lastAuditor": lambda phase, event, limits: {*auditors_after(phase, event)} >= {*AUDITORS},
    "contradictionsFound": lambda phase, event, limits: bool(critical_after(phase, event)),
    "severitySimple": lambda phase, event, limits: phase.severity == "simple",
    "allFunctionsComplete": lambda phase, event, limits: not phase.progress.remaining,
    "circuitBreakerTripped": _breaker,
    "tierExhausted": lambda phase, event, limits: phase.to_tier is None,
    "lastCluster": lambda phase, event, limits: {*phase.tests_generated, event.cluster} >= set(event.clusters),
    "clusterPassed": lambda phase, event, limits: event.passed,
    "clustersRemain": lambda phase, event, limits: bool(phase.clusters_remaining),
    "violationsFound": lambda phase, event, limits: event.target is not None,
}
