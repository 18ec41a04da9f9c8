"""What `criticality` shows when it is asked: status, ledger, toolchain; folds over events, and nothing else."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.protocols.criticality.report.words import place_name
from assay.report.units import count_noun
from criticality.machine.states import AwaitingApproval, Blocked, Completed
from criticality.machine.step import where
from llm_runtime.installing import how_to_install, version_of

if TYPE_CHECKING:
    from criticality.artifacts import Artifacts
    from criticality.language import Fact
    from criticality.ledger import Ledger
    from criticality.machine.states import ProtocolState
    from criticality.telemetry import Telemetry

_PARTS = ("tomlkit", "cronsim", "questionary")


def folder_words(root: Path) -> str:
    """Return the option of a command that names a project's folder; nothing where it is this one."""
    return "" if root.absolute() == Path.cwd() else f" -C {shlex.quote(os.path.relpath(root))}"


def status_lines(state: ProtocolState, artifacts: Artifacts, ledger: Ledger, telemetry: Telemetry, at: str) -> str:
    """Write the status for a reader; the next step is always named, ``at`` the project's folder."""
    summary = telemetry.summary(state, artifacts)
    lines = [f"{artifacts.name}: {place_name(where(state))}", f"  {_so_far(state, artifacts, summary['progress'])}"]
    spent = summary["cost"]["totalUSD"]
    calls = sum(usage.calls for usage in artifacts.usage.values())
    lines += [f"  {count_noun(len(ledger.standing()), 'decision')}, {count_noun(calls, 'model call')}, ${spent:.4f}"]
    if isinstance(state, Blocked):
        lines += ["", f"Blocked ({state.reason.replace('_', ' ')}): {state.query.question}"]
        width = max(len(option.id) for option in state.query.options)
        lines += [f"  {option.id:<{width}}  {option.label}" for option in state.query.options]
        lines += [f"next: criticality resolve{at}, or criticality resolve{at} OPTION"]
    elif isinstance(state, Completed):
        lines += ["next: read trace.md; README.md says how to run the tests"]
    elif isinstance(state.phase, AwaitingApproval):
        lines += [f"next: read {state.phase.proposal_path}, then: criticality approve{at}"]
    else:
        lines += [f"next: criticality run{at}"]
    return "\n".join(lines)


def _so_far(state: ProtocolState, artifacts: Artifacts, progress: dict[str, Any]) -> str:
    """How far it is, in what the phase counts in."""
    if artifacts.order:
        done, total = progress["functionsComplete"], progress["functionsTotal"]
        return f"{done} of {count_noun(total, 'function')} accepted"
    if artifacts.modules:
        return f"{count_noun(len(artifacts.modules), 'module')} planned"
    count = count_noun(len(artifacts.answers), "answer")
    return f"{count}; left to the architect after {artifacts.delegated_after}" if artifacts.delegated_after else count


def status_json(state: ProtocolState, artifacts: Artifacts, telemetry: Telemetry) -> str:
    """Write the status for a program."""
    data = telemetry.summary(state, artifacts) | {"state": state.model_dump(mode="json", by_alias=True)}
    return json.dumps(data, ensure_ascii=False)


def ledger_lines(ledger: Ledger, everything: bool) -> str:
    """Write the decisions, one a line."""
    statuses = ledger.statuses()
    lines = [
        f"{name}  {statuses[name]:<11} {decision.confidence:<11} {decision.constraint}"
        for name, decision in ledger.decisions().items()
        if everything or statuses[name] == "active"
    ]
    return "\n".join(lines) or "no decisions yet"


def outcome_line(state: ProtocolState, root: Path) -> str:
    """Say how a sitting ended, and what to do next."""
    match state:
        case Completed():
            return f"done: {root.name} is built; README.md says how to run its tests, trace.md what they show"
        case Blocked():
            return f"Criticality blocked. Run `criticality status{folder_words(root)}` for details."
        case _:
            return f"waiting for you ({place_name(where(state))}); go on with: criticality resume{folder_words(root)}"


def toolchain_lines() -> str:
    """For Criticality itself and for each language: what is here, what is missing, and how to get it."""
    from criticality.language import Fact
    from criticality.languages import language, languages

    own = [Fact(name, version_of(name), how_to_install("code")) for name in _PARTS]
    parts = [("Criticality", own), *((one.title, one.facts()) for one in map(language, languages()))]
    return "\n\n".join(_part(title, facts) for title, facts in parts)


def _part(title: str, facts: list[Fact]) -> str:
    missing = [fact.name for fact in facts if fact.version is None and fact.needed]
    width = max(len(fact.name) for fact in facts)
    lines = [f"{title}: " + (f"not ready, {', '.join(missing)} missing" if missing else "ready")]
    for fact in facts:
        what = fact.version or f"{'missing' if fact.needed else 'not here (optional)'}; {fact.get}"
        lines.append(f"  {fact.name:<{width}}  {what}")
    return "\n".join(lines)
