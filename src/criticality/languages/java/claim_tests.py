"""Tests of claims in Java: each of the six types of claim becomes a test that runs."""

from __future__ import annotations

from criticality.languages.base import typed_tests
from criticality.languages.base.naming import camel, pascal
from criticality.languages.base.typed_tests import ClaimCase, ClaimTests
from criticality.languages.java.contract_tests import method, shown, test_file
from criticality.languages.java.expressions import Renderer
from criticality.languages.java.generators import arbitrary, sized
from criticality.languages.java.names import ident, quoted
from criticality.lattice_plan import ModulePlan
from criticality.spec.claims import StructuredClaim
from criticality.spec.spec import Spec
from criticality.testing import TestFile


def claim_test_file(
    spec: Spec, plan: tuple[ModulePlan, ...], claim: StructuredClaim, text: str, *, cluster: str = ""
) -> TestFile:
    """Return the tests of one claim, or its scenarios in a cluster.

    Raises:
        ClaimTestFault: a variable, a step or a check cannot be read, or names what nothing defines.
    """
    found = typed_tests.claim_tests(spec, plan, claim, text)
    lead = f"scenario_{cluster.replace('-', '_')}" if cluster else "claim"
    base = camel(f"{lead}_{claim.id}")
    promises = {base + pascal(case.name): f"claim {claim.id}: {text}" for case in found.cases}
    parts = [_test(spec, found, case, name) for case, name in zip(found.cases, promises, strict=True)]
    words = f"Claim {claim.id}: made from the specification before there were bodies."
    variables = [variable for case in found.cases for variable in case.variables]
    return test_file(spec, f"{pascal(base)}Test", words, parts, variables, promises)


def _test(spec: Spec, found: ClaimTests, case: ClaimCase, name: str) -> str:
    promise = quoted(f"claim {found.id} ({found.text})")
    if case.growth is not None:
        return method(name, (), _growth(spec, case, promise), example="@Example")
    renderer = Renderer(spec)
    lines = [f"Assume.that({renderer.render(test)});" for test in case.assume]
    if found.type == "temporal":
        lines.append("final var clock = new FakeClock();")
    lines += _lanes(renderer, case, promise) if found.type == "concurrent" else _steps(renderer, case, promise)
    return method(name, case.variables, lines)


def _steps(renderer: Renderer, case: ClaimCase, promise: str) -> list[str]:
    lines: list[str] = []
    names = [p.name for p in case.variables]
    for number, step in enumerate(case.steps, start=1):
        value = renderer.render(step.value)
        if case.raises and number == len(case.steps):
            lines.append(f"fails({promise}, {case.raises}.class, () -> {value}{shown(names, renderer.renamed)});")
            continue
        given = shown(names, renderer.renamed)
        name = renderer.declared(step.name, again=step.name in names)
        lines.append(f"final var {name} = step({promise}, () -> {value}{given});")
        names = list(dict.fromkeys([*names, step.name]))
    lines += [
        f"holds({promise}, () -> {renderer.render(check)}, null{shown(names, renderer.renamed)});"
        for check in case.check
    ]
    return lines


def _inside(renderer: Renderer, case: ClaimCase) -> tuple[list[str], list[str]]:
    """Return the steps as plain declarations, and the names they came to."""
    lines: list[str] = []
    given = [p.name for p in case.variables]
    for step in case.steps:
        value = renderer.render(step.value)
        name = renderer.declared(step.name, again=step.name in given)
        lines.append(f"    final var {name} = {value};")
        given.append(step.name)
    return lines, [renderer.renamed.get(step.name) or ident(step.name) for step in case.steps]


def _checks(renderer: Renderer, case: ClaimCase) -> str:
    return " && ".join(renderer.render(check) for check in case.check) or "true"


def _lanes(renderer: Renderer, case: ClaimCase, promise: str) -> list[str]:
    steps, names = _inside(renderer, case)
    ended = ", ".join([_checks(renderer, case), *dict.fromkeys(names)])
    values = shown([p.name for p in case.variables])
    return [f"lanes({promise}, () -> {{", *steps, f"    return lane({ended});", f"}}{values});"]


def _growth(spec: Spec, case: ClaimCase, promise: str) -> list[str]:
    """Let the sized variable grow; the others are what an arbitrary gives first."""
    growth, renderer = case.growth, Renderer(spec)
    assert growth is not None
    lines = [f"grows({promise}, {growth.slope}, size -> {{"]
    for variable in case.variables:
        grown = variable.name == growth.variable
        value = sized(spec, variable.type) if grown else f"one({arbitrary(spec, variable.type)})"
        lines.append(f"    final var {ident(variable.name)} = {value};")
    steps, _ = _inside(renderer, case)
    lines += ["    return () -> {", *(f"    {line}" for line in steps)]
    return [*lines, f"        return {_checks(renderer, case)};", "    };", "});"]
