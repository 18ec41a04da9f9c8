"""Where a project stands (specification, section 9.3 "State Definitions"): with its wire keys."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from criticality.labels import BlockKind, InterviewPhase, Tier
from criticality.wire import CamelCase

PhaseName: TypeAlias = Literal["ignition", "lattice", "compositionAudit", "injection", "mesoscopic", "massDefect"]
PHASES: tuple[PhaseName, ...] = ("ignition", "lattice", "compositionAudit", "injection", "mesoscopic", "massDefect")


class Interviewing(CamelCase):
    """Questions are being asked: the catalogue's, or, after a step back, only the ``open_questions``."""

    phase: Literal["ignition"] = "ignition"
    type: Literal["interviewing"] = "interviewing"
    interview_phase: InterviewPhase = "discovery"
    question_index: int = 0
    delegated_after: InterviewPhase | None = None
    open_questions: tuple[str, ...] = ()


class Synthesizing(CamelCase):
    """The architect proposes and the auditor challenges."""

    phase: Literal["ignition"] = "ignition"
    type: Literal["synthesizing"] = "synthesizing"
    proposal_version: int = 1
    proposed: bool = False
    challenges: int = 0


class AwaitingApproval(CamelCase):
    """The proposal lies before the person."""

    phase: Literal["ignition"] = "ignition"
    type: Literal["awaitingApproval"] = "awaitingApproval"
    proposal_version: int
    proposal_path: str


class GeneratingStructure(CamelCase):
    """Modules are being planned: first the hierarchy, then one after the other."""

    phase: Literal["lattice"] = "lattice"
    type: Literal["generatingStructure"] = "generatingStructure"
    modules_planned: tuple[str, ...] = ()
    modules_generated: tuple[str, ...] = ()


class CompilingCheck(CamelCase):
    """The skeleton is before the type checker."""

    phase: Literal["lattice"] = "lattice"
    type: Literal["compilingCheck"] = "compilingCheck"
    compile_attempt: int = 1


class RepairingStructure(CamelCase):
    """The structurer repairs what the checker refused."""

    phase: Literal["lattice"] = "lattice"
    type: Literal["repairingStructure"] = "repairingStructure"
    errors: tuple[str, ...]
    repair_attempt: int = 1
    max_repair_attempts: int = 3


class Auditing(CamelCase):
    """Auditors look one after the other; clean, it waits for the tests to be made."""

    phase: Literal["compositionAudit"] = "compositionAudit"
    type: Literal["auditing"] = "auditing"
    auditors_completed: tuple[str, ...] = ()
    critical: tuple[str, ...] = ()


class ReportingContradictions(CamelCase):
    """What was found goes back to Ignition, or to a person."""

    phase: Literal["compositionAudit"] = "compositionAudit"
    type: Literal["reportingContradictions"] = "reportingContradictions"
    contradictions: tuple[str, ...]
    severity: Literal["simple", "complex"]


class Progress(CamelCase):
    """How far Injection is, in units: one function, or several that call each other."""

    remaining: tuple[str, ...] = ()
    completed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    escalated: tuple[str, ...] = ()
    reached_architect: tuple[str, ...] = ()
    total: int = 0
    pass_number: int = 1


class SelectingFunction(CamelCase):
    """Between two functions."""

    phase: Literal["injection"] = "injection"
    type: Literal["selectingFunction"] = "selectingFunction"
    progress: Progress = Progress()


class Implementing(CamelCase):
    """A body is being written."""

    phase: Literal["injection"] = "injection"
    type: Literal["implementing"] = "implementing"
    function_id: str
    current_tier: Tier = "worker"
    attempt_in_tier: int = 1
    total_attempts: int = 1
    progress: Progress = Progress()


class Verifying(CamelCase):
    """A body is being checked."""

    phase: Literal["injection"] = "injection"
    type: Literal["verifying"] = "verifying"
    function_id: str
    current_tier: Tier
    attempt_in_tier: int
    total_attempts: int
    verification_step: Literal["compile", "test"] = "compile"
    progress: Progress = Progress()


class Escalating(CamelCase):
    """A more capable model takes over."""

    phase: Literal["injection"] = "injection"
    type: Literal["escalating"] = "escalating"
    function_id: str
    from_tier: Tier
    to_tier: Tier | None
    failure_type: str
    total_attempts: int
    progress: Progress = Progress()


class GeneratingTests(CamelCase):
    """Clusters are being formed and their scenarios written."""

    phase: Literal["mesoscopic"] = "mesoscopic"
    type: Literal["generatingTests"] = "generatingTests"
    clusters: tuple[str, ...] = ()
    tests_generated: tuple[str, ...] = ()


class ExecutingCluster(CamelCase):
    """One cluster's tests run."""

    phase: Literal["mesoscopic"] = "mesoscopic"
    type: Literal["executingCluster"] = "executingCluster"
    cluster_id: str
    clusters_remaining: tuple[str, ...] = ()


class HandlingVerdict(CamelCase):
    """One cluster's verdict: passed, or the claims that it violates and nothing more."""

    phase: Literal["mesoscopic"] = "mesoscopic"
    type: Literal["handlingVerdict"] = "handlingVerdict"
    cluster_id: str
    violated_claims: tuple[str, ...] = ()
    clusters_remaining: tuple[str, ...] = ()


class AnalyzingComplexity(CamelCase):
    """Metrics are taken and smells looked for."""

    phase: Literal["massDefect"] = "massDefect"
    type: Literal["analyzingComplexity"] = "analyzingComplexity"
    applied: int = 0
    gained_since_pass: bool = False


class ApplyingTransform(CamelCase):
    """A pattern is being applied to a function."""

    phase: Literal["massDefect"] = "massDefect"
    type: Literal["applyingTransform"] = "applyingTransform"
    target_function: str
    pattern_id: str
    smell: str
    risk: int
    applied: int = 0


class VerifyingSemantics(CamelCase):
    """The transformed function is being checked; the scope follows the risk."""

    phase: Literal["massDefect"] = "massDefect"
    type: Literal["verifyingSemantics"] = "verifyingSemantics"
    target_function: str
    pattern_id: str
    risk: int
    applied: int = 0


SubState: TypeAlias = Annotated[
    Interviewing | Synthesizing | AwaitingApproval | GeneratingStructure | CompilingCheck | RepairingStructure
    | Auditing | ReportingContradictions | SelectingFunction | Implementing | Verifying | Escalating
    | GeneratingTests | ExecutingCluster | HandlingVerdict | AnalyzingComplexity | ApplyingTransform
    | VerifyingSemantics,
    Field(discriminator="type"),
]  # fmt: skip


class QueryOption(CamelCase):
    """One way out of a block; ``resumes`` says where the protocol goes on."""

    id: str
    label: str
    implications: tuple[str, ...] = ()
    resumes: Literal["prior", "ignition", "lattice", "injection"] = "prior"
    units: tuple[str, ...] = ()


class HumanQuery(CamelCase):
    """What a person is asked."""

    id: str
    severity: Literal["blocking"] = "blocking"
    category: str
    question: str
    options: tuple[QueryOption, ...]


class Active(CamelCase):
    """At work. ``regressions`` counts steps back over each edge; ``passes`` how often each phase was entered."""

    type: Literal["active"] = "active"
    phase: SubState
    regressions: dict[str, int] = {}
    passes: dict[str, int] = {}


class Blocked(CamelCase):
    """Nothing happens until a person answers."""

    type: Literal["blocked"] = "blocked"
    reason: BlockKind
    query: HumanQuery
    prior_phase: PhaseName
    prior_sub_state: str
    prior: Active
    notification_sent: bool = True


class Completed(CamelCase):
    """The deliverable lies on disk; left again only for what a person changes by hand."""

    type: Literal["completed"] = "completed"
    artifacts: tuple[str, ...] = ()
    regressions: dict[str, int] = {}
    passes: dict[str, int] = {}


ProtocolState: TypeAlias = Annotated[Active | Blocked | Completed, Field(discriminator="type")]


def beginning() -> Active:
    """Return the state of a new project."""
    return Active(phase=Interviewing(), passes={"ignition": 1})
