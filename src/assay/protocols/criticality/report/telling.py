"""What tells how a build came about: its proposals, and what its auditors found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from assay.protocols.criticality.report.state import BuildState
from assay.protocols.criticality.report.words import AUDITORS
from assay.report.clean import fenced
from assay.report.columns import Column
from assay.report.story import Block, Details, Plain, Prose, Table, Voice
from assay.report.units import count_noun
from criticality import events as e
from criticality.canonical import pretty


def proposal_blocks(state: BuildState, version: int) -> list[Block]:
    """Return a proposal, and what was objected to it."""
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


def became(state: BuildState, version: int) -> str:
    """Return what became of a proposal."""
    artifacts = state.artifacts
    if version in artifacts.approvals:
        conditions = artifacts.approvals[version].conditions
        return "approved" + (f" on conditions: {'; '.join(conditions)}" if conditions else "")
    if version in artifacts.feedback:
        return f"to be revised: {artifacts.feedback[version]}"
    return "replaced by the next" if version < max(artifacts.proposals) else "waits for approval"


def audited(state: BuildState) -> tuple[list[str], dict[str, dict[str, str]]]:
    """Return who looked at the composition, and what they found: by its id its kind and their analysis."""
    looked = [event for event in state.history if isinstance(event, e.AuditorCompleted)]
    dismissed = {name for event in looked for name in event.dismissed}
    contradictions = [one for event in looked for one in event.contradictions if "id" in one]
    found = {str(one["id"]): _contradiction(one, str(one["id"]) in dismissed) for one in contradictions}
    return [AUDITORS.get(auditor, auditor) for auditor in dict.fromkeys(event.auditor for event in looked)], found


def _contradiction(one: Mapping[str, Any], dismissed: bool) -> dict[str, str]:
    kind, ending = str(one.get("severity", "")), "went back to the interview"
    ending = "dismissed at second sight" if dismissed else ending
    return {"kind": f"{kind}, {ending}" if kind == "critical" else kind, "analysis": str(one.get("analysis", ""))}
