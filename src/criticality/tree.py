"""A project's source tree, path by path, as its artifacts stand: what is checked is what is delivered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from criticality.artifacts import Artifacts, Body
from criticality.canonical import digest
from criticality.judging import claims
from criticality.language import Generating, Language, Tree
from criticality.spec.claims import StructuredClaim
from criticality.spec.literals import literals_of
from criticality.testing import ClaimTestFault, TestFile


def contract_tests(language: Language, artifacts: Artifacts) -> dict[str, TestFile]:
    """Return the contract tests of each function, by function id."""
    return artifacts.once("contract tests", lambda: _contract_tests(language, artifacts))


def _contract_tests(language: Language, artifacts: Artifacts) -> dict[str, TestFile]:
    spec, plan = artifacts.spec, artifacts.plan
    assert spec is not None
    return {
        name: cast("Generating", language).contract_test(spec, plan, module, function)
        for name, (module, function) in artifacts.functions.items()
    }


def claim_tests(language: Language, artifacts: Artifacts) -> dict[str, TestFile]:
    """Return the tests of each claim that has some, by claim id."""
    return artifacts.once("claim tests", lambda: _claim_tests(language, artifacts))


def _claim_tests(language: Language, artifacts: Artifacts) -> dict[str, TestFile]:
    spec = artifacts.spec
    assert spec is not None
    return {
        name: cast("Generating", language).claim_test(spec, artifacts.plan, claim, spec.claims[name].text)
        for name, claim in artifacts.claims.items()
        if claim.tests
    }


def scenario_tests(language: Language, artifacts: Artifacts) -> dict[str, TestFile]:
    """Return the scenarios of each cluster that has some, by ``cluster:claim``."""
    return artifacts.once("scenario tests", lambda: _scenario_tests(language, artifacts))


def _scenario_tests(language: Language, artifacts: Artifacts) -> dict[str, TestFile]:
    spec = artifacts.spec
    assert spec is not None
    scenarios: dict[str, TestFile] = {}
    for name, cluster in artifacts.clusters.items():
        by_claim: dict[str, list[dict[str, object]]] = {}
        for scenario in cluster.scenarios:
            by_claim.setdefault(str(scenario["claim"]), []).append(
                {k: v for k, v in scenario.items() if k != "claim"}
            )
        for claim_id, tests in by_claim.items():
            claim = StructuredClaim.model_validate({**artifacts.claims[claim_id].model_dump(), "tests": tests})
            text = spec.claims[claim_id].text
            made = cast("Generating", language).claim_test(spec, artifacts.plan, claim, text, cluster=name)
            scenarios[f"{name}:{claim_id}"] = made
    return scenarios


def claim_fault(language: Language, artifacts: Artifacts, claim: StructuredClaim, text: str) -> str:
    """Tell why the tests of a structured claim cannot be judged; empty where they can."""
    spec = artifacts.spec
    assert spec is not None
    if language.served:
        return claims.claim_fault(spec, {name: f for name, (_, f) in artifacts.functions.items()}, claim, text)
    try:
        cast("Generating", language).claim_test(spec, artifacts.plan, claim, text)
    except ClaimTestFault as refused:
        return str(refused)
    return ""


def test_files(language: Language, artifacts: Artifacts) -> list[TestFile]:
    """Return every test there is: of contracts, of claims, of clusters."""
    return [
        *contract_tests(language, artifacts).values(),
        *claim_tests(language, artifacts).values(),
        *scenario_tests(language, artifacts).values(),
    ]


def skeleton(language: Language, artifacts: Artifacts) -> Tree:
    """Return the sources before there are bodies."""
    spec = artifacts.spec
    assert spec is not None
    return artifacts.once("skeleton", lambda: language.sources(spec, artifacts.plan, {}))


def full_tree(language: Language, artifacts: Artifacts, bodies: Mapping[str, Body] | None = None) -> Tree:
    """Everything: sources and tests."""
    spec = artifacts.spec
    assert spec is not None
    tree = language.sources(spec, artifacts.plan, artifacts.bodies if bodies is None else bodies)
    if language.served:
        return tree | language.case_files(spec, artifacts.plan, artifacts.cases)
    return tree | artifacts.once("tests", lambda: _tests(language, artifacts))


def _tests(language: Language, artifacts: Artifacts) -> Tree:
    spec = artifacts.spec
    assert spec is not None
    contracts = [function.contract for _, function in artifacts.functions.values()]
    literals = literals_of(contracts, artifacts.claims.values())
    support = cast("Generating", language).test_support(spec, literals)
    return support | {file.path: file.source for file in test_files(language, artifacts)}


def function_key(language: Language, artifacts: Artifacts, name: str) -> str:
    """Digest of all that a function's body may depend on: signature, contract, types, callees' signatures."""
    spec = artifacts.spec
    assert spec is not None
    functions = artifacts.functions
    module, function = functions[name]
    callees = [
        language.signature(functions[c][1]) + "".join(functions[c][1].contract.lines)
        for c in function.calls
        if c in functions
    ]
    parts = [
        language.signature(function),
        *function.contract.lines,
        language.type_definitions(spec, function),
        *callees,
        *module.imports,
    ]
    return digest("\n".join(parts))
