"""The Decision Ledger (CT7): operations that are only ever appended, and their fold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from criticality import events as e
from criticality.order import resting_on
from criticality.project.journal import iso
from llm_runtime.events import Event
from llm_runtime.models import Model
from llm_runtime.toml import own_table

_TITLES: dict[str, str] = own_table("criticality", "words.toml")["decisions"]

Confidence: TypeAlias = Literal["canonical", "delegated", "inferred", "provisional"]
Status: TypeAlias = Literal["active", "superseded", "invalidated", "suspended"]


class Decision(Model):
    """One decision. ``rationale`` and ``failure_context`` are for people and never reach a prompt."""

    id: str
    timestamp: str
    category: str
    constraint: str
    source: str
    confidence: Confidence
    phase: str
    dependencies: list[str] = []
    supersedes: str = ""
    rationale: str = ""
    failure_context: str = ""
    user_notes: str = ""


class LedgerStep(Model):
    """One line of the ledger: what happened to a decision."""

    op: Literal["append", "supersede", "invalidate", "cascade", "reinstate"]
    id: str
    timestamp: str
    decision: Decision | None = None
    reason: str = ""


@dataclass(slots=True)
class Ledger:
    """All operations so far; what stands is computed from them."""

    operations: list[LedgerStep] = field(default_factory=list[LedgerStep])

    def statuses(self) -> dict[str, Status]:
        """Return the status of each decision, in the order they were made."""
        status: dict[str, Status] = {}
        for op in self.operations:
            match op.op:
                case "append" | "reinstate":
                    status[op.id] = "active"
                case "supersede":
                    assert op.decision is not None
                    status[op.decision.supersedes] = "superseded"
                    status[op.id] = "active"
                case "invalidate":
                    status[op.id] = "invalidated"
                case "cascade":
                    rest_on = {decision.id: decision.dependencies for decision in self.decisions().values()}
                    for name in resting_on(rest_on, [op.id]) - {op.id}:
                        if status.get(name) == "active":
                            status[name] = "suspended"
        return status

    def decisions(self) -> dict[str, Decision]:
        """Return every decision by id."""
        return {op.id: op.decision for op in self.operations if op.decision is not None}

    def standing(self, confidence: Confidence | None = None) -> list[Decision]:
        """Decisions that hold."""
        statuses = self.statuses()
        active = [decision for name, decision in self.decisions().items() if statuses[name] == "active"]
        return [one for one in active if confidence in (None, one.confidence)]

    def for_prompt(self) -> str:
        """Return what a phase is told: constraints with their ids, and nothing of why."""
        told: dict[str, list[str]] = {title: [] for title in _TITLES}
        statuses = self.statuses()
        for name, decision in self.decisions().items():
            status = statuses[name]
            if status in ("active", "suspended"):
                title = decision.confidence if status == "active" else status
                told[title].append(f"- {decision.constraint} [{name}]")
        return "\n\n".join("\n".join([f"{_TITLES[one]}:", *lines]) for one, lines in told.items() if lines)

    def record(self, event: Event, at: int) -> None:
        """Append what an event means for the ledger."""
        stamp = iso(at)
        match event:
            case e.QuestionAnswered() if event.answer.strip():
                self._answered(event, stamp)
            case e.Delegated():
                text = "Design preferences delegated to Architect judgment"
                self._append(
                    stamp, "architectural", text, "user_explicit", "canonical", "ignition", user_notes=event.notes
                )
            case e.DecisionAppended():
                self._append(
                    stamp, event.category, event.constraint, event.agent, event.confidence, event.phase,
                    rationale=event.rationale, dependencies=event.dependencies, supersedes=event.supersedes,
                )  # fmt: skip
            case e.ProposalMade():
                self._chosen(event, stamp)
            case e.Approved():
                for condition in event.conditions:
                    self._append(stamp, "constraint", condition, "user_explicit", "provisional", "ignition")
            case e.ContradictionsReported():
                self.drop_provisional(stamp, "the audit went back to Ignition")
            case e.VerdictHandled() if not event.passed:
                claims = ", ".join(event.violated_claims)
                self._append(
                    stamp, "testing", f"These claims were violated once and must hold: {claims}",
                    "mesoscopic_failure", "inferred", "mesoscopic",
                )  # fmt: skip
                self.drop_provisional(stamp, "a cluster failed")
            case e.SemanticsBroken():
                self._append(
                    stamp, "refactoring", f"{event.pattern} is not applied to {event.function}",
                    "transform_failure", "inferred", "massDefect", failure_context=event.reason,
                )  # fmt: skip
            case e.HumanResponded():
                text = f"Resolved {event.query}: {event.label or event.option}"
                text += f" ({event.text})" if event.text else ""
                self._append(stamp, "blocking", text, "user_explicit", "canonical", "blocked")
            case _:
                pass

    def drop_provisional(self, stamp: str, reason: str) -> None:
        """Provisional decisions fall when a phase goes back, and what rests on them is suspended."""
        for decision in self.standing("provisional"):
            self._end("invalidate", decision.id, stamp, reason)
            self._end("cascade", decision.id, stamp, reason)

    def _answered(self, event: e.QuestionAnswered, stamp: str) -> None:
        kind = event.question.partition(":")[0]
        source = "auditor_contradiction" if kind in ("contradiction", "resolution") else "user_explicit"
        constraint = event.answer if kind != "feature" else f"{event.question.partition(':')[2]}: {event.answer}"
        earlier = (d.id for d in self.standing("canonical") if d.rationale == event.text)
        self._append(
            stamp, event.interview_phase, constraint, source, "canonical", "ignition", rationale=event.text,
            supersedes=next(earlier, "") if event.corrects else "",
        )  # fmt: skip

    def _chosen(self, event: e.ProposalMade, stamp: str) -> None:
        """Let the architect's choices of an earlier proposal give way to those of the new one."""
        old = {d.constraint for d in self.standing("delegated")}
        new = [str(d["text"]) for d in event.decisions]
        for decision in self.standing("delegated"):
            if decision.constraint not in new:
                self._end("invalidate", decision.id, stamp, f"not in proposal {event.version}")
        for text in new:
            if text not in old:
                self._append(stamp, "architectural", text, "architect", "delegated", "ignition")

    def _append(
        self, stamp: str, category: str, constraint: str, source: str, confidence: Confidence, phase: str, *,
        supersedes: str = "", **more: Any,
    ) -> None:  # fmt: skip
        name = f"d{len(self.decisions()) + 1:03d}"
        decision = Decision(
            id=name, timestamp=stamp, category=category, constraint=" ".join(constraint.split()), source=source,
            confidence=confidence, phase=phase, supersedes=supersedes, **more,
        )  # fmt: skip
        op = "supersede" if supersedes else "append"
        self.operations.append(LedgerStep(op=op, id=name, timestamp=stamp, decision=decision))

    def _end(self, op: Literal["invalidate", "cascade"], name: str, stamp: str, reason: str) -> None:
        self.operations.append(LedgerStep(op=op, id=name, timestamp=stamp, reason=reason))
