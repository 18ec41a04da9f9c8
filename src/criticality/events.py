"""What happens in a project. These events move the machine, fill the ledger and tell the story.

Each stands for a fact that is finished: a model's answer as data, a verdict of a tool, a word of a person.
"""

from __future__ import annotations

from typing import Any, Literal

from criticality.edits import FilesKept, Kept
from criticality.labels import BlockKind, InterviewPhase, Tier
from llm_runtime.events import Event


class ProjectCreated(Event, type="criticality.project_created"):
    """The first event of a journal."""

    name: str
    seed: int


class DecisionAppended(Event, type="criticality.decision_appended"):
    """An agent outside the orchestrator enters a decision; the machine stays where it is."""

    agent: str
    phase: str
    constraint: str
    category: str
    confidence: Literal["delegated", "inferred", "provisional"]
    dependencies: list[str] = []
    supersedes: str = ""
    rationale: str = ""


class QuestionAnswered(Event, type="criticality.question_answered"):
    """A person answered. ``last`` is true where no question is left, ``corrects`` where it was answered before."""

    question: str
    text: str
    answer: str
    interview_phase: InterviewPhase
    last: bool = False
    corrects: bool = False


class Delegated(Event, type="criticality.delegated"):
    """A person leaves the rest to the architect."""

    after: InterviewPhase
    notes: str = ""


class FeaturesProposed(Event, type="criticality.features_proposed"):
    """The architect lists features, each with a class and the question to put about it."""

    features: list[dict[str, Any]]


class _OfProposal(Event):
    """What happens to a version of the proposal."""

    version: int


class ProposalMade(_OfProposal, type="criticality.proposal_made"):
    """The architect's proposal, valid as a specification."""

    spec: dict[str, Any]
    decisions: list[dict[str, Any]] = []


class AuditorChallenged(_OfProposal, type="criticality.auditor_challenged"):
    """The auditor wants the proposal revised."""

    challenges: list[str]


class SynthesisCompleted(_OfProposal, type="criticality.synthesis_completed"):
    """The auditor has nothing more to say, or has said it often enough."""


class Approved(_OfProposal, type="criticality.approved"):
    """A person approves, or approves with ``conditions`` that are provisional decisions."""

    conditions: list[str] = []


class Revised(_OfProposal, type="criticality.revised"):
    """A person wants it changed, and says where the interview goes on."""

    feedback: str
    interview_phase: InterviewPhase = "discovery"


class Rejected(_OfProposal, type="criticality.rejected"):
    """A person starts over."""


class StructurePlanned(Event, type="criticality.structure_planned"):
    """The module hierarchy."""

    modules: list[dict[str, Any]]


class ModuleGenerated(Event, type="criticality.module_generated"):
    """One module with signatures, contracts and planned calls."""

    module: dict[str, Any]


class CompileSucceeded(Event, type="criticality.compile_succeeded"):
    """The skeleton is critical: it type-checks, holds no logic, and its plan fits together."""

    order: list[list[str]]


class CompileFailed(Event, type="criticality.compile_failed"):
    """It is not; one line for each error."""

    errors: list[str]


class StructureRepaired(Event, type="criticality.structure_repaired"):
    """Modules in a new version."""

    modules: list[dict[str, Any]]


class RepairsExhausted(Event, type="criticality.repairs_exhausted"):
    """The skeleton cannot be repaired in as many attempts as there are."""

    errors: list[str]


class AuditorCompleted(Event, type="criticality.auditor_completed"):
    """One auditor is done. ``critical`` and ``dismissed`` are ids of contradictions."""

    auditor: str
    contradictions: list[dict[str, Any]] = []
    critical: list[str] = []
    dismissed: list[str] = []
    canonical_decisions: int = 0


class TestsGenerated(Event, type="criticality.tests_generated"):
    """Claims in structured form; ``waived`` are those without a test, each with the reason.

    ``left_out`` says which tests cannot be judged, and why. ``units`` are to be injected: those whose contracts or
    callees changed since a body was accepted.
    """

    __test__ = False

    claims: list[dict[str, Any]]
    waived: dict[str, str] = {}
    tests: int = 0
    units: list[str] = []
    left_out: list[str] = []


class ContradictionsReported(Event, type="criticality.contradictions_reported"):
    """The report is written."""

    contradictions: list[str]


class _OfUnit(Event):
    """What happens to a unit: functions that are written together, with a plus between their names."""

    unit: str


class FunctionSelected(_OfUnit, type="criticality.function_selected"):
    """The next unit is taken up."""

    tier: Tier = "worker"


class _OfAttempt(_OfUnit):
    """What happens in an attempt at a unit."""

    attempt: int
    tier: Tier


class ImplementationReceived(_OfAttempt, type="criticality.implementation_received"):
    """A model answered with bodies, or with something that is none (``fault``)."""

    bodies: dict[str, str] = {}
    fault: dict[str, Any] | None = None


class VerificationPassed(Kept, _OfAttempt, type="criticality.verification_passed"):
    """The unit's bodies are accepted.

    ``settled`` are clauses that decided where bodies differed, ``left_open`` are cases that the specification leaves
    open.
    """

    settled: list[dict[str, str]] = []
    left_open: list[dict[str, str]] = []


class VerificationFailed(_OfAttempt, type="criticality.verification_failed"):
    """The unit's bodies are discarded after ``tests`` cases; ``next`` is what the escalation table says."""

    failure: dict[str, Any]
    settled: list[dict[str, str]] = []
    tests: int = 0
    next: Literal["retry", "escalate", "break", "review", "lattice"]
    to_tier: Tier | None = None


class _Reopening(_OfUnit):
    """What makes accepted ``units`` be judged again, found while the ``bodies`` of a unit were judged."""

    what: str
    units: list[str]
    tier: Tier
    bodies: dict[str, str]


class CalleeBlamed(_Reopening, type="criticality.callee_blamed"):
    """A unit failed through an accepted function that breaks its own contract on ``args``.

    ``units`` are to be done again in this order: the callee's without its body, the others with theirs.
    """

    callee: str
    args: Any = None


class TestSuspected(_Reopening, type="criticality.test_suspected"):
    """Independent bodies keep every clause and fail one test alike: the claim's tests were derived anew."""

    __test__ = False

    claim: str
    test: str
    structured: dict[str, Any]


class Escalated(_OfUnit, type="criticality.escalated"):
    """The next tier takes the unit."""

    from_tier: Tier
    to_tier: Tier
    reason: str


class TiersExhausted(_OfUnit, type="criticality.tiers_exhausted"):
    """No tier is left for the unit."""

    reason: str


class NoFunctionsRemaining(Event, type="criticality.no_functions_remaining"):
    """Every unit is accepted or has failed."""


class _OfCluster(Event):
    """What happens to modules that are tested together."""

    cluster: str


class ClusterTestsGenerated(_OfCluster, type="criticality.cluster_tests_generated"):
    """A cluster with its modules, claims and scenarios; ``left_out`` says which cannot be judged, and why."""

    modules: list[str]
    claims: list[str]
    scenarios: list[dict[str, Any]] = []
    clusters: list[str] = []
    left_out: list[str] = []


class ClusterExecuted(_OfCluster, type="criticality.cluster_executed"):
    """A cluster's tests ran."""

    tests_run: int
    tests_failed: int
    violated_claims: list[str] = []


class VerdictHandled(_OfCluster, type="criticality.verdict_handled"):
    """What follows from a cluster's verdict; ``units`` are re-injected where it failed."""

    passed: bool
    violated_claims: list[str] = []
    units: list[str] = []


class ComplexityAnalyzed(Event, type="criticality.complexity_analyzed"):
    """Metrics and smells; ``target`` is the transformation to try, none where there is nothing left to gain."""

    metrics: dict[str, Any]
    smells: list[dict[str, Any]] = []
    target: dict[str, Any] | None = None


class _OfPattern(Event):
    """What happens to a transformation of a function."""

    function: str
    pattern: str


class TransformApplied(_OfPattern, type="criticality.transform_applied"):
    """A model transformed a function."""

    body: str
    declarations: str = ""


class TransformSkipped(_OfPattern, type="criticality.transform_skipped"):
    """A guard applies, or the answer was of no use."""

    reason: str


class SemanticsVerified(_OfPattern, type="criticality.semantics_verified"):
    """The transformed function passed what its risk asks for."""

    scope: str


class SemanticsBroken(_OfPattern, type="criticality.semantics_broken"):
    """It did not; the function is as it was."""

    scope: str
    reason: str


class BlockRequested(Event, type="criticality.block_requested"):
    """Something only a person can decide."""

    reason: BlockKind
    question: str
    options: list[dict[str, Any]]


class HumanResponded(Event, type="criticality.human_responded"):
    """A person chose an option."""

    query: str
    option: str
    label: str = ""
    resumes: Literal["prior", "ignition", "lattice", "injection"]
    text: str = ""
    units: list[str] = []


#: Events that the machine has no part in.
BESIDE_THE_MACHINE = (ProjectCreated, DecisionAppended, FilesKept)
