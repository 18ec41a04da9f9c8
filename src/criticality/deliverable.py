"""What lies on disk, as a function of what happened: specification, code, tests, ledger, trace, archive."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from criticality import events as e
from criticality.artifacts import Artifacts
from criticality.canonical import pretty, toml
from criticality.edits import BodyEdited, ClaimsEdited, SpecEdited
from criticality.language import Language
from criticality.ledger import Ledger
from criticality.machine.states import Active, Completed, ProtocolState
from criticality.pages import page
from criticality.project import files
from criticality.telemetry import Telemetry
from criticality.trace import trace, trace_markdown
from criticality.tree import full_tree
from llm_runtime.events import Event

#: Events after which the sources on disk are others.
_CODE = (
    e.CompileSucceeded,
    e.TestsGenerated,
    e.VerificationPassed,
    e.VerdictHandled,
    e.SemanticsVerified,
    BodyEdited,
    ClaimsEdited,
    e.HumanResponded,
)


def state_text(state: ProtocolState, artifacts: Artifacts, seq: int) -> str:
    """``state.json``: where the project stands, and up to which line of the journal that is so."""
    artifact_paths = {
        "spec": "spec/spec.toml" if artifacts.spec else None,
        "lattice": "src" if artifacts.spec and artifacts.modules else None,
        "tests": "tests" if artifacts.claims else None,
        "archive": sorted(artifacts.archive),
    }
    data = {
        "version": "1.0.0",
        "projectId": artifacts.name,
        "protocolState": state.model_dump(mode="json", by_alias=True),
        "artifacts": artifact_paths,
        "ledgerPath": files.LEDGER,
        "journalLines": seq,
    }
    return pretty(data) + "\n"


def ledger_text(ledger: Ledger) -> str:
    """``ledger.toml``: operations in the order they happened; a longer ledger begins with the shorter one."""
    told = [op.model_dump() for op in ledger.operations]
    return page("criticality", "ledger.toml.jinja", {"toml": _value}, {"operations": told}).rstrip("\n") + "\n"


def _value(value: Any) -> str:
    """Return a TOML value; JSON's strings and arrays of strings are TOML's, but for the delete character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def project_files(
    language: Language, state: ProtocolState, artifacts: Artifacts, ledger: Ledger, telemetry: Telemetry,
    isolation: str, event: Event | None,
) -> dict[str, str]:  # fmt: skip
    """Files that follow from the journal, by path below the project.

    Args:
        event: what happened last, so that only what it touches is made again; ``None`` makes everything.
    """
    tree = {files.LEDGER: ledger_text(ledger)} | _interview(artifacts, event) | dict(artifacts.archive)
    tree[files.TELEMETRY] = pretty(telemetry.summary(state, artifacts)) + "\n"
    spec = artifacts.spec
    if spec is None:
        return tree
    if event is None or isinstance(event, e.Approved | SpecEdited | e.TestsGenerated):
        tree["spec/spec.toml"] = toml(spec.model_dump(mode="json"))
        tree["spec/claims.toml"] = toml(claims_data(artifacts))
        tree |= language.project_files(spec)
    if event is not None and isinstance(state, Active) and isinstance(event, _CODE):
        tests = artifacts.claims and not isinstance(event, e.VerificationPassed | e.SemanticsVerified | BodyEdited)
        tree |= full_tree(language, artifacts) if tests else language.sources(spec, artifacts.plan, artifacts.bodies)
    if isinstance(state, Completed) or (event is None and artifacts.order):
        tree |= full_tree(language, artifacts)
        tree["docs/contracts.md"] = contracts_text(language, artifacts)
        data = trace(artifacts)
        tree["trace.json"] = pretty(data) + "\n"
        tree["trace.md"] = trace_markdown(data, isolation)
        tree["metrics.json"] = pretty(telemetry.metrics(artifacts) | {"measured": artifacts.metrics}) + "\n"
    return tree


def contracts_text(language: Language, artifacts: Artifacts) -> str:
    """``contracts.md``: what each function promises, clause by clause, and what must hold of each type."""
    spec = artifacts.approved
    rules = [(name, new.constraints) for name, new in spec.newtypes.items()]
    rules += [
        (name, [*model.invariants, *(f"{f.name}: {c}" for f in model.fields for c in f.constraints)])
        for name, model in spec.data_models.items()
    ]
    values = {"language": language, "plan": artifacts.plan, "settled": artifacts.settled, "rules": rules}
    return page("criticality", "contracts.md.jinja", {}, values).rstrip("\n") + "\n"


def claims_data(artifacts: Artifacts) -> dict[str, Any]:
    """``claims.toml``: each claim as it was said, and as it was parsed, once it was."""
    claims: dict[str, Any] = {}
    for name, claim in artifacts.approved.claims.items():
        parsed = artifacts.claims.get(name)
        claims[name] = claim.model_dump() | (parsed.model_dump(exclude={"id", "type", "testable"}) if parsed else {})
    return {"claims": claims}


def _interview(artifacts: Artifacts, event: Event | None) -> dict[str, str]:
    """Return the interview's state, its transcript, and every proposal with what became of it."""
    base = ".criticality/interview"
    turns = [asdict(answer) for answer in artifacts.answers]
    state = {
        "answered": [a.question for a in artifacts.answers],
        "extractedRequirements": [a.answer for a in artifacts.answers if a.answer],
        "delegatedAfter": artifacts.delegated_after or None,
        "features": artifacts.features,
    }
    lines = [json.dumps(turn, ensure_ascii=False) + "\n" for turn in turns]
    tree = {f"{base}/transcript.jsonl": "".join(lines), f"{base}/state.json": pretty(state) + "\n"}
    if event is None or isinstance(event, e.ProposalMade | e.Approved | e.Revised):
        for version, made in artifacts.proposals.items():
            tree[f"{base}/proposals/v{version}.toml"] = toml(made.spec)
        for version, text in artifacts.feedback.items():
            tree[f"{base}/proposals/v{version}_feedback.json"] = pretty({"feedback": text}) + "\n"
        for version, approved in artifacts.approvals.items():
            tree[f"{base}/proposals/v{version}_approved.json"] = pretty({"conditions": approved.conditions}) + "\n"
    return tree
