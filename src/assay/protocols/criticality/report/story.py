"""A build's report: where it stands, what shows each claim, the functions, and how it came about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

from assay.protocols.criticality.report.state import BuildState, Unit
from assay.protocols.criticality.report.telling import audited, became, proposal_blocks
from assay.protocols.criticality.report.tracing import Traced, traced
from assay.protocols.criticality.report.words import PHASE_NAMES, PURPOSES, TIERS, place_name
from assay.report.clean import escaped, fenced
from assay.report.frame import cost_section, head_facts, provenance_section
from assay.report.outline import Writing, read_outline
from assay.report.story import Block, Details, Note, Plain, Prose, Section, Story, Tone
from assay.report.units import count_noun, in_words
from criticality.lattice_plan import FunctionPlan
from criticality.machine.states import Active, AwaitingApproval, Blocked, Completed

_OUTCOMES = {"semantics_verified": "kept", "semantics_broken": "taken back", "transform_skipped": "not applied"}


def build_story(state: BuildState) -> Story:
    """Tell the story of a build in whatever state it is."""
    claims, artifacts, units = traced(state), state.artifacts, list(state.units.values())
    accepted = [unit for unit in units if unit.state == "accepted"]
    auditors, contradictions = audited(state)
    scope = {
        "title": state.run.title or artifacts.name or "A build",
        "place": place_name(state.place),
        "accepted": len(accepted),
        "at_once": sum(unit.attempts == 1 for unit in accepted),
        "purposes": PURPOSES,
        "completed": isinstance(state.machine, Completed),
        "claims": claims,
        "holding": sum(claim.result == "holds" for claim in claims),
        "opened": [claim for claim in claims if claim.tests or claim.contracts],
        "units": units,
        "artifacts": artifacts,
        "proposals": list(artifacts.proposals),
        "answers": [answer for answer in artifacts.answers if answer.answer],
        "auditors": auditors,
        "contradictions": contradictions,
    }
    forms: Mapping[str, Callable[[Any], str]] = {**_FORMS, "became": partial(became, state)}
    own: dict[str, Callable[[Any], Iterable[Block]]] = {
        "standing": lambda _: _standing(state),
        "claim": lambda claim: _opened(state, claim),
        "lives": lambda _: _rejected(units),
        "code": lambda _: _code(state, claims),
        "proposal": lambda version: proposal_blocks(state, version),
    }
    story = _outline().story(Writing(scope, forms, own))
    later = filter(None, (cost_section(state.run, _tier), _provenance(state)))
    return replace(story, facts=(*story.facts, *head_facts(state.run)), sections=(*story.sections, *later))


def _standing(state: BuildState) -> list[Block]:
    went = [
        f"It went back from {PHASE_NAMES[source]} to {PHASE_NAMES[target]} {count_noun(times, 'time')}."
        for (source, target), times in state.back.items()
    ]
    blocks: list[Block] = [_now(state), *map(Plain, went)]
    machine = state.machine
    if isinstance(machine, Active) and isinstance(machine.phase, AwaitingApproval):
        version = machine.phase.proposal_version
        blocks += proposal_blocks(state, version) if version in state.artifacts.proposals else []
    return blocks


def _rejected(units: Sequence[Unit]) -> list[Block]:
    """Return what rejected the attempts at each function that took more than one."""
    hard = [
        Plain(f"{unit.name}: {'; then '.join(f'{name}, {why}' for name, why in unit.life)}.")
        for unit in units
        if len(unit.life) > 1
    ]
    return [Details(f"What rejected each: {count_noun(len(hard), 'function')}", tuple(hard))] if hard else []


def _now(state: BuildState) -> Block:
    machine = state.machine
    match machine:
        case Completed():
            folder = str((state.run.started.task if state.run.started else {}).get("folder", ""))
            return Plain(f"It is finished. The code, its tests and the trace lie in {folder or 'its folder'}.")
        case Blocked():
            options = "; ".join(option.label for option in machine.query.options)
            return Note(f"{machine.query.question} The ways out: {options}.", "warning")
        case Active():
            phase = machine.phase.phase
            return Plain(f"{PHASE_NAMES[phase]}. {PURPOSES[phase]}")


def _opened(state: BuildState, claim: Traced) -> tuple[Block, ...]:
    """Return a claim from its sentence to its result, with every clause on the way."""
    blocks: list[Block] = [Plain(f"A claim of the kind: {claim.kind}.")]
    functions = state.artifacts.functions
    for name in claim.contracts:
        blocks.append(Prose(f"Contract of `{name}`\n\n{fenced(chr(10).join(functions[name][1].contract.lines))}"))
    structured = state.artifacts.claims.get(claim.name)
    if structured is not None:
        for test in structured.tests:
            lines = [f"for any {each}" for each in test.variables]
            lines += [f"where {each}" for each in test.assume] + list(test.steps)
            lines += [f"raises {test.raises}"] if test.raises else [f"then {each}" for each in test.check]
            blocks.append(Prose(f"Test `{test.name}`\n\n{fenced(chr(10).join(lines))}"))
    ran = f" Its cluster ran {count_noun(claim.times, 'time')}." if claim.times else ""
    tone: Tone = "good" if claim.result == "holds" else "bad" if claim.result == "violated" else "info"
    blocks.append(Note(f"Result: {claim.result}{f': {claim.reason}' if claim.reason else ''}.{ran}", tone))
    return tuple(blocks)


def _tally(units: list[Unit]) -> str:
    done = [unit for unit in units if unit.state == "accepted"]
    by = {TIERS.get(tier, tier): sum(unit.tier == tier for unit in done) for tier in TIERS}
    written = in_words([f"{count} by the {name}" for name, count in by.items() if count])
    return f"{len(done)} of {count_noun(len(units), 'unit')} accepted" + (f": {written}." if written else ".")


def _code(state: BuildState, claims: list[Traced]) -> list[Block]:
    """Return the accepted functions, module by module: signature, contract, body, and the tests that show them."""
    blocks: list[Block] = []
    for module in state.artifacts.plan:
        own = [(f, f"{module.name}.{f.name}") for f in module.functions]
        lines = [Prose(_function(state, claims, plan, name)) for plan, name in own if name in state.artifacts.bodies]
        if lines:
            blocks.append(Details(f"{module.name}: {module.purpose}", tuple(lines)))
    return blocks


def _function(state: BuildState, claims: list[Traced], plan: FunctionPlan, name: str) -> str:
    body = state.artifacts.bodies[name]
    tests = [test for claim in claims if name in claim.contracts for test in claim.tests]
    cases = sum(unit.tests for unit in state.units.values() if name in unit.name.split("+"))
    shown = [f"{count_noun(cases, 'case')} against its contract"] if cases else []
    shown += (
        [f"{count_noun(len(tests), 'test')} of its claims: {', '.join(f'`{test}`' for test in tests)}"] if tests else []
    )
    parts = [
        f"**`{plan.name}({', '.join(plan.params)}) -> {plan.returns}`**",
        escaped(plan.doc),
        f"Contract\n\n{fenced(chr(10).join(plan.contract.lines))}",
        f"Body\n\n{fenced(body.declarations + body.text)}",
        f"Shown by {in_words(shown)}." if shown else "",
    ]
    return "\n\n".join(part for part in parts if part)


def _tier(seat: str, phase: str) -> str:
    return (seat.partition(":")[2] or seat or phase).replace("_", " ")


def _provenance(state: BuildState) -> Section | None:
    run = state.run
    task = run.started.task if run.started else {}
    rows = {
        "Project": state.artifacts.name,
        "Folder": str(task.get("folder", "")),
        "Language": str(task.get("language", "")),
        "Seed": str(state.artifacts.seed),
        "Not understood": count_noun(state.odd, "event") if state.odd else "",
    }
    isolation = run.result.get("isolation")
    under = [Plain(f"Generated code ran under: {isolation}.")] if isolation else []
    return provenance_section(run, rows, *under)


_FORMS: Mapping[str, Callable[[Any], str]] = {
    "contracts": lambda names: ", ".join(names) or "none refers to it",
    "notes": lambda notes: f" Notes: {notes}" if notes else "",
    "phase": lambda name: PHASE_NAMES[name],
    "outcome": lambda kind: _OUTCOMES.get(kind.rpartition(".")[2], ""),
    "result": lambda claim: claim.result if not claim.reason else f"{claim.result}: {claim.reason}",
    "some": lambda number: str(number or "–"),
    "state": lambda unit: unit.state + (f", again after a claim failed ({unit.again})" if unit.again else ""),
    "step": lambda pattern: pattern.replace("-", " "),
    "tally": _tally,
    "tier": lambda tier: TIERS.get(tier, tier) or "–",
    "together": lambda name: name.replace("+", ", "),
    "why": lambda event: str(getattr(event, "reason", ""))[:400],
}
_outline = cache(partial(read_outline, __package__ or "", "build.toml"))
