"""The engine's way to the judge: what is judged when, and hearings made from what a project has come to."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from criticality.artifacts import Artifacts, Body
from criticality.config import Config
from criticality.judging.court import Court
from criticality.judging.hearing import Hearing, Verdict
from criticality.judging.values import Counts
from criticality.language import Language
from criticality.lattice_plan import dependencies
from criticality.order import reached, waves
from criticality.spec.claims import StructuredClaim
from llm_runtime.grouping import grouped


@dataclass(slots=True)
class Bench:
    """What judging needs: what a project has come to, its language, the court."""

    artifacts: Artifacts
    language: Language
    court: Court
    config: Config


Figures: TypeAlias = "dict[str, Any]"
_WORD = re.compile(r"[a-z_][a-z0-9_]*")


async def judged(
    work: Bench, unit: Sequence[str], bodies: Mapping[str, Body], due: Collection[str], *, cluster: str = "",
    thorough: bool = False, settled: Mapping[str, Sequence[str]] | None = None,
) -> Verdict:  # fmt: skip
    """Return the verdict on the functions of a unit and on claims.

    Args:
        bodies: of the whole system, the unit's among them.
        cluster: its scenarios are judged with the claims.
        thorough: with as many drawn values as the end of a project asks for.
        settled: clauses by function that were settled on since, besides those that the project has.
    """
    scenarios = _scenarios(work.artifacts, cluster)
    made = hearing(work, unit, bodies, due=due, claims=scenarios, thorough=thorough, settled=settled)
    return await work.court.hear(made)


def hearing(
    work: Bench, unit: Sequence[str], bodies: Mapping[str, Body], *, due: Collection[str] = (),
    claims: Sequence[StructuredClaim] = (), variants: Sequence[tuple[str, str, Body]] = (),
    thorough: bool = False, settled: Mapping[str, Sequence[str]] | None = None,
) -> Hearing:  # fmt: skip
    """Return a hearing of a unit.

    Args:
        claims: judged besides those that are due.
        variants: other bodies, each with what it is and the function that it is of.
        settled: clauses that were settled on since, besides those that the project has.
    """
    spec, artifacts = work.artifacts.approved, work.artifacts
    accepted = {name: body for name, body in bodies.items() if name not in unit}
    systems = [dict(bodies), accepted, *({**bodies, name: body} for _, name, body in variants)]
    program = work.language.serve(spec, artifacts.plan, systems)
    assert program is not None
    settings = work.config.acceptance
    counts = Counts(settings.small, settings.text, settings.drawn)
    if thorough:
        counts = Counts(counts.small, counts.text, max(counts.drawn, work.config.orchestrator.mesoscopic_examples))
    extra = [claim.model_copy(update={"id": f"{claim.id}0"}) for claim in claims]
    return Hearing(
        spec=spec,
        modules=artifacts.plan,
        claims=[*artifacts.claims.values(), *extra],
        program=program,
        unit=list(unit),
        accepted=list(accepted),
        due=[*due, *(claim.id for claim in extra)],
        pinned={name: artifacts.pinned[name] for name in unit if name in artifacts.pinned},
        settled={
            name: list(dict.fromkeys([*artifacts.settled.get(name, ()), *(settled or {}).get(name, ())]))
            for name in {**artifacts.settled, **(settled or {})}
        },
        texts={name: claim.text for name, claim in spec.claims.items()},
        variants=[(kind, name) for kind, name, _ in variants],
        counts=counts,
        bodies={
            name: [bodies[name].text, *(body.text for _, of, body in variants if of == name)]
            for name in unit
            if name in bodies
        },
        seconds=settings.seconds,
    )


def _scenarios(artifacts: Artifacts, cluster: str) -> list[StructuredClaim]:
    """Return the scenarios of a cluster as further claims, each with the id of its claim and a 0 behind it."""
    if cluster not in artifacts.clusters:
        return []
    scenarios = artifacts.clusters[cluster].scenarios
    tests = grouped((str(one["claim"]), {k: v for k, v in one.items() if k != "claim"}) for one in scenarios)
    return [
        StructuredClaim.model_validate({**artifacts.claims[claim].model_dump(), "tests": group})
        for claim, group in tests.items()
    ]


def due(artifacts: Artifacts, unit: str) -> list[str]:
    """Return the claims that are judged with a unit, once all that they need is there.

    A claim that looks through a function of a later wave is judged with that function; claims over several units,
    or that look through several functions of one wave, belong to Mesoscopic.
    """
    order = enumerate(waves(artifacts.order, dependencies(artifacts.plan)))
    level = {name: (at, one) for at, wave in order for one in wave for name in one.split("+")}
    result: list[str] = []
    for name, claim in artifacts.claims.items():
        units = {level[f][1] for f in claim.functions if f in level}
        if not claim.tests or len(units) != 1:
            continue
        needed = {level[f] for f in (*claim.functions, *called(artifacts, claim)) if f in level}
        last = max(at for at, _ in needed)
        if [one for at, one in needed if at == last] == [unit]:
            result.append(name)
    return result


def called(artifacts: Artifacts, claim: StructuredClaim) -> list[str]:
    """Return the functions that a claim's tests name."""
    texts = [text for test in claim.tests for text in (*test.assume, *test.steps, *test.check)]
    words = {word for text in texts for word in _WORD.findall(text)}
    return [name for name in artifacts.functions if name.partition(".")[2] in words]


def rested_on(artifacts: Artifacts, unit: str) -> dict[str, Body]:
    """Return the accepted bodies that a unit may rest on, all of earlier waves: lanes do not see each other."""
    edges = dependencies(artifacts.plan)
    begun = [t for name in unit.split("+") for t in edges[name]]
    for claim in due(artifacts, unit):
        begun += [*artifacts.claims[claim].functions, *called(artifacts, artifacts.claims[claim])]
    seen = set[str]()
    wanted = {name for one in begun if one in edges for name in reached(edges, one, seen)}
    own = set(unit.split("+"))
    return {name: body for name, body in artifacts.bodies.items() if name in wanted - own}


def delivered(name: str, verdict: Verdict, compared: Verdict) -> list[list[Any]]:
    """Return the calls that the tests of a function are made of: those that reject other bodies come first."""
    return [*compared.kept.get(name, ()), *verdict.kept.get(name, ())][:240]


def suite(name: str, compared: Verdict, written: Callable[[list[list[Any]]], object]) -> list[int]:
    """Return how many rejected bodies the tests that are delivered tell apart, and of how many.

    Each was run on the calls of the tests; what counts is a call that is written and ends otherwise.

    Args:
        written: tells of some kept cases whether a language makes tests of them.
    """
    kept = compared.kept.get(name, [])
    rows = [one.row for one in compared.tried if one.function == name and one.row is not None]
    told = {row for row in set(rows) if row < len(kept) and written([kept[row]])}
    return [sum(row in told for row in rows), len(rows)]


def figures(work: Bench, name: str, verdict: Verdict, compared: Verdict) -> Figures:
    """Return what is kept of how a body was tried; of clauses those alone that were not tried enough."""
    spec, plan = work.artifacts.approved, work.artifacts.plan
    tried = [one for one in compared.tried if one.function == name]
    results = [one.result for one in tried]
    words = ("hardly", "unjudged", "presupposed", "places", "sizes", "solved")
    shown = {word: getattr(verdict, word).get(name) for word in words}
    return {
        "cases": verdict.cases, "changes": len(results) - results.count("same"),
        "noticed": results.count("rejected"), "same": results.count("same"), "grown": name in verdict.measured,
        "independent": sum(1 for one in tried if one.kind == "independent"),
        "suite": suite(name, compared, lambda rows: work.language.case_files(spec, plan, {name: rows})),
        **{word: held for word, held in shown.items() if held},
    }  # fmt: skip
