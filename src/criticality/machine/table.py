"""The transitions as data, row by row (specification, section 9.4 "Transition Definitions"; CT3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

GuardName: TypeAlias = Literal[
    "always", "lastQuestion", "allModulesGenerated", "repairAttemptsExhausted", "lastAuditor", "contradictionsFound",
    "severitySimple", "allFunctionsComplete", "circuitBreakerTripped", "tierExhausted", "nextIs", "lastCluster",
    "clusterPassed", "clustersRemain", "violationsFound", "planned", "resumes", "and", "not",
]  # fmt: skip
ActionName: TypeAlias = Literal[
    "destroyContext", "archiveArtifacts", "persistCheckpoint", "sendNotification", "recordDecision"
]


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition on state and event; ``argument`` and ``guards`` are what it is about."""

    type: GuardName
    argument: str = ""
    guards: tuple[Guard, ...] = ()


@dataclass(frozen=True, slots=True)
class Action:
    """A side effect that follows an advance; ``argument`` says on what."""

    type: ActionName
    argument: str = ""


@dataclass(frozen=True, slots=True)
class Transition:
    """One row. ``source`` and ``target`` are ``phase.subState``, ``active`` (any), ``blocked`` or ``completed``."""

    source: str
    event: str
    target: str
    guard: Guard = Guard("always")
    actions: tuple[Action, ...] = ()


def _both(*guards: Guard) -> Guard:
    return Guard("and", guards=guards)


def _not(guard: Guard) -> Guard:
    return Guard("not", guards=(guard,))


_TRIPPED = Guard("circuitBreakerTripped")
_PHASE_CHANGE = (
    Action("destroyContext"),
    Action("persistCheckpoint"),
    Action("sendNotification", "phase_change"),
)
_RECORD = Action("recordDecision")
_BACK = (*_PHASE_CHANGE, _RECORD, Action("archiveArtifacts", "lattice"))
_BLOCK = (Action("persistCheckpoint"), Action("sendNotification", "block"))

# One row a line reads like the diagram; the longest are longer than elsewhere.
# ruff: noqa: E501
#: In the order in which guards are tried.
TRANSITIONS: tuple[Transition, ...] = (
    # Ignition
    Transition("ignition.interviewing", "features_proposed", "ignition.interviewing"),
    Transition("ignition.interviewing", "question_answered", "ignition.synthesizing", Guard("lastQuestion")),
    Transition("ignition.interviewing", "question_answered", "ignition.interviewing"),
    Transition("ignition.interviewing", "delegated", "ignition.synthesizing", actions=(_RECORD,)),
    Transition("ignition.synthesizing", "proposal_made", "ignition.synthesizing"),
    Transition("ignition.synthesizing", "auditor_challenged", "ignition.synthesizing"),
    Transition("ignition.synthesizing", "synthesis_completed", "ignition.awaitingApproval"),
    Transition(
        "ignition.awaitingApproval", "approved", "lattice.generatingStructure",
        actions=(*_PHASE_CHANGE, _RECORD, Action("archiveArtifacts", "interview")),
    ),
    Transition("ignition.awaitingApproval", "revised", "ignition.interviewing"),
    Transition("ignition.awaitingApproval", "rejected", "ignition.interviewing", actions=(Action("destroyContext"),)),
    # Lattice
    Transition("lattice.generatingStructure", "structure_planned", "lattice.generatingStructure"),
    Transition(
        "lattice.generatingStructure", "module_generated", "lattice.compilingCheck", Guard("allModulesGenerated")
    ),
    Transition("lattice.generatingStructure", "module_generated", "lattice.generatingStructure"),
    Transition("lattice.compilingCheck", "compile_succeeded", "compositionAudit.auditing", actions=_PHASE_CHANGE),
    Transition("lattice.compilingCheck", "compile_failed", "lattice.repairingStructure"),
    Transition(
        "lattice.repairingStructure", "repairs_exhausted", "blocked", Guard("repairAttemptsExhausted"), _BLOCK
    ),
    Transition(
        "lattice.repairingStructure", "structure_repaired", "lattice.compilingCheck",
        _not(Guard("repairAttemptsExhausted")),
    ),
    # Composition Audit
    Transition(
        "compositionAudit.auditing", "auditor_completed", "compositionAudit.reportingContradictions",
        _both(Guard("lastAuditor"), Guard("contradictionsFound")),
    ),
    Transition("compositionAudit.auditing", "auditor_completed", "compositionAudit.auditing"),
    Transition(
        "compositionAudit.auditing", "tests_generated", "injection.selectingFunction",
        _both(Guard("lastAuditor"), _not(Guard("contradictionsFound"))), _PHASE_CHANGE,
    ),
    Transition(
        "compositionAudit.reportingContradictions", "contradictions_reported", "ignition.interviewing",
        Guard("severitySimple"), _BACK,
    ),
    Transition(
        "compositionAudit.reportingContradictions", "contradictions_reported", "blocked",
        _not(Guard("severitySimple")), _BLOCK,
    ),
    # Injection
    Transition("injection.selectingFunction", "function_selected", "lattice.generatingStructure", _TRIPPED, _BACK),
    Transition("injection.selectingFunction", "function_selected", "injection.implementing"),
    Transition("injection.selectingFunction", "no_functions_remaining", "lattice.generatingStructure", _TRIPPED, _BACK),
    Transition(
        "injection.selectingFunction", "no_functions_remaining", "mesoscopic.generatingTests",
        Guard("allFunctionsComplete"), _PHASE_CHANGE,
    ),
    Transition("injection.implementing", "implementation_received", "injection.verifying"),
    Transition(
        "injection.verifying", "verification_passed", "injection.selectingFunction",
        actions=(Action("destroyContext"),),
    ),
    Transition(
        "injection.verifying", "verification_failed", "injection.implementing", Guard("nextIs", "retry"),
        (Action("destroyContext"),),
    ),
    Transition(
        "injection.verifying", "callee_blamed", "injection.selectingFunction", actions=(Action("destroyContext"),)
    ),
    Transition(
        "injection.verifying", "test_suspected", "injection.selectingFunction", actions=(Action("destroyContext"),)
    ),
    Transition("injection.verifying", "verification_failed", "lattice.generatingStructure", Guard("nextIs", "lattice"), _BACK),
    Transition("injection.verifying", "verification_failed", "injection.escalating"),
    Transition(
        "injection.escalating", "escalated", "injection.implementing", _not(Guard("tierExhausted")),
        (Action("destroyContext"),),
    ),
    Transition("injection.escalating", "tiers_exhausted", "blocked", Guard("tierExhausted"), _BLOCK),
    # Mesoscopic
    Transition("mesoscopic.generatingTests", "cluster_tests_generated", "mesoscopic.executingCluster", Guard("lastCluster")),
    Transition("mesoscopic.generatingTests", "cluster_tests_generated", "mesoscopic.generatingTests"),
    Transition("mesoscopic.executingCluster", "cluster_executed", "mesoscopic.handlingVerdict"),
    Transition(
        "mesoscopic.handlingVerdict", "verdict_handled", "mesoscopic.executingCluster",
        _both(Guard("clusterPassed"), Guard("clustersRemain")),
    ),
    Transition(
        "mesoscopic.handlingVerdict", "verdict_handled", "massDefect.analyzingComplexity", Guard("clusterPassed"),
        _PHASE_CHANGE,
    ),
    Transition(
        "mesoscopic.handlingVerdict", "verdict_handled", "injection.selectingFunction", _not(Guard("clusterPassed")),
        (*_PHASE_CHANGE, _RECORD),
    ),
    # Mass Defect
    Transition(
        "massDefect.analyzingComplexity", "complexity_analyzed", "massDefect.applyingTransform", Guard("violationsFound")
    ),
    Transition(
        "massDefect.analyzingComplexity", "complexity_analyzed", "completed",
        actions=(Action("destroyContext"), Action("persistCheckpoint"), Action("sendNotification", "complete")),
    ),
    Transition("massDefect.applyingTransform", "transform_applied", "massDefect.verifyingSemantics"),
    Transition("massDefect.applyingTransform", "transform_skipped", "massDefect.analyzingComplexity"),
    Transition("massDefect.verifyingSemantics", "semantics_verified", "massDefect.analyzingComplexity"),
    Transition(
        "massDefect.verifyingSemantics", "semantics_broken", "massDefect.analyzingComplexity", actions=(_RECORD,)
    ),
    # Anywhere, and out of a block
    Transition("active", "block_requested", "blocked", actions=_BLOCK),
    *(
        Transition(source, event, target, guard, actions)
        for source in ("active", "blocked", "completed")
        for event, target, guard, actions in (
            ("spec_edited", "lattice.compilingCheck", Guard("planned"), _BACK),
            ("spec_edited", "lattice.generatingStructure", Guard("always"), _BACK),
            ("edit_refused", "blocked", Guard("always"), _BLOCK),
            ("body_edited", "prior", Guard("always"), ()),
            ("claims_edited", "prior", Guard("always"), ()),
        )
    ),
    Transition("blocked", "human_responded", "prior", Guard("resumes", "prior"), (_RECORD,)),
    Transition("blocked", "human_responded", "ignition.interviewing", Guard("resumes", "ignition"), (_RECORD,)),
    Transition("blocked", "human_responded", "lattice.generatingStructure", Guard("resumes", "lattice"), (_RECORD,)),
    Transition("blocked", "human_responded", "injection.selectingFunction", Guard("resumes", "injection"), (_RECORD,)),
)  # fmt: skip

#: The auditors in their order: checks without a model first, then the five, then the architect's second look.
AUDITORS = (
    "checks", "temporal", "resource", "invariant", "precondition", "postcondition", "crossVerification",
)  # fmt: skip
