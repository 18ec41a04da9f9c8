"""What a project has come to: one fold over its journal. Everything on disk is made from this."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from criticality import events as e
from criticality.canonical import pretty
from criticality.edits import BodyEdited, ClaimsEdited, EditRefused, FilesKept, SpecEdited
from criticality.labels import InterviewPhase
from criticality.lattice_plan import FunctionPlan, ModulePlan, index
from criticality.spec.claims import StructuredClaim
from criticality.spec.spec import Spec
from llm_runtime.events import CallFailed, CallFinished, Event
from llm_runtime.store.tally import Tally
from llm_runtime.structs import Struct

_T = TypeVar("_T")
#: Events after which other sources and tests follow from the plan.
_PLANS = (
    e.Approved, ClaimsEdited, SpecEdited, e.StructurePlanned, e.ModuleGenerated, e.StructureRepaired,
    e.TestsGenerated, e.ClusterTestsGenerated, e.VerdictHandled, e.TestSuspected,
)  # fmt: skip


class InterviewAnswer(Struct):
    """One answer of the interview."""

    question: str
    text: str
    answer: str
    phase: InterviewPhase


class Body(Struct):
    """An accepted body.

    Args:
        key: digest of all that its prompt held; a body is good as long as that has not changed.
        declarations: private functions and constants that a transformation put before the function.
    """

    text: str
    key: str = ""
    tier: str = "worker"
    attempts: int = 1
    declarations: str = ""

    def transformed(self, applied: e.TransformApplied) -> Body:
        """Return what a transformation makes of it."""
        return replace(self, text=applied.body, declarations=self.declarations + applied.declarations)


def bodies_of(texts: Mapping[str, str]) -> dict[str, Body]:
    """Return texts by function as bodies that are not accepted."""
    return {name: Body(text) for name, text in texts.items()}


def _dict() -> dict[Any, Any]:
    return {}


def _list() -> list[Any]:
    return []


@dataclass(slots=True)
class Artifacts:
    """The fold's value. Fields are named for what they hold; see the events that fill them."""

    name: str = ""
    seed: int = 0
    answers: list[InterviewAnswer] = field(default_factory=_list)
    delegated_after: str = ""
    notes: str = ""
    features: list[dict[str, Any]] = field(default_factory=_list)
    features_asked: bool = False
    proposals: dict[int, e.ProposalMade] = field(default_factory=_dict)
    challenges: list[str] = field(default_factory=_list)
    feedback: dict[int, str] = field(default_factory=_dict)
    approvals: dict[int, e.Approved] = field(default_factory=_dict)
    spec: Spec | None = None
    revision: int = 0
    outlines: list[dict[str, Any]] = field(default_factory=_list)
    modules: dict[str, ModulePlan] = field(default_factory=_dict)
    order: list[list[str]] = field(default_factory=_list)
    contradictions: list[dict[str, Any]] = field(default_factory=_list)
    claims: dict[str, StructuredClaim] = field(default_factory=_dict)
    waived: dict[str, str] = field(default_factory=_dict)
    left_out: list[str] = field(default_factory=_list)
    bodies: dict[str, Body] = field(default_factory=_dict)
    cases: dict[str, list[list[Any]]] = field(default_factory=_dict)
    pinned: dict[str, list[Any]] = field(default_factory=_dict)
    settled: dict[str, list[str]] = field(default_factory=_dict)
    left_open: dict[str, list[dict[str, str]]] = field(default_factory=_dict)
    measured: dict[str, dict[str, Any]] = field(default_factory=_dict)
    waiting: dict[str, e.ImplementationReceived] = field(default_factory=_dict)
    reopened: dict[str, list[str]] = field(default_factory=_dict)
    blamed: dict[tuple[str, str], int] = field(default_factory=_dict)
    suspected: dict[str, int] = field(default_factory=_dict)
    failures: list[e.VerificationFailed] = field(default_factory=_list)
    escalations: list[e.Escalated] = field(default_factory=_list)
    clusters: dict[str, e.ClusterTestsGenerated] = field(default_factory=_dict)
    executions: list[e.ClusterExecuted] = field(default_factory=_list)
    transforms: list[Event] = field(default_factory=_list)
    attempted: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    transforming: e.TransformApplied | None = None
    metrics: dict[str, Any] = field(default_factory=_dict)
    blocks: list[Event] = field(default_factory=_list)
    usage: dict[str, Tally] = field(default_factory=_dict)
    refused: dict[str, str] = field(default_factory=_dict)
    by_hand: dict[str, None] = field(default_factory=_dict)
    archive: dict[str, str] = field(default_factory=_dict)
    _made: dict[Any, Any] = field(default_factory=_dict)

    @property
    def approved(self) -> Spec:
        """The specification, where nothing goes on without one."""
        assert self.spec is not None
        return self.spec

    @property
    def plan(self) -> tuple[ModulePlan, ...]:
        """The modules, in the order of the outline."""
        return tuple(self.modules[o["name"]] for o in self.outlines if o["name"] in self.modules)

    @property
    def functions(self) -> dict[str, tuple[ModulePlan, FunctionPlan]]:
        """Every function by id."""
        return index(self.plan)

    def once(self, key: str, make: Callable[[], _T]) -> _T:
        """Make what follows from specification, plan, claims and clusters once, until one of them changes."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def apply(self, event: Event) -> None:
        """Take one event in."""
        if isinstance(event, _PLANS):
            self._made = {}
        match event:
            case CallFinished():
                self._call(event.reply["model"], event)
            case CallFailed():
                self._call((event.partial or {}).get("model", event.model), event)
            case e.ProjectCreated():
                self.name, self.seed = event.name, event.seed
            case e.QuestionAnswered():
                answer = InterviewAnswer(event.question, event.text, event.answer, event.interview_phase)
                if event.corrects:
                    self.answers = [answer if a.question == event.question else a for a in self.answers]
                else:
                    self.answers.append(answer)
            case e.Delegated():
                self.delegated_after, self.notes = event.after, event.notes
            case e.FeaturesProposed():
                self.features, self.features_asked = event.features, True
            case e.ProposalMade():
                self.proposals[event.version] = event
            case e.AuditorChallenged():
                self.challenges = event.challenges
            case e.SynthesisCompleted():
                self.challenges = []
            case e.Revised():
                self.feedback[event.version] = event.feedback
            case e.Rejected():
                self.answers, self.features, self.features_asked = [], [], False
                self.delegated_after = self.notes = ""
            case e.Approved():
                self._approved(event)
            case _:
                self._apply_later(event)

    def _apply_later(self, event: Event) -> None:
        match event:
            case e.StructurePlanned():
                self._shelve("lattice", [m.model_dump() for m in self.plan])
                self.outlines, self.modules = event.modules, {}
            case e.ModuleGenerated():
                self._module(event.module)
            case e.StructureRepaired():
                for module in event.modules:
                    self._module(module)
            case e.CompileSucceeded():
                self.order = event.order
                self.contradictions = []
            case e.AuditorCompleted():
                self.contradictions += event.contradictions
                for contradiction in self.contradictions:
                    known = contradiction.get("dismissed", False)
                    contradiction["dismissed"] = known or contradiction["id"] in event.dismissed
            case e.TestsGenerated():
                self.claims = {c["id"]: StructuredClaim.model_validate(c) for c in event.claims}
                self.waived, self.left_out = event.waived, event.left_out
                self.clusters = {}
            case e.VerificationPassed():
                self._accepted(event)
            case e.VerificationFailed():
                self.failures.append(event)
                self.waiting.pop(event.unit, None)
                self._settle(event.settled)
                # What a body was refused for, every later one is tried with; and a person's tests hold it.
                for name, args in event.failure.get("cases", ()):
                    self.pinned.setdefault(name, []).append(args)
            case e.CalleeBlamed() | e.TestSuspected():
                self._reopened(event)
            case e.Escalated():
                self.escalations.append(event)
            case e.ClusterTestsGenerated():
                self.clusters[event.cluster] = event
            case e.ClusterExecuted():
                self.executions.append(event)
            case e.VerdictHandled():
                self._drop(event.units)
                if not event.passed:
                    self.clusters = {}
                    self.metrics = {}
            case BodyEdited():
                self.cases |= event.cases
                self.measured |= event.measured
                self.refused.pop(event.path, None)
                for name, text in event.bodies.items():
                    self.bodies[name] = Body(text, event.keys[name], "hand", 0)
                    self.left_open.pop(name, None)
            case ClaimsEdited():
                self.claims |= {c["id"]: StructuredClaim.model_validate(c) for c in event.claims}
                self._drop(event.units)
                for unit in event.units:
                    self.reopened.setdefault(unit, []).append(event.what)
            case EditRefused():
                self.refused[event.path] = event.text
            case FilesKept():
                self.by_hand |= dict.fromkeys(event.paths)
            case SpecEdited():
                self.refused = {}
                self.proposals[event.version] = e.ProposalMade(version=event.version, spec=event.spec)
                self.spec, self.revision = Spec.model_validate(event.spec), event.version
                self.contradictions = []
            case e.HumanResponded():
                self.refused = {}
                self._drop(event.units if event.option in ("restore", "model") else [])
                self.blocks.append(event)
            case e.BlockRequested() | e.TiersExhausted() | e.RepairsExhausted():
                self.blocks.append(event)
            case _:
                self._apply_refinement(event)

    def _apply_refinement(self, event: Event) -> None:
        match event:
            case e.ComplexityAnalyzed():
                self.metrics = event.metrics
            case e.TransformApplied():
                self.transforming = event
                self.attempted.add((event.function, event.pattern))
            case e.TransformSkipped():
                self.attempted.add((event.function, event.pattern))
                self.transforms.append(event)
            case e.SemanticsVerified():
                applied, self.transforming = self.transforming, None
                assert applied is not None
                self.bodies[event.function] = self.bodies[event.function].transformed(applied)
                self.transforms.append(event)
            case e.SemanticsBroken():
                self.transforming = None
                self.transforms.append(event)
            case _:
                pass

    def _accepted(self, event: e.VerificationPassed) -> None:
        self.waiting.pop(event.unit, None)
        self.cases |= event.cases
        self._settle(event.settled)
        for name, text in event.bodies.items():
            self.bodies[name] = Body(text, event.keys[name], event.tier, event.attempt)
            self.measured[name] = event.measured.get(name, {})
            self.left_open[name] = [entry for entry in event.left_open if entry["function"] == name]

    def _drop(self, units: list[str]) -> None:
        for name in (name for unit in units for name in unit.split("+")):
            self.bodies.pop(name, None)

    def _settle(self, entries: list[dict[str, str]]) -> None:
        for entry in entries:
            clauses = self.settled.setdefault(entry["function"], [])
            if entry["clause"] not in clauses:
                clauses.append(entry["clause"])

    def _reopened(self, event: e.CalleeBlamed | e.TestSuspected) -> None:
        """Take bodies back; what is not itself at fault waits to be judged again, and nobody is asked for it."""
        guilty = ""
        if isinstance(event, e.CalleeBlamed):
            guilty = next(unit for unit in event.units if event.callee in unit.split("+"))
            self.blamed[event.unit, event.callee] = self.blamed.get((event.unit, event.callee), 0) + 1
            if event.args is not None:
                self.pinned.setdefault(event.callee, []).append(event.args)
        else:
            self.suspected[event.claim] = self.suspected.get(event.claim, 0) + 1
            self.claims[event.claim] = StructuredClaim.model_validate(event.structured)
        self.waiting[event.unit] = e.ImplementationReceived(
            unit=event.unit, attempt=1, tier=event.tier, bodies=event.bodies
        )
        for unit in event.units:
            self.reopened.setdefault(unit, []).append(event.what if unit == guilty else "")
            bodies = {name: self.bodies.pop(name) for name in unit.split("+") if name in self.bodies}
            if bodies and unit not in (guilty, event.unit):
                texts = {name: body.text for name, body in bodies.items()}
                self.waiting[unit] = e.ImplementationReceived(unit=unit, attempt=1, tier="worker", bodies=texts)

    def _approved(self, event: e.Approved) -> None:
        self.approvals[event.version] = event
        self.spec = Spec.model_validate(self.proposals[event.version].spec)
        self.revision = event.version
        self.contradictions = []
        turns = [{"question": a.question, "text": a.text, "answer": a.answer} for a in self.answers]
        self._shelve("interview", turns)
        self._shelve("proposals", self.proposals[event.version].spec)

    def _shelve(self, kind: str, data: Any) -> None:
        """Into the archive, for people: nothing reads it back (CT21)."""
        if data:
            number = sum(1 for path in self.archive if path.startswith(f".criticality/archive/{kind}/")) + 1
            self.archive[f".criticality/archive/{kind}/{number:03d}.json"] = pretty(data) + "\n"

    def _module(self, data: dict[str, Any]) -> None:
        module = ModulePlan.model_validate(data)
        self.modules[module.name] = module

    def _call(self, model: str, event: Event) -> None:
        before = self.usage.get(model, Tally())
        if (after := before.after(event)) is not before:
            self.usage[model] = after
