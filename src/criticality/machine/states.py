"""Where a project stands (specification, section 9.3 "State Definitions"): with its wire keys."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from criticality.labels import BlockKind, InterviewPhase, Tier
from criticality.wire import CamelCase

PhaseName: TypeAlias = Literal["ignition", "lattice", "compositionAudit", "injection", "mesoscopic", "massDefect"]
PHASES: tuple[PhaseName, ...] = ("ignition", "lattice", "compositionAudit", "injection", "mesoscopic", "massDefect")


class _Step(CamelCase):
    """Base of the sub-states: one says behind its base which it is, and of which phase."""

    phase: PhaseName = "ignition"
    type: str = ""

    def __init_subclass__(cls, *, place: str, **more: Any) -> None:
        super().__init_subclass__(**more)
        for name, word in zip(("phase", "type"), place.split("."), strict=True):
            cls.__annotations__[name] = Literal[word]
            setattr(cls, name, word)


class Interviewing(_Step, place="ignition.interviewing"):
    """Questions are being asked: the catalogue's, or, after a step back, only the ``open_questions``."""

    interview_phase: InterviewPhase = "discovery"
    question_index: int = 0
    delegated_after: InterviewPhase | None = None
    open_questions: tuple[str, ...] = ()


class Synthesizing(_Step, place="ignition.synthesizing"):
    """The architect proposes and the auditor challenges."""

    proposal_version: int = 1
    proposed: bool = False
    challenges: int = 0


class AwaitingApproval(_Step, place="ignition.awaitingApproval"):
    """The proposal lies before the person."""

    proposal_version: int
    proposal_path: str


class GeneratingStructure(_Step, place="lattice.generatingStructure"):
    """Modules are being planned: first the hierarchy, then one after the other."""

    modules_planned: tuple[str, ...] = ()
    modules_generated: tuple[str, ...] = ()


class CompilingCheck(_Step, place="lattice.compilingCheck"):
    """The skeleton is before the type checker."""

    compile_attempt: int = 1


class RepairingStructure(_Step, place="lattice.repairingStructure"):
    """The structurer repairs what the checker refused."""

    errors: tuple[str, ...]
    repair_attempt: int = 1
    max_repair_attempts: int = 3


class Auditing(_Step, place="compositionAudit.auditing"):
    """Auditors look one after the other; clean, it waits for the tests to be made."""

    auditors_completed: tuple[str, ...] = ()
    critical: tuple[str, ...] = ()


class ReportingContradictions(_Step, place="compositionAudit.reportingContradictions"):
    """What was found goes back to Ignition, or to a person."""

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


class SelectingFunction(_Step, place="injection.selectingFunction"):
    """Between two functions."""

    progress: Progress = Progress()


class Implementing(_Step, place="injection.implementing"):
    """A body is being written."""

    function_id: str
    current_tier: Tier = "worker"
    attempt_in_tier: int = 1
    total_attempts: int = 1
    progress: Progress = Progress()


class Verifying(_Step, place="injection.verifying"):
    """A body is being checked."""

    function_id: str
    current_tier: Tier
    attempt_in_tier: int
    total_attempts: int
    verification_step: Literal["compile", "test"] = "compile"
    progress: Progress = Progress()


class Escalating(_Step, place="injection.escalating"):
    """A more capable model takes over."""

    function_id: str
    from_tier: Tier
    to_tier: Tier | None
    failure_type: str
    total_attempts: int
    progress: Progress = Progress()


class GeneratingTests(_Step, place="mesoscopic.generatingTests"):
    """Clusters are being formed and their scenarios written."""

    clusters: tuple[str, ...] = ()
    tests_generated: tuple[str, ...] = ()


class ExecutingCluster(_Step, place="mesoscopic.executingCluster"):
    """One cluster's tests run."""

    cluster_id: str
    clusters_remaining: tuple[str, ...] = ()


class HandlingVerdict(_Step, place="mesoscopic.handlingVerdict"):
    """One cluster's verdict: passed, or the claims that it violates and nothing more."""

    cluster_id: str
    violated_claims: tuple[str, ...] = ()
    clusters_remaining: tuple[str, ...] = ()


class AnalyzingComplexity(_Step, place="massDefect.analyzingComplexity"):
    """Metrics are taken and smells looked for."""

    applied: int = 0
    gained_since_pass: bool = False


class ApplyingTransform(_Step, place="massDefect.applyingTransform"):
    """A pattern is being applied to a function."""

    target_function: str
    pattern_id: str
    smell: str
    risk: int
    applied: int = 0


class VerifyingSemantics(_Step, place="massDefect.verifyingSemantics"):
    """The transformed function is being checked; the scope follows the risk."""

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
