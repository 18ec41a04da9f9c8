"""With what data each sub-state is entered: one small function a target of the table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar

from criticality import events as e
from criticality.machine import states as s
from criticality.machine.breaker import BreakerLimits
from criticality.wire import CamelCase
from llm_runtime.models import Model

_State = TypeVar("_State", bound=CamelCase)


class MachineLimits(Model):
    """Numbers that guards look at."""

    breaker: BreakerLimits = BreakerLimits()
    max_repair_attempts: int = 3


def _on(state: type[_State], phase: Any, **changes: Any) -> _State:
    """Return a sub-state that goes on with what it shares with the one before, but for the changes."""
    kept = {name: value for name, value in phase if name in state.model_fields and name not in ("phase", "type")}
    return state(**kept | changes)


def auditors_after(phase: Any, event: Any) -> tuple[str, ...]:
    """Auditors that are done, with the one that the event is of."""
    done = phase.auditors_completed
    return (*done, event.auditor) if isinstance(event, e.AuditorCompleted) else done


def critical_after(phase: Any, event: Any) -> tuple[str, ...]:
    """Contradictions that stand after the event."""
    if not isinstance(event, e.AuditorCompleted):
        return phase.critical
    return tuple(i for i in dict.fromkeys((*phase.critical, *event.critical)) if i not in event.dismissed)


def _interviewing(phase: Any, event: Any, limits: MachineLimits) -> s.Interviewing:
    match event:
        case e.QuestionAnswered():
            left = tuple(q for q in phase.open_questions if q != event.question)
            answered = phase.question_index + 1
            return _on(
                s.Interviewing, phase,
                interview_phase=event.interview_phase, question_index=answered, open_questions=left,
            )  # fmt: skip
        case e.Revised():
            return s.Interviewing(interview_phase=event.interview_phase, open_questions=(f"revision:{event.version}",))
        case e.ContradictionsReported():
            asked = tuple(f"contradiction:{one}" for one in phase.contradictions)
            return s.Interviewing(interview_phase="constraints", open_questions=asked)
        case e.Rejected():
            return s.Interviewing()
        case _:
            return phase


def _synthesizing(phase: Any, event: Any, limits: MachineLimits) -> s.Synthesizing:
    match event:
        case e.ProposalMade():
            return phase.model_copy(update={"proposal_version": event.version, "proposed": True})
        case e.AuditorChallenged():
            return phase.model_copy(update={"proposed": False, "challenges": phase.challenges + 1})
        case _:
            return s.Synthesizing()


def _generating(phase: Any, event: Any, limits: MachineLimits) -> s.GeneratingStructure:
    match event:
        case e.StructurePlanned():
            return s.GeneratingStructure(modules_planned=tuple(m["name"] for m in event.modules))
        case e.ModuleGenerated():
            return phase.model_copy(update={"modules_generated": (*phase.modules_generated, event.module["name"])})
        case _:
            return s.GeneratingStructure()


def _repairing(phase: Any, event: Any, limits: MachineLimits) -> s.RepairingStructure:
    most = limits.max_repair_attempts
    errors, attempt = tuple(event.errors), phase.compile_attempt
    return s.RepairingStructure(errors=errors, repair_attempt=attempt, max_repair_attempts=most)


def _auditing(phase: Any, event: Any, limits: MachineLimits) -> s.Auditing:
    if not isinstance(event, e.AuditorCompleted):
        return s.Auditing()
    return s.Auditing(auditors_completed=auditors_after(phase, event), critical=critical_after(phase, event))


def _reporting(phase: Any, event: Any, limits: MachineLimits) -> s.ReportingContradictions:
    severity: Literal["simple", "complex"] = "complex" if event.canonical_decisions >= 2 else "simple"
    return s.ReportingContradictions(contradictions=critical_after(phase, event), severity=severity)


def _selecting(phase: Any, event: Any, limits: MachineLimits) -> s.SelectingFunction:
    match event:
        case e.VerificationPassed():
            progress = phase.progress.model_copy(update={"completed": (*phase.progress.completed, event.unit)})
            return s.SelectingFunction(progress=progress)
        case e.CalleeBlamed() | e.TestSuspected():
            left, done = (tuple(u for u in units if u not in event.units) for units in (
                phase.progress.remaining, phase.progress.completed
            ))  # fmt: skip
            changed = {"remaining": (*event.units, *left), "completed": done}
            return s.SelectingFunction(progress=phase.progress.model_copy(update=changed))
        case e.TestsGenerated() | e.VerdictHandled():
            return s.SelectingFunction(progress=s.Progress(remaining=tuple(event.units), total=len(event.units)))
        case _:
            return phase


def _implementing(phase: Any, event: Any, limits: MachineLimits) -> s.Implementing:
    match event:
        case e.FunctionSelected():
            left = tuple(unit for unit in phase.progress.remaining if unit != event.unit)
            progress = phase.progress.model_copy(update={"remaining": left})
            return s.Implementing(function_id=event.unit, current_tier=event.tier, progress=progress)
        case e.Escalated():
            progress = phase.progress
            up = tuple(dict.fromkeys((*progress.escalated, event.unit)))
            top = dict.fromkeys((*progress.reached_architect, *([event.unit] if event.to_tier == "fallback2" else ())))
            progress = progress.model_copy(update={"escalated": up, "reached_architect": tuple(top)})
            total = phase.total_attempts + 1
            return _on(s.Implementing, phase, current_tier=event.to_tier, total_attempts=total, progress=progress)
        case _:
            in_tier, total = phase.attempt_in_tier + 1, phase.total_attempts + 1
            return _on(s.Implementing, phase, attempt_in_tier=in_tier, total_attempts=total)


def _escalating(phase: Any, event: Any, limits: MachineLimits) -> s.Escalating:
    tiers = {"from_tier": phase.current_tier, "to_tier": event.to_tier}
    return _on(s.Escalating, phase, **tiers, failure_type=event.failure["kind"])


def _testing(phase: Any, event: Any, limits: MachineLimits) -> s.GeneratingTests:
    if isinstance(event, e.ClusterTestsGenerated):
        generated = (*phase.tests_generated, event.cluster)
        return s.GeneratingTests(clusters=tuple(event.clusters), tests_generated=generated)
    return s.GeneratingTests()


def _executing(phase: Any, event: Any, limits: MachineLimits) -> s.ExecutingCluster:
    if isinstance(event, e.ClusterTestsGenerated):
        return s.ExecutingCluster(cluster_id=event.clusters[0], clusters_remaining=tuple(event.clusters[1:]))
    return s.ExecutingCluster(cluster_id=phase.clusters_remaining[0], clusters_remaining=phase.clusters_remaining[1:])


def _analyzing(phase: Any, event: Any, limits: MachineLimits) -> s.AnalyzingComplexity:
    return s.AnalyzingComplexity(applied=getattr(phase, "applied", 0) + isinstance(event, e.SemanticsVerified))


def _applying(phase: Any, event: Any, limits: MachineLimits) -> s.ApplyingTransform:
    of = event.target
    names = {"target_function": of["function"], "pattern_id": of["pattern"]}
    return _on(s.ApplyingTransform, phase, **names, smell=of["smell"], risk=of["risk"])


#: The sub-state that each target of the table is entered with.
BUILD: dict[str, Callable[[Any, Any, MachineLimits], Any]] = {
    "ignition.interviewing": _interviewing,
    "ignition.synthesizing": _synthesizing,
    "ignition.awaitingApproval": lambda phase, event, limits: s.AwaitingApproval(
        proposal_version=event.version, proposal_path=f".criticality/interview/proposals/v{event.version}.toml"
    ),
    "lattice.generatingStructure": _generating,
    "lattice.compilingCheck": lambda phase, event, limits: s.CompilingCheck(
        compile_attempt=getattr(phase, "repair_attempt", 0) + 1
    ),
    "lattice.repairingStructure": _repairing,
    "compositionAudit.auditing": _auditing,
    "compositionAudit.reportingContradictions": _reporting,
    "injection.selectingFunction": _selecting,
    "injection.implementing": _implementing,
    "injection.verifying": lambda phase, event, limits: _on(s.Verifying, phase),
    "injection.escalating": _escalating,
    "mesoscopic.generatingTests": _testing,
    "mesoscopic.executingCluster": _executing,
    "mesoscopic.handlingVerdict": lambda phase, event, limits: _on(
        s.HandlingVerdict, phase, violated_claims=tuple(event.violated_claims)
    ),
    "massDefect.analyzingComplexity": _analyzing,
    "massDefect.applyingTransform": _applying,
    "massDefect.verifyingSemantics": lambda phase, event, limits: _on(s.VerifyingSemantics, phase),
}
