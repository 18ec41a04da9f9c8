"""What the phases and states of a build are called, and what each is for, in words for whoever never saw one."""

from __future__ import annotations

from criticality.machine.states import PHASES

PHASE_NAMES = {
    "ignition": "Ignition",
    "lattice": "Lattice",
    "compositionAudit": "Composition Audit",
    "injection": "Injection",
    "mesoscopic": "Joint Tests",
    "massDefect": "Simplification",
}
PURPOSES = {
    "ignition": "A person is asked; an architect proposes; an auditor objects; the person approves.",
    "lattice": "Modules, signatures and contracts, without any logic: a skeleton that type-checks.",
    "compositionAudit": "Do the contracts fit together? Then tests are made, and every one fails on the skeleton.",
    "injection": "Function by function, a model writes a body; only what passes its tests is kept.",
    "mesoscopic": "The claims are tested where functions meet, cluster by cluster.",
    "massDefect": "What works is made simpler, one small step at a time, and tested after each.",
}
STATES: dict[str, tuple[tuple[str, str], ...]] = {
    "ignition": (
        ("interviewing", "interview"), ("synthesizing", "proposal"), ("awaitingApproval", "approval"),
    ),
    "lattice": (
        ("generatingStructure", "structure"), ("compilingCheck", "type check"), ("repairingStructure", "repair"),
    ),
    "compositionAudit": (("auditing", "audit"), ("reportingContradictions", "conflicts")),
    "injection": (
        ("selectingFunction", "select"), ("implementing", "write"), ("verifying", "verify"),
        ("escalating", "escalate"),
    ),
    "mesoscopic": (
        ("generatingTests", "make tests"), ("executingCluster", "run tests"), ("handlingVerdict", "verdict"),
    ),
    "massDefect": (
        ("analyzingComplexity", "measure"), ("applyingTransform", "simplify"), ("verifyingSemantics", "verify"),
    ),
}  # fmt: skip
TIERS = {"worker": "worker", "fallback1": "structurer", "fallback2": "architect", "hand": "you"}
"""Who writes a body: the cheapest model first, then those that know more (specification, escalation)."""


AUDITORS = {
    "checks": "checks without a model",
    "temporal": "temporal order",
    "resource": "resources",
    "invariant": "invariants",
    "precondition": "preconditions",
    "postcondition": "postconditions",
    "crossVerification": "the architect's second look",
}


def place_name(place: str) -> str:
    """``"injection.verifying"`` for people: ``"Injection, verify"``."""
    phase, _, state = place.partition(".")
    if phase not in PHASES:
        return {"blocked": "waiting for a decision", "completed": "finished"}.get(phase, phase)
    return f"{PHASE_NAMES[phase]}, {dict(STATES[phase]).get(state, state)}"
