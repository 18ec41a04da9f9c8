"""Telemetry and success metrics, folded from the journal: measured, or said not to be."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from criticality import events as e
from criticality.artifacts import Artifacts
from criticality.machine.states import Active, Blocked, Completed, ProtocolState
from criticality.project.journal import iso
from llm_runtime.events import Event, RunResumed


@dataclass(slots=True)
class Telemetry:
    """What was counted so far; times are milliseconds since the epoch."""

    started: int = 0
    last: int = 0
    by_phase: dict[str, int] = field(default_factory=dict[str, int])
    compilations: int = 0
    compiled: int = 0
    tests_run: int = 0
    resumes: int = 0

    def record(self, event: Event, at: int, phase: str) -> None:
        """Count an event that happened while ``phase`` went on."""
        if not self.started:
            self.started = self.last = at
        self.by_phase[phase] = self.by_phase.get(phase, 0) + max(0, at - self.last)
        self.last = max(self.last, at)
        match event:
            case e.CompileSucceeded() | e.CompileFailed():
                self.compilations += 1
                self.compiled += isinstance(event, e.CompileSucceeded)
            case e.VerificationPassed():
                self.tests_run += event.tests
            case e.ClusterExecuted():
                self.tests_run += event.tests_run
            case RunResumed():
                self.resumes += 1
            case _:
                return

    def summary(self, state: ProtocolState, artifacts: Artifacts) -> dict[str, Any]:
        """``telemetry.json``."""
        total = len(artifacts.functions)
        escalated = {event.unit for event in artifacts.escalations}
        usage = artifacts.usage
        return {
            "runId": f"{artifacts.name}-{artifacts.seed}",
            "projectName": artifacts.name,
            "startedAt": iso(self.started),
            "completedAt": iso(self.last) if isinstance(state, Completed) else None,
            "cost": {
                "totalTokensIn": sum(u.input_tokens for u in usage.values()),
                "totalTokensOut": sum(u.output_tokens for u in usage.values()),
                "totalUSD": sum(u.cost for u in usage.values()) / 1_000_000,
                "byModel": {
                    name: {"tokensIn": u.input_tokens, "tokensOut": u.output_tokens, "usd": u.cost / 1_000_000}
                    for name, u in sorted(usage.items())
                },
            },
            "duration": {"totalMs": self.last - self.started, "byPhase": self.by_phase},
            "quality": {
                "escalationRate": len(escalated) / total if total else 0.0,
                "circuitBreakerTriggers": _count(artifacts.blocks, e.TiersExhausted),
                "humanInterventions": _count(artifacts.blocks, e.HumanResponded),
            },
            "progress": {
                "phase": phase_of(state),
                "functionsTotal": total,
                "functionsComplete": len(artifacts.functions.keys() & artifacts.bodies.keys()),
                "testsTotal": self.tests_run,
                "testsPassing": self.tests_run - sum(x.tests_failed for x in artifacts.executions),
            },
        }

    def metrics(self, artifacts: Artifacts) -> dict[str, Any]:
        """Success metrics; ``None`` is "not measured", never "met" (CT15)."""
        total = len(artifacts.functions)
        to_structurer = {x.unit for x in artifacts.escalations if x.to_tier == "fallback1"}
        to_architect = {x.unit for x in artifacts.escalations if x.to_tier == "fallback2"}
        lines = artifacts.metrics.get("lines")
        cost = sum(u.cost for u in artifacts.usage.values()) / 1_000_000
        last = {x.cluster: x for x in artifacts.executions}
        ran = sum(x.tests_run for x in last.values())
        return {
            "correctness": {
                "compilationRate": self.compiled / self.compilations if self.compilations else None,
                "testPassRate": 1 - sum(x.tests_failed for x in last.values()) / ran if ran else None,
                "securityVulnerabilities": artifacts.metrics.get("security"),
            },
            "efficiency": {
                "costPer1KLOC": round(cost / lines * 1000, 6) if lines else None,
                "timePer1KLOC": round((self.last - self.started) / lines) if lines else None,
                "escalationToStructurerModel": len(to_structurer) / total if total else None,
                "escalationToArchitectModel": len(to_architect) / total if total else None,
            },
            "reliability": {
                "mtbf": None,
                "recoveryRate": None if not self.resumes else 1.0,
                "humanInterventionRate": 1.0 if _count(artifacts.blocks, e.HumanResponded) else 0.0,
            },
            "quality": {name: artifacts.metrics.get(name) for name in ("avgCyclomaticComplexity", "testCoverage")},
        }


def _count(events: Iterable[Event], kind: type[Event]) -> int:
    return sum(isinstance(event, kind) for event in events)


def phase_of(state: ProtocolState) -> str:
    """Return the phase a project is in, or was in when it was blocked."""
    match state:
        case Active():
            return state.phase.phase
        case Blocked():
            return state.prior_phase
        case _:
            return "completed"
