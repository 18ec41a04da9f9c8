"""Every transition of the diagram (specification, section 9.4 "Transition Definitions"), and every other pair refused."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from criticality import events as e
from criticality.edits import BodyEdited, ClaimsEdited, EditRefused, SpecEdited
from criticality.machine import states as s
from criticality.machine.breaker import BreakerLimits, tripped
from criticality.machine.escalation import TIERS, EscalationLimits, FailureKind, decide
from criticality.machine.step import MachineLimits, NoTransition, advance, find, where
from criticality.machine.table import AUDITORS, TRANSITIONS
from criticality.order import components, waves

ALL_BUT_LAST = AUDITORS[:-1]
CALM = s.Progress(remaining=("m.b",), completed=("m.a",), total=2)
DONE = s.Progress(completed=("m.a", "m.b"), total=2)
HOT = s.Progress(remaining=("m.c",), completed=("m.a", "m.b", "m.d", "m.e"), escalated=("m.a", "m.b"), total=5)
HOT_DONE = HOT.model_copy(update={"remaining": (), "completed": (*HOT.completed, "m.c")})


def active(phase: Any, **more: Any) -> s.Active:
    return s.Active(phase=phase, passes={phase.phase: 1}, **more)


def verifying(**more: Any) -> s.Verifying:
    return s.Verifying(
        function_id="m.a", current_tier="worker", attempt_in_tier=1, total_attempts=1, progress=CALM, **more
    )


def failed(following: Any, to: Any = None) -> e.VerificationFailed:
    return e.VerificationFailed(
        unit="m.a", attempt=1, tier="worker", failure={"kind": "test", "what": ["x"]}, next=following, to_tier=to
    )


def asked(last: bool) -> e.QuestionAnswered:
    return e.QuestionAnswered(question="q", text="?", answer="!", interview_phase="discovery", last=last)


def audited(auditor: str, critical: list[str] | None = None, canonical: int = 0) -> e.AuditorCompleted:
    return e.AuditorCompleted(auditor=auditor, critical=critical or [], canonical_decisions=canonical)


def escalating(to: Any) -> s.Escalating:
    return s.Escalating(
        function_id="m.a", from_tier="worker", to_tier=to, failure_type="test", total_attempts=3, progress=CALM
    )


def verdict(passed: bool) -> e.VerdictHandled:
    return e.VerdictHandled(cluster="c", passed=passed, units=["m.a"])


def handling(*left: str) -> s.HandlingVerdict:
    return s.HandlingVerdict(cluster_id="c", clusters_remaining=left)


def cluster(name: str) -> e.ClusterTestsGenerated:
    return e.ClusterTestsGenerated(cluster=name, modules=[], claims=[], clusters=["c", "d"])


def analyzed(target: Any) -> e.ComplexityAnalyzed:
    return e.ComplexityAnalyzed(metrics={}, target=target)


def answered(resumes: Any) -> e.HumanResponded:
    return e.HumanResponded(query="q", option="o", resumes=resumes)


TARGET = {"function": "m.a", "pattern": "early-return", "smell": "deep-nesting", "risk": 2}
SYNTH, AWAIT = s.Synthesizing(proposed=True), s.AwaitingApproval(proposal_version=1, proposal_path="p")
GENERATING = s.GeneratingStructure(modules_planned=("a", "b"), modules_generated=("a",))
REPAIR = s.RepairingStructure(errors=("x",), repair_attempt=1)
SPENT = s.RepairingStructure(errors=("x",), repair_attempt=4)
CLEAN = s.Auditing(auditors_completed=AUDITORS)
ALMOST = s.Auditing(auditors_completed=ALL_BUT_LAST)
SIMPLE = s.ReportingContradictions(contradictions=("T_1",), severity="simple")
COMPLEX = s.ReportingContradictions(contradictions=("T_1",), severity="complex")
IMPLEMENTING = s.Implementing(function_id="m.a", progress=CALM)
APPLY = s.ApplyingTransform(target_function="m.a", pattern_id="p", smell="s", risk=2)
SEMANTICS = s.VerifyingSemantics(target_function="m.a", pattern_id="p", risk=2)
QUERY = s.HumanQuery(id="q", category="c", question="?", options=())
BLOCKED = s.Blocked(
    reason="user_requested", query=QUERY, prior_phase="injection", prior_sub_state="selectingFunction",
    prior=active(s.SelectingFunction(progress=CALM)),
)  # fmt: skip
IMPLEMENTED = e.ImplementationReceived(unit="m.a", attempt=1, tier="worker", bodies={"m.a": "pass"})
AGAIN: Any = {"unit": "m.a", "what": "x", "units": ["m.b", "m.a"], "tier": "worker", "bodies": {}}
PASSED = e.VerificationPassed(unit="m.a", attempt=1, tier="worker", bodies={}, keys={})
MODULE_B = e.ModuleGenerated(module={"name": "b"})
ESCALATED = e.Escalated(unit="m.a", from_tier="worker", to_tier="fallback1", reason="test_error")

# A row a line, as in the diagram, however long.
EDITED = BodyEdited(path="p", units=["m.x"], bodies={}, keys={})
ANYWHERE = (active(s.AnalyzingComplexity()), BLOCKED, s.Completed())
# ruff: noqa: E501
#: state --- event ---> next state, in the order of the specification's diagrams.
DIAGRAM: list[tuple[s.ProtocolState, Any, str]] = [
    (active(s.Interviewing()), e.FeaturesProposed(features=[]), "ignition.interviewing"),
    (active(s.Interviewing()), asked(False), "ignition.interviewing"),
    (active(s.Interviewing()), asked(True), "ignition.synthesizing"),
    (active(s.Interviewing()), e.Delegated(after="constraints"), "ignition.synthesizing"),
    (active(s.Synthesizing()), e.ProposalMade(version=1, spec={}), "ignition.synthesizing"),
    (active(SYNTH), e.AuditorChallenged(version=1, challenges=["x"]), "ignition.synthesizing"),
    (active(SYNTH), e.SynthesisCompleted(version=1), "ignition.awaitingApproval"),
    (active(AWAIT), e.Approved(version=1), "lattice.generatingStructure"),
    (active(AWAIT), e.Approved(version=1, conditions=["if"]), "lattice.generatingStructure"),
    (active(AWAIT), e.Revised(version=1, feedback="x"), "ignition.interviewing"),
    (active(AWAIT), e.Rejected(version=1), "ignition.interviewing"),
    (active(s.GeneratingStructure()), e.StructurePlanned(modules=[{"name": "a"}]), "lattice.generatingStructure"),
    (active(GENERATING.model_copy(update={"modules_generated": ()})), MODULE_B, "lattice.generatingStructure"),
    (active(GENERATING), MODULE_B, "lattice.compilingCheck"),
    (active(s.CompilingCheck()), e.CompileSucceeded(order=[]), "compositionAudit.auditing"),
    (active(s.CompilingCheck()), e.CompileFailed(errors=["x"]), "lattice.repairingStructure"),
    (active(REPAIR), e.StructureRepaired(modules=[]), "lattice.compilingCheck"),
    (active(SPENT), e.RepairsExhausted(errors=["x"]), "blocked"),
    (active(s.Auditing()), audited("temporal"), "compositionAudit.auditing"),
    (active(ALMOST), audited("crossVerification"), "compositionAudit.auditing"),
    (active(ALMOST.model_copy(update={"critical": ("T_1",)})), audited("crossVerification"), "compositionAudit.reportingContradictions"),
    (active(CLEAN), e.TestsGenerated(claims=[], units=["m.a"]), "injection.selectingFunction"),
    (active(SIMPLE), e.ContradictionsReported(contradictions=["T_1"]), "ignition.interviewing"),
    (active(COMPLEX), e.ContradictionsReported(contradictions=["T_1"]), "blocked"),
    (active(s.SelectingFunction(progress=CALM)), e.FunctionSelected(unit="m.b"), "injection.implementing"),
    (active(s.SelectingFunction(progress=HOT)), e.FunctionSelected(unit="m.c"), "lattice.generatingStructure"),
    (active(s.SelectingFunction(progress=DONE)), e.NoFunctionsRemaining(), "mesoscopic.generatingTests"),
    (active(s.SelectingFunction(progress=HOT_DONE)), e.NoFunctionsRemaining(), "lattice.generatingStructure"),
    (active(IMPLEMENTING), IMPLEMENTED, "injection.verifying"),
    (active(verifying()), PASSED, "injection.selectingFunction"),
    (active(verifying()), e.CalleeBlamed(callee="m.b", **AGAIN), "injection.selectingFunction"),
    (active(verifying()), e.TestSuspected(claim="c", test="t", structured={}, **AGAIN), "injection.selectingFunction"),
    (active(verifying()), failed("retry"), "injection.implementing"),
    (active(verifying()), failed("escalate", "fallback1"), "injection.escalating"),
    (active(verifying()), failed("break"), "injection.escalating"),
    (active(verifying()), failed("review"), "injection.escalating"),
    (active(verifying()), failed("lattice"), "lattice.generatingStructure"),
    (active(escalating("fallback1")), ESCALATED, "injection.implementing"),
    (active(escalating(None)), e.TiersExhausted(unit="m.a", reason="test: x"), "blocked"),
    (active(s.GeneratingTests()), cluster("c"), "mesoscopic.generatingTests"),
    (active(s.GeneratingTests(tests_generated=("c",))), cluster("d"), "mesoscopic.executingCluster"),
    (active(s.ExecutingCluster(cluster_id="c")), e.ClusterExecuted(cluster="c", tests_run=1, tests_failed=0), "mesoscopic.handlingVerdict"),
    (active(handling("d")), verdict(True), "mesoscopic.executingCluster"),
    (active(handling()), verdict(True), "massDefect.analyzingComplexity"),
    (active(handling("d")), verdict(False), "injection.selectingFunction"),
    (active(s.AnalyzingComplexity()), analyzed(TARGET), "massDefect.applyingTransform"),
    (active(s.AnalyzingComplexity()), analyzed(None), "completed"),
    (active(APPLY), e.TransformApplied(function="m.a", pattern="p", body="pass"), "massDefect.verifyingSemantics"),
    (active(APPLY), e.TransformSkipped(function="m.a", pattern="p", reason="x"), "massDefect.analyzingComplexity"),
    (active(SEMANTICS), e.SemanticsVerified(function="m.a", pattern="p", scope="x"), "massDefect.analyzingComplexity"),
    (active(SEMANTICS), e.SemanticsBroken(function="m.a", pattern="p", scope="x", reason="y"), "massDefect.analyzingComplexity"),
    (active(IMPLEMENTING), e.BlockRequested(reason="provider_down", question="?", options=[]), "blocked"),
    (BLOCKED, answered("prior"), "injection.selectingFunction"),
    (BLOCKED, answered("ignition"), "ignition.interviewing"),
    (BLOCKED, answered("lattice"), "lattice.generatingStructure"),
    (BLOCKED, answered("injection"), "injection.selectingFunction"),
    *((state, SpecEdited(version=2, spec={}, planned=True), "lattice.compilingCheck") for state in ANYWHERE),
    *((state, SpecEdited(version=2, spec={}, planned=False), "lattice.generatingStructure") for state in ANYWHERE),
    *((state, EditRefused(path="p", text="t", what="w", units=["m.a"]), "blocked") for state in ANYWHERE),
    *((state, EDITED, where(state)) for state in ANYWHERE),
    *((state, ClaimsEdited(claims=[]), where(state)) for state in ANYWHERE),
    *((state, ClaimsEdited(claims=[], units=["m.a"]), "injection.selectingFunction") for state in ANYWHERE),
]  # fmt: skip


@pytest.mark.parametrize(
    ("state", "event", "target"),
    DIAGRAM,
    ids=lambda v: where(v) if hasattr(v, "type") and not isinstance(v, e.Event) else getattr(v, "type", v),
)
def test_the_diagram(state: s.ProtocolState, event: Any, target: str) -> None:
    assert where(advance(state, event)[0]) == target


def test_the_diagram_takes_every_row_of_the_table() -> None:
    limits = MachineLimits()
    taken = {id(find(state, event, limits)) for state, event, _ in DIAGRAM}
    missing = [f"{row.source} --{row.event}--> {row.target}" for row in TRANSITIONS if id(row) not in taken]
    assert missing == []


def test_every_other_pair_of_state_and_event_is_refused() -> None:
    rows = {(row.source, row.event) for row in TRANSITIONS}
    for state in [*(state for state, _, _ in DIAGRAM), s.Completed()]:
        for _, event, _ in DIAGRAM:
            name = event.type.rpartition(".")[2]
            source = "active" if isinstance(state, s.Active) else where(state)
            if not {(where(state), name), (source, name)} & rows:
                with pytest.raises(NoTransition):
                    advance(state, event)


def test_a_completed_project_is_left_again_only_for_what_a_person_changes_by_hand() -> None:
    exits = {row.event for row in TRANSITIONS if row.source == "completed"}
    assert exits == {"claims_edited", "spec_edited", "edit_refused", "body_edited"}
    assert {row.target for row in TRANSITIONS} - {row.source for row in TRANSITIONS} == {"prior"}


def test_a_phase_boundary_destroys_the_context_and_notifies() -> None:
    _, actions = advance(active(AWAIT), e.Approved(version=1))
    assert [a.type for a in actions] == [
        "destroyContext", "persistCheckpoint", "sendNotification", "recordDecision", "archiveArtifacts"
    ]  # fmt: skip


def test_the_third_step_back_over_the_same_edge_blocks() -> None:
    state = active(SIMPLE, regressions={"compositionAudit->ignition": 2})
    after, _ = advance(state, e.ContradictionsReported(contradictions=["T_1"]))
    assert isinstance(after, s.Blocked) and after.reason == "structural_defect"
    assert where(advance(after, answered("prior"))[0]) == "ignition.interviewing"


def test_two_canonical_decisions_in_one_contradiction_are_for_a_person() -> None:
    state = active(ALMOST.model_copy(update={"critical": ("T_1",)}))
    after, _ = advance(state, audited("crossVerification", canonical=2))
    assert isinstance(after, s.Active) and isinstance(after.phase, s.ReportingContradictions)
    assert after.phase.severity == "complex"


def test_a_dismissed_contradiction_counts_no_more() -> None:
    state = active(ALMOST.model_copy(update={"critical": ("T_1",)}))
    look = e.AuditorCompleted(auditor="crossVerification", dismissed=["T_1"])
    assert where(advance(state, look)[0]) == "compositionAudit.auditing"


@pytest.mark.parametrize(
    ("kind", "tier", "attempt", "action", "to"),
    [
        ("syntax", "worker", 1, "retry", "worker"),
        ("syntax", "worker", 2, "retry", "worker"),
        ("syntax_fatal", "worker", 1, "escalate", "fallback1"),
        ("type", "worker", 1, "retry", "worker"),
        ("type", "worker", 2, "escalate", "fallback1"),
        ("type", "fallback1", 2, "escalate", "fallback2"),
        ("type", "fallback2", 2, "break", None),
        ("test", "worker", 1, "retry", "worker"),
        ("test", "worker", 2, "retry", "worker"),
        ("test", "worker", 3, "escalate", "fallback1"),
        ("test", "fallback1", 2, "escalate", "fallback2"),
        ("test", "fallback2", 2, "review", None),
        ("timeout", "worker", 1, "escalate", "fallback1"),
        ("timeout", "fallback1", 1, "escalate", "fallback2"),
        ("semantic", "worker", 1, "escalate", "fallback1"),
        ("semantic", "fallback1", 1, "escalate", "fallback2"),
        ("semantic", "fallback2", 1, "review", None),
        ("security", "worker", 1, "escalate", "fallback2"),
        ("security", "fallback2", 1, "review", None),
        ("coherence", "worker", 1, "lattice", None),
    ],
)
def test_the_escalation_table(kind: Any, tier: Any, attempt: int, action: str, to: Any) -> None:
    decision = decide(kind, tier, attempt, attempt, EscalationLimits())
    assert (decision.action, decision.tier) == (action, to)


@given(kinds=st.lists(st.sampled_from(get_args(FailureKind)), min_size=1, max_size=30))
def test_whatever_fails_a_function_ends_within_eight_attempts_and_the_architect_had_one(kinds: list[Any]) -> None:
    tier, in_tier, total, tiers = "worker", 1, 1, ["worker"]
    endless = [*kinds, *["syntax"] * 40]
    for kind in endless:
        decision = decide(kind, tier, in_tier, total, EscalationLimits())  # type: ignore[arg-type]
        if decision.action in ("break", "review", "lattice"):
            break
        in_tier = 0 if decision.action == "escalate" else in_tier
        tier = decision.tier or tier
        in_tier, total = in_tier + 1, total + 1
        tiers.append(tier)
    assert total <= 8
    assert decision.action == "lattice" or "fallback2" in tiers
    assert [TIERS.index(t) for t in tiers] == sorted(TIERS.index(t) for t in tiers)  # type: ignore[arg-type]


def test_a_rate_needs_two_events_among_five_functions() -> None:
    four, five = ["m.a", "m.b", "m.c", "m.d"], ["m.a", "m.b", "m.c", "m.d", "m.e"]
    limits = BreakerLimits()
    assert not tripped(four, ["m.a", "m.b"], [], limits)
    assert not tripped(five, ["m.a"], [], limits)
    ten = [f"m.{letter}" for letter in "abcdefghij"]
    assert not tripped(ten, ["m.a", "m.b"], [], limits), "a rate that is allowed does not trip"
    assert tripped(ten, ["m.a", "m.b", "m.c"], [], limits)
    assert "2 of 5 functions of m" in tripped(five, ["m.a", "m.b"], [], limits)
    assert "functions failed" in tripped(five, [], ["m.a", "m.b"], limits)


@given(edges=st.dictionaries(st.sampled_from("abcdefg"), st.lists(st.sampled_from("abcdefg"), max_size=4), max_size=7))
def test_components_cover_everything_and_come_after_what_they_need(edges: dict[str, list[str]]) -> None:
    order = components(edges)
    assert sorted(name for members in order for name in members) == sorted(edges)
    level = {name: i for i, wave in enumerate(waves(order, edges)) for unit in wave for name in unit.split("+")}
    together = {name: set(members) for members in order for name in members}
    for name, targets in edges.items():
        for target in targets:
            if target in edges and target not in together[name]:
                assert level[target] < level[name]
