"""A project's source tree, path by path, as its artifacts stand: what is checked is what is delivered."""

from __future__ import annotations

from criticality.artifacts import Artifacts
from criticality.canonical import digest
from criticality.judging import claims
from criticality.language import Language, Tree
from criticality.spec.claims import StructuredClaim


def claim_fault(language: Language, artifacts: Artifacts, claim: StructuredClaim, text: str) -> str:
    """Tell why the tests of a structured claim cannot be judged; empty where they can."""
    spec = artifacts.approved
    return claims.claim_fault(spec, {name: f for name, (_, f) in artifacts.functions.items()}, claim, text)


def skeleton(language: Language, artifacts: Artifacts) -> Tree:
    """Return the sources before there are bodies."""
    return artifacts.once("skeleton", lambda: language.sources(artifacts.approved, artifacts.plan, {}))


def full_tree(language: Language, artifacts: Artifacts) -> Tree:
    """Everything: sources and tests."""
    spec = artifacts.approved
    tree = language.sources(spec, artifacts.plan, artifacts.bodies)
    return tree | language.case_files(spec, artifacts.plan, artifacts.cases)


def function_key(language: Language, artifacts: Artifacts, name: str) -> str:
    """Digest of all that a function's body may depend on: signature, contract, types, callees' signatures."""
    spec = artifacts.approved
    functions = artifacts.functions
    module, function = functions[name]
    callees = [
        language.signature(functions[c][1]) + "".join(functions[c][1].contract.lines)
        for c in function.calls
        if c in functions
    ]
    signature, types = language.signature(function), language.type_definitions(spec, function)
    return digest("\n".join([signature, *function.contract.lines, types, *callees, *module.imports]))
