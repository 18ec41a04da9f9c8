"""Tests of claims in Go: each of the six types of claim becomes a test that runs."""

from __future__ import annotations

from criticality.languages.base import typed_tests
from criticality.languages.base.naming import pascal
from criticality.languages.base.typed_tests import ClaimCase, ClaimTests
from criticality.languages.go.contract_tests import shown, test_function, test_source
from criticality.languages.go.expressions import Renderer
from criticality.languages.go.generators import draw, generator, sized
from criticality.languages.go.names import failure, ident, quoted
from criticality.languages.go.toolchain import RACE
from criticality.lattice_plan import ModulePlan, index
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
    renderer = Renderer(spec, {name: f for name, (_, f) in index(plan).items()})
    base = f"TestScenario{pascal(cluster.replace('-', '_'))}" if cluster else "TestClaim"
    promises = {f"{base}{pascal(claim.id)}{pascal(case.name)}": f"claim {claim.id}: {text}" for case in found.cases}
    parts = [
        _test(renderer, found, case, name) for case, name in zip(found.cases, promises, strict=True)
    ]  # fmt: skip
    path = f"scenario_{cluster.replace('-', '_')}_{claim.id}_test.go" if cluster else f"claim_{claim.id}_test.go"
    head = f"// Claim {claim.id}: made from the specification before there were bodies.\n\n"
    if found.type == "concurrent":
        head += f"{RACE}\n\n"
    return TestFile(path, test_source(spec, head, parts), promises)


def _test(renderer: Renderer, found: ClaimTests, case: ClaimCase, name: str) -> str:
    promise = quoted(f"claim {found.id} ({found.text})")
    if case.growth is not None:
        return test_function(name, _growth(renderer, case, promise), drawn=False)
    lines = [draw(renderer.spec, p.name, p.type) for p in case.variables]
    lines += [f"assume(t, {renderer.render(test)})" for test in case.assume]
    if found.type == "temporal":
        lines += ["clock := &fakeClock{1_000_000_000}", "_ = clock"]
    lines += _lanes(renderer, case, promise) if found.type == "concurrent" else _steps(renderer, case, promise)
    return test_function(name, lines, drawn=bool(case.variables))


def _steps(renderer: Renderer, case: ClaimCase, promise: str) -> list[str]:
    lines: list[str] = []
    names = [p.name for p in case.variables]
    for number, step in enumerate(case.steps, start=1):
        function = f"func() {renderer.kind(step.value.type)} {{ return {renderer.render(step.value)} }}"
        if case.raises and number == len(case.steps):
            lines.append(f"fails(t, {promise}, domain.{failure(case.raises)}, {function}{shown(names)})")
            continue
        name = ident(step.name)
        # A step may give a name anew that an earlier one gave.
        sign = "=" if step.name in names else ":="
        lines += [f"{name} {sign} step(t, {promise}, {function}{shown(names)})", f"_ = {name}"]
        names = list(dict.fromkeys([*names, step.name]))
    lines += [
        f"holds(t, {promise}, func() bool {{ return {renderer.render(check)} }}, nil{shown(names)})"
        for check in case.check
    ]
    return lines


def _lanes(renderer: Renderer, case: ClaimCase, promise: str) -> list[str]:
    lines = [f"lanes(t, {promise}, func() ([]any, bool) {{"]
    given: list[str] = []
    for step in case.steps:
        name, value = ident(step.name), renderer.render(step.value)
        lines += [f"\t{name} {'=' if step.name in given else ':='} {value}", f"\t_ = {name}"]
        given.append(step.name)
    checks = " && ".join(renderer.render(check) for check in case.check) or "true"
    lines.append(f"\treturn []any{{{', '.join(ident(name) for name in dict.fromkeys(given))}}}, {checks}")
    return [*lines, f"}}{shown([p.name for p in case.variables])})"]


def _growth(renderer: Renderer, case: ClaimCase, promise: str) -> list[str]:
    """Let the sized variable grow; the others are what a generator gives first."""
    growth, spec = case.growth, renderer.spec
    assert growth is not None
    lines = [f"grows(t, {promise}, {growth.slope}, func(size int) func() {{"]
    for variable in case.variables:
        value = sized(spec, variable.type) if variable.name == growth.variable else None
        value = value or f"{generator(spec, variable.type)}.Example(1)"
        lines += [f"\t{ident(variable.name)} := {value}", f"\t_ = {ident(variable.name)}"]
    lines.append("\trun := func() bool {")
    given: set[str] = set()
    for step in case.steps:
        name = ident(step.name)
        lines += [
            f"\t\t{name} {'=' if step.name in given else ':='} {renderer.render(step.value)}",
            f"\t\t_ = {name}",
        ]
        given.add(step.name)
    checks = " && ".join(renderer.render(check) for check in case.check) or "true"
    lines += [f"\t\treturn {checks}", "\t}"]
    lines.append(f"\tholds(t, {promise}, run, nil)")
    return [*lines, "\treturn func() { run() }", "})"]
