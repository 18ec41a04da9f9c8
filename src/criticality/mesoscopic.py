"""Mesoscopic (CT14): clusters by claim, verdicts, and re-injection of what violated claims refer to."""

from __future__ import annotations

from pydantic import Field

from criticality import events as e
from criticality.artifacts import Artifacts
from criticality.asking import Note, sieved
from criticality.budget import in_parts
from criticality.canonical import pretty
from criticality.composition_audit import contract_text, units_in_order
from criticality.judging.hearing import Fault
from criticality.machine.states import ExecutingCluster, GeneratingTests, HandlingVerdict
from criticality.spec.claims import ClaimTest
from criticality.tree import claim_fault
from criticality.verdicts import judged
from criticality.work import Work
from llm_runtime.events import Event
from llm_runtime.grouping import grouped
from llm_runtime.models import Model


class Scenario(ClaimTest):
    """A test across functions, and the claim that it is about."""

    claim: str


class Scenarios(Model):
    """The structurer's answer for one cluster."""

    scenarios: list[Scenario] = Field(default=[], max_length=8)


class ClusterDefinition(Model):
    """Modules that are tested together, and the claims that bind them."""

    name: str
    modules: list[str]
    claims: list[str]


def clusters(artifacts: Artifacts) -> list[ClusterDefinition]:
    """One cluster for each topic of claims: ``balance_001`` and ``balance_002`` belong to ``balance``.

    Its modules are those of the functions that carry the claims' references, or that the claims name.
    """
    found: list[ClusterDefinition] = []
    for topic, claims in grouped((claim.rpartition("_")[0], claim) for claim in artifacts.claims).items():
        named = (name for claim in claims for name in artifacts.claims[claim].functions)
        modules = {name.partition(".")[0] for name in (*named, *referring(artifacts, claims))}
        found.append(ClusterDefinition(name=topic, modules=sorted(modules), claims=claims))
    return found


def referring(artifacts: Artifacts, claims: list[str]) -> list[str]:
    """Return functions that carry a CLAIM_REF of any of the claims."""
    return [name for name, (_, function) in artifacts.functions.items() if set(function.contract.claims) & set(claims)]


async def generate(work: Work) -> Event:
    """Scenarios for the next cluster, written without sight of any body."""
    phase = work.at(GeneratingTests)
    spec = work.artifacts.approved
    every = clusters(work.artifacts)
    names = [c.name for c in every]
    cluster = next(c for c in every if c.name not in phase.tests_generated)
    known = {c for c in cluster.claims if work.artifacts.claims[c].functions}

    def alone(scenario: Scenario) -> str:
        if scenario.claim not in known:
            return f"{scenario.claim} is no claim of this cluster"
        test = ClaimTest.model_validate(scenario.model_dump(exclude={"claim"}))
        claim = work.artifacts.claims[scenario.claim].model_copy(update={"tests": [test]})
        return claim_fault(work.language, work.artifacts, claim, spec.claims[scenario.claim].text)

    def fault(answer: Scenarios) -> str | None:
        return next((why for scenario in answer.scenarios if (why := alone(scenario))), None)

    def sieve(answer: Scenarios) -> tuple[Scenarios, list[Note]]:
        kept, notes = sieved(answer.scenarios, alone, lambda scenario: scenario.name)
        return Scenarios(scenarios=kept), notes

    async def written(item: str, signatures: str) -> tuple[Scenarios, list[Note]]:
        question = work.ask.question("mesoscopic", item, "structurer", work.round)
        shown = pretty(spec.model_dump(mode="json", include={"system", "data_models", "constraints"}))
        claims = "\n".join(f"{c}: {spec.claims[c].text}" for c in cluster.claims)
        given = {"spec": question.fence("SPECIFICATION", shown), "claims": question.fence("CLAIMS", claims)}
        given["signatures"] = question.fence("SIGNATURES", signatures)
        return await work.ask.parts(question, Scenarios, "scenarios", fault, sieve, **given)

    modules = [module for module in work.artifacts.plan if module.name in cluster.modules]
    answers = await in_parts(cluster.name, [contract_text(work.language, (m,)) for m in modules], written)
    return e.ClusterTestsGenerated(
        cluster=cluster.name,
        modules=cluster.modules,
        claims=cluster.claims,
        scenarios=[s.model_dump() for part, _ in answers for s in part.scenarios],
        left_out=[why for _, notes in answers for _, why in notes],
        clusters=names,
    )


async def execute(work: Work) -> Event:
    """Run one cluster's claims and scenarios on the whole system."""
    cluster = work.artifacts.clusters[work.at(ExecutingCluster).cluster_id]
    carrying = referring(work.artifacts, cluster.claims)
    claims = [name for name in cluster.claims if work.artifacts.claims[name].tests]
    if not claims and not carrying and not cluster.scenarios:
        return e.ClusterExecuted(cluster=cluster.cluster, tests_run=0, tests_failed=0)
    # Contracts of what carries the claims are tried again, with the system's other bodies and more values.
    verdict = await judged(work, carrying, work.artifacts.bodies, claims, cluster=cluster.cluster, thorough=True)
    violated = [_violated(work.artifacts, cluster.claims, fault) for fault in verdict.faults]
    if verdict.guilty is not None:
        violated += [c for c in work.artifacts.functions[verdict.guilty.function][1].contract.claims if c in claims]
    distinct, counts = list(dict.fromkeys(violated)), {"tests_run": verdict.cases, "tests_failed": len(verdict.faults)}
    return e.ClusterExecuted(cluster=cluster.cluster, **counts, violated_claims=distinct)


def _violated(artifacts: Artifacts, claims: list[str], fault: Fault) -> str:
    """Return the claim that a fault is about: its own, or one that the function carries, or the cluster's first."""
    own = fault.claim if fault.claim in claims else fault.claim.removesuffix("0")
    if own in claims:
        return own
    carried = artifacts.functions[fault.function][1].contract.claims if fault.function in artifacts.functions else ()
    return next((name for name in carried if name in claims), claims[0])


async def verdict(work: Work) -> Event:
    """Pass, or the units that the violated claims refer to; the whole cluster where nothing is linked."""
    phase = work.at(HandlingVerdict)
    claims = list(phase.violated_claims)
    if not claims:
        return e.VerdictHandled(cluster=phase.cluster_id, passed=True)
    linked = set(referring(work.artifacts, claims))
    if not linked:
        modules = set(work.artifacts.clusters[phase.cluster_id].modules)
        linked = {name for name in work.artifacts.functions if name.partition(".")[0] in modules}
    units = [unit for unit in units_in_order(work.artifacts) if linked & set(unit.split("+"))]
    return e.VerdictHandled(cluster=phase.cluster_id, passed=False, violated_claims=claims, units=units)
