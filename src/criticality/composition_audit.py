"""Composition Audit (CT6): what can be computed, five auditors, a second look; then the tests."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Literal

from pydantic import Field

from criticality import events as e
from criticality.artifacts import Artifacts
from criticality.asking import Note, Question, sieved
from criticality.budget import in_parts
from criticality.canonical import pretty
from criticality.judging.clauses import Condition
from criticality.judging.domain import Domain
from criticality.language import Language
from criticality.lattice_plan import ModulePlan, dependencies, index
from criticality.machine.states import Auditing, ReportingContradictions
from criticality.machine.table import AUDITORS, WAYS_OUT
from criticality.order import waves
from criticality.spec.claims import Claim, StructuredClaim, StructuredClaims
from criticality.spec.spec import Spec
from criticality.spec.values import bounds
from criticality.tree import claim_fault, function_key
from criticality.work import Work
from llm_runtime.events import Event
from llm_runtime.models import Model
from llm_runtime.toml import own_table

#: How often tests are asked for before a person is.
_DERIVATIONS = 3
_AUDITORS: dict[str, dict[str, str]] = own_table("criticality", "words.toml")["auditors"]


class Contradiction(Model):
    """One contradiction, in the specification's form."""

    id: str = Field(pattern=r"^[A-Z]+_[0-9]+$")
    severity: Literal["critical", "warning"]
    involved: list[str] = Field(min_length=1, max_length=12)
    analysis: str = Field(min_length=3, max_length=4000)
    minimal_scenario: list[str] = Field(default=[], max_length=20)
    suggested_resolution_options: list[str] = Field(default=[], max_length=8)


class ContradictionReport(Model):
    """An auditor's answer."""

    contradictions_found: list[Contradiction] = Field(max_length=20)


class SecondLook(Model):
    """The architect's: each reported id confirmed or dismissed."""

    confirmed: list[str]
    dismissed: list[str]


async def audit(work: Work) -> Event:
    """Ask the next auditor; after the last, make the tests."""
    phase = work.at(Auditing)
    left = [name for name in AUDITORS if name not in phase.auditors_completed]
    if not left:
        return await synthesize_tests(work)
    name = left[0]
    if name == "checks":
        return _completed(name, list(deterministic_findings(work.artifacts.approved, work.artifacts.plan)))
    if name == "crossVerification":
        return await _second_look(work, phase)
    reports = await in_parts(name, _by_module(work), lambda item, contracts: _audited(work, name, item, contracts))
    contradictions = [c for report in reports for c in report.contradictions_found]
    if len(reports) > 1:
        prefix = _AUDITORS[name]["prefix"]
        numbered = enumerate(contradictions, start=1)
        contradictions = [c.model_copy(update={"id": f"{prefix}_{n:03d}"}) for n, c in numbered]
    return _completed(name, contradictions)


async def _audited(work: Work, name: str, item: str, contracts: str) -> ContradictionReport:
    words = {word: _AUDITORS[name][word] for word in ("kind", "prefix", "focus")}
    question = work.ask.question("composition_audit", item, "auditor", work.round)
    shown = _shown(work, question, contracts)
    return await work.ask.data(question, ContradictionReport, "audit", None, **words, **shown)


def _shown(work: Work, question: Question, contracts: str) -> dict[str, str]:
    spec = question.fence("SPECIFICATION", _statements(work.artifacts.approved))
    return {"spec": spec, "contracts": question.fence("CONTRACTS", contracts)}


def _completed(name: str, contradictions: list[Contradiction]) -> Event:
    critical = [c.id for c in contradictions if c.severity == "critical"]
    found = [c.model_dump() for c in contradictions]
    return e.AuditorCompleted(auditor=name, contradictions=found, critical=critical)


async def _second_look(work: Work, phase: Auditing) -> Event:
    if not phase.critical:
        return e.AuditorCompleted(auditor="crossVerification")
    live = [c for c in work.artifacts.contradictions if c["id"] in phase.critical]
    computed = [c["id"] for c in live if c["id"].startswith("CHECK_")]
    doubted = [c for c in live if c["id"] not in computed]
    dismissed: list[str] = []
    if doubted:
        looks = await in_parts(
            "crossVerification", _by_module(work), lambda item, text: _looked_at(work, item, text, doubted)
        )
        # In parts, each look sees less: only what none of them confirms is dismissed.
        confirmed = {i for look in looks for i in look.confirmed}
        dismissed = sorted({i for look in looks for i in look.dismissed} - confirmed)
    involved = _canonical_involved(work, [c for c in live if c["id"] not in dismissed])
    return e.AuditorCompleted(auditor="crossVerification", dismissed=dismissed, canonical_decisions=involved)


async def _looked_at(work: Work, item: str, contracts: str, doubted: list[dict[str, Any]]) -> SecondLook:
    ids = {c["id"] for c in doubted}
    question = work.ask.question("composition_audit", item, "architect", work.round)
    shown = _shown(work, question, contracts) | {"contradictions": question.fence("CONTRADICTIONS", pretty(doubted))}

    def fault(look: SecondLook) -> str | None:
        return None if {*look.confirmed, *look.dismissed} == ids else f"judge exactly {sorted(ids)}"

    return await work.ask.data(question, SecondLook, "cross_verification", check=fault, **shown)


def _by_module(work: Work) -> list[str]:
    return [contract_text(work.language, (module,)) for module in work.artifacts.plan]


def _canonical_involved(work: Work, live: list[dict[str, Any]]) -> int:
    """Tell how many confirmed decisions one contradiction quotes, at most."""
    constraints = [" ".join(d.constraint.lower().split()) for d in work.ledger.standing("canonical")]
    quoted = [{" ".join(str(i).lower().split()) for i in c["involved"]} for c in live]
    return max((sum(1 for text in constraints if text and text in involved) for involved in quoted), default=0)


async def report(work: Work) -> Event:
    """Send the report where the machine wants it."""
    phase = work.at(ReportingContradictions)
    by_id = {c["id"]: c for c in work.artifacts.contradictions}
    return e.ContradictionsReported(contradictions=[f"{i}: {by_id[i]['analysis']}" for i in phase.contradictions])


def _statements(spec: Spec) -> str:
    shown = {"system", "newtypes", "data_models", "interfaces", "constraints", "claims"}
    return pretty(spec.model_dump(mode="json", include=shown))


def contract_text(language: Language, plan: tuple[ModulePlan, ...]) -> str:
    """Return every function's signature and clauses."""
    lines: list[str] = []
    for module, function in index(plan).values():
        lines += [f"{module.name}.{language.signature(function)}", *(f"    {c}" for c in function.contract.lines)]
    return "\n".join(lines)


def deterministic_findings(spec: Spec, plan: tuple[ModulePlan, ...]) -> Iterator[Contradiction]:
    """Find what needs no model: unknown claim references, impossible bounds, claims without contracts."""
    number = 0

    def finding(severity: Literal["critical", "warning"], involved: list[str], analysis: str) -> Contradiction:
        nonlocal number
        number += 1
        return Contradiction(id=f"CHECK_{number:03d}", severity=severity, involved=involved, analysis=analysis)

    referenced, domain = set[str](), Domain(spec)
    for name, (_, function) in index(plan).items():
        contract = function.contract
        referenced |= set(contract.claims)
        for claim in (claim for claim in contract.claims if claim not in spec.claims):
            yield finding("critical", [f"CLAIM_REF: {claim}", name], f"{name} refers to {claim}, which is no claim.")
        required = [Condition(domain, p.code) for p in contract.requires if p.checkable]
        for param in function.parameters:
            if nothing := _nothing_left(chain.from_iterable(one.bounds(param.name) for one in required)):
                words = f"Its REQUIRES clauses want of {param.name} {nothing}: no call can satisfy them."
                yield finding("critical", [name], words)
        if not contract.claims and not any(p.checkable for p in contract.ensures):
            yield finding("warning", [name], "It carries no claim and no clause that can be checked.")
    for name, new in spec.newtypes.items():
        if nothing := _nothing_left(new.constraints):
            yield finding("critical", [f"newtypes.{name}"], f"No value of {name} has {nothing}.")
    for name, claim in spec.claims.items():
        if claim.testable and name not in referenced:
            yield finding("warning", [f"claims.{name}: {claim.text}"], f"No contract refers to {name}.")


def _nothing_left(constraints: Iterable[str]) -> str:
    """Tell which bounds leave no value; empty where some do."""
    held = bounds(tuple(constraints))
    low = 1 if held.positive and held.low is None else held.low
    ranges = (("", low, held.high), ("a length of ", held.shortest, held.longest))
    apart = (f"{of}at least {least} and at most {most}" for of, least, most in ranges if _beyond(least, most))
    return next(apart, "")


def _beyond(least: int | None, most: int | None) -> bool:
    return least is not None and most is not None and least > most


async def synthesize_tests(work: Work) -> Event:
    """Make tests before bodies: parse claims, and ask again for tests that show nothing, with the reason."""
    spec = work.artifacts.approved
    wanted = {name: claim for name, claim in spec.claims.items() if claim.testable}
    empty: list[str] = []
    for attempt in range(1, _DERIVATIONS + 1):
        parsed, notes = await _parsed(work, spec, wanted, empty, attempt)
        left_out, claims = [why for _, why in notes], [c.model_dump() for c in parsed.claims]
        generated = e.TestsGenerated(claims=claims, waived=_waived(spec, parsed), left_out=left_out)
        trial = copy.copy(work.artifacts)
        trial.apply(generated)
        empty = await _empty(work, trial, parsed)
        if not empty:
            tests = sum(len(claim.tests) for claim in parsed.claims)
            return generated.model_copy(update={"tests": tests, "units": units_to_inject(work.language, trial)})
    return _not_failing(empty)


async def _parsed(
    work: Work, spec: Spec, wanted: dict[str, Claim], empty: list[str], attempt: int
) -> tuple[StructuredClaims, list[Note]]:
    """Ask for the claims in structured form; from the second time on with what was wrong with the tests."""

    def fault(answer: StructuredClaims) -> str | None:
        if sorted(claim.id for claim in answer.claims) != sorted(wanted):
            return f"parse exactly these claims: {', '.join(wanted)}"
        return next(filter(None, (alone(claim) for claim in answer.claims if claim.tests)), None)

    def alone(claim: StructuredClaim) -> str:
        return claim_fault(work.language, work.artifacts, claim, wanted[claim.id].text)

    def sieve(answer: StructuredClaims) -> tuple[StructuredClaims, list[Note]]:
        claims: list[StructuredClaim] = []
        left_out: list[Note] = []
        for claim in answer.claims if {claim.id for claim in answer.claims} <= wanted.keys() else ():
            tests = {test.name: claim.model_copy(update={"tests": [test]}) for test in claim.tests}
            kept, notes = sieved(tests.values(), alone, lambda one: one.tests[0].name)
            scope = notes[0][1] if notes and not kept else claim.scope
            claims.append(claim.model_copy(update={"tests": [one.tests[0] for one in kept], "scope": scope}))
            left_out += notes
        return (StructuredClaims(claims=claims) if claims else answer), left_out

    question = work.ask.question("tests", "claims", "structurer", work.round, attempt)
    shown = pretty({name: claim.model_dump() for name, claim in wanted.items()})
    if empty:
        shown += "\n\nYour last tests were of no use:\n" + "\n".join(f"- {line}" for line in empty[:12])
    signatures = question.fence("SIGNATURES", contract_text(work.language, work.artifacts.plan))
    given = {"signatures": signatures, "claims": question.fence("CLAIMS", shown)}
    given["spec"] = question.fence("SPECIFICATION", _statements(spec))
    return await work.ask.parts(question, StructuredClaims, "claims", fault, sieve, **given)


def _waived(spec: Spec, parsed: StructuredClaims) -> dict[str, str]:
    untestable = [name for name, claim in spec.claims.items() if not claim.testable]
    waived = dict.fromkeys(untestable, "not testable, says the specification")
    return waived | {c.id: c.scope or "the structurer found no test" for c in parsed.claims if not c.tests}


async def _empty(work: Work, trial: Artifacts, parsed: StructuredClaims) -> list[str]:
    """Return tests that cannot show anything, and claims that lack a test without a word, one line each."""
    spec = trial.approved
    lacking = [c.id for c in parsed.claims if not c.tests and not c.scope]
    missing = [f"{name}: it can be tested, and has no test and no reason" for name in lacking]
    return missing + await work.court.vacuous(spec, trial.plan, parsed.claims)


def _not_failing(empty: list[str]) -> Event:
    question = f"These tests cannot show anything: {'; '.join(empty[:6])}"
    return e.BlockRequested(reason="structural_defect", question=question, options=[*WAYS_OUT["empty_tests"]])


def units_to_inject(language: Language, artifacts: Artifacts) -> list[str]:
    """Units without a body that still fits, in order: what did not change is not done again (CT5)."""

    def fits(name: str) -> bool:
        return name in artifacts.bodies and artifacts.bodies[name].key == function_key(language, artifacts, name)

    return [unit for unit in units_in_order(artifacts) if not all(map(fits, unit.split("+")))]


def units_in_order(artifacts: Artifacts) -> list[str]:
    """Return all units, wave by wave: whatever a unit depends on stands in an earlier wave."""
    return [unit for wave in waves(artifacts.order, dependencies(artifacts.plan)) for unit in wave]
