"""The sections that tell how a build came about: interview, proposal, audit, refactoring."""

from __future__ import annotations

from typing import Any, cast

from assay.protocols.criticality.report.state import BuildState
from assay.protocols.criticality.report.words import AUDITORS
from assay.report.clean import fenced
from assay.report.story import Block, Column, Details, Note, Plain, Prose, Quote, Section, Table, Voice
from assay.report.units import count_noun
from criticality import events as e
from criticality.canonical import pretty

_OUTCOMES = {"semantics_verified": "kept", "semantics_broken": "taken back", "transform_skipped": "not applied"}


def interview_section(state: BuildState) -> Section | None:
    """Return what was asked and answered, with every decision that was left to the architect."""
    artifacts = state.artifacts
    answers = [answer for answer in artifacts.answers if answer.answer]
    if not answers:
        return None
    blocks: list[Block] = [Quote(answer.answer, answer.text) for answer in answers]
    if artifacts.delegated_after:
        notes = f" Notes: {artifacts.notes}" if artifacts.notes else ""
        blocks.append(Note(f"The rest was left to the architect, after {artifacts.delegated_after}.{notes}"))
    return Section("The interview", tuple(blocks))


def specification_section(state: BuildState) -> Section | None:
    """Every proposal, what was objected to it, and what became of it."""
    artifacts = state.artifacts
    if not artifacts.proposals:
        return None
    blocks: list[Block] = []
    for version in artifacts.proposals:
        blocks.append(Voice(f"Proposal {version}", tuple(_proposal(state, version)), "c0", _became(state, version)))
    return Section("The specification", tuple(blocks))


def proposal_blocks(state: BuildState, version: int) -> list[Block]:
    """Return the proposal that lies before the person."""
    return _proposal(state, version) if version in state.artifacts.proposals else []


def _proposal(state: BuildState, version: int) -> list[Block]:
    made = state.artifacts.proposals[version]
    spec = made.spec
    system = cast("dict[str, Any]", spec.get("system", {}))
    claims = cast("dict[str, dict[str, Any]]", spec.get("claims", {}))
    blocks: list[Block] = [Plain(str(system.get("description", "")))]
    rows = tuple((str(claim.get("text", "")), str(claim.get("type", ""))) for claim in claims.values())
    blocks.append(Table((Column("It claims"), Column("Kind")), rows))
    interfaces = cast("dict[str, dict[str, Any]]", spec.get("interfaces", {}))
    methods = tuple(
        (name, f"{method['name']}({', '.join(method.get('params', ()))}) -> {method.get('returns', 'Unit')}")
        for name, interface in interfaces.items()
        for method in interface.get("methods", ())
    )
    blocks.append(Table((Column("Interface"), Column("Operation")), methods))
    if made.decisions:
        lines = tuple(Plain(str(decision.get("text", ""))) for decision in made.decisions)
        blocks.append(Details(f"What the architect decided: {count_noun(len(lines), 'choice')}", lines))
    blocks += [
        Voice("Auditor", tuple(Plain(challenge) for challenge in event.challenges), "red", "objects")
        for event in state.history
        if isinstance(event, e.AuditorChallenged) and event.version == version
    ]
    blocks.append(Details("The whole of it", (Prose(fenced(pretty(spec))),)))
    return blocks


def _became(state: BuildState, version: int) -> str:
    artifacts = state.artifacts
    if version in artifacts.approvals:
        conditions = artifacts.approvals[version].conditions
        return "approved" + (f" on conditions: {'; '.join(conditions)}" if conditions else "")
    if version in artifacts.feedback:
        return f"to be revised: {artifacts.feedback[version]}"
    return "replaced by the next" if version < max(artifacts.proposals) else "waits for approval"


def audit_section(state: BuildState) -> Section | None:
    """Return what the auditors of the composition found, every time they looked."""
    looked = [event for event in state.history if isinstance(event, e.AuditorCompleted)]
    if not looked:
        return None
    contradictions = {
        str(contradiction["id"]): contradiction
        for event in looked
        for contradiction in event.contradictions
        if "id" in contradiction
    }
    dismissed = {name for event in looked for name in event.dismissed}
    auditors = list(dict.fromkeys(event.auditor for event in looked))
    names = [AUDITORS.get(auditor, auditor) for auditor in auditors]
    blocks: list[Block] = [
        Plain(f"{count_noun(len(auditors), 'auditor')} looked, one after the other: {', '.join(names)}.")
    ]
    for name, each in contradictions.items():
        kind = str(each.get("severity", ""))
        ending = "dismissed at second sight" if name in dismissed else "went back to the interview"
        lines = [Plain(str(each.get("analysis", "")))]
        blocks.append(Voice(name, tuple(lines), "red", f"{kind}, {ending}" if kind == "critical" else kind))
    if not contradictions:
        blocks.append(Note("They found no contradiction.", "good"))
    return Section("The audit", tuple(blocks))


def refactoring_section(state: BuildState) -> Section | None:
    """Every transformation that was tried on working code."""
    tried = [cast("Any", event) for event in state.artifacts.transforms]
    if not tried:
        return None
    rows = tuple(
        (
            str(event.function),
            str(event.pattern).replace("-", " "),
            _OUTCOMES.get(event.type.rpartition(".")[2], ""),
            str(getattr(event, "reason", ""))[:400],
        )
        for event in tried
    )
    columns = (Column("Function"), Column("Step"), Column("Outcome"), Column("Why"))
    return Section("Refactoring", (Table(columns, rows),))
