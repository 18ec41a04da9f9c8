"""Tests of claims with vitest: properties and examples, a mocked clock, interleaved lanes, and growth."""

from __future__ import annotations

from dataclasses import replace

from criticality.languages.base.typed_tests import ClaimCase, ClaimTests, Growth, claim_tests
from criticality.languages.typescript.contract_tests import given, growth_test, head, holds, property_test
from criticality.languages.typescript.expressions import quoted, rendered
from criticality.languages.typescript.generators import Arbitraries
from criticality.languages.typescript.names import identifier, require_comparable
from criticality.lattice_plan import ModulePlan
from criticality.spec.claims import StructuredClaim
from criticality.spec.spec import Spec
from criticality.testing import TestFile


def claim_test_file(
    spec: Spec, plan: tuple[ModulePlan, ...], claim: StructuredClaim, text: str, *, cluster: str = ""
) -> TestFile:
    """Return the tests of one claim; a cluster makes them its scenarios.

    Raises:
        ClaimTestFault: a variable, a step or a check cannot be read, or TypeScript cannot render it.
    """
    tests = claim_tests(spec, plan, claim, text)
    promises = {_title(tests, case): f"claim {claim.id}: {text}" for case in tests.cases}
    body = "\n".join(_test(spec, tests, case) for case in tests.cases)
    path = f"tests/{tests.folder}/claim_{claim.id}.test.ts"
    if cluster:
        path = f"tests/integration/scenario_{cluster}_{claim.id}.test.ts"
    intent = f"Claim {claim.id}: made from the specification before there were bodies."
    return TestFile(path, f"{head(spec, plan, body, intent)}\n{body}", promises)


def _title(tests: ClaimTests, case: ClaimCase) -> str:
    return f"{tests.id} {case.name.replace('_', ' ')}"


def _test(spec: Spec, tests: ClaimTests, case: ClaimCase) -> str:
    for kind in (*(p.type for p in case.variables), *(step.value.type for step in case.steps)):
        require_comparable(spec, kind)
    if case.growth is not None:
        return _growth_test(spec, tests, case, case.growth)
    if tests.type == "concurrent" and not case.raises:
        return _lanes_test(spec, tests, case)
    return property_test(spec, _title(tests, case), case.variables, _body(tests, case))


def _promise(tests: ClaimTests) -> str:
    return quoted(f"claim {tests.id} ({tests.text})")


def _names(case: ClaimCase) -> list[str]:
    steps = case.steps[:-1] if case.raises else case.steps
    return [
        identifier(name) for name in dict.fromkeys([*(p.name for p in case.variables), *(s.name for s in steps)])
    ]


def _steps(case: ClaimCase) -> list[str]:
    """Return each step as a value; a name that is given again is another variable in a block of its own."""
    lines: list[str] = []
    known = {param.name for param in case.variables}
    for step in case.steps[:-1] if case.raises else case.steps:
        lead = "" if step.name in known else "const "
        known.add(step.name)
        lines.append(f"{lead}{identifier(step.name)} = {rendered(step.value)};")
    again = {line.partition(" =")[0] for line in lines if not line.startswith("const ")}
    return [f"let {line[6:]}" if line[6:].partition(" =")[0] in again else line for line in lines]


def _checks(tests: ClaimTests, case: ClaimCase, shown: str) -> list[str]:
    return [line for check in case.check for line in holds(_promise(tests), rendered(check), shown)]


def _body(tests: ClaimTests, case: ClaimCase) -> list[str]:
    lines = [f"fc.pre({rendered(assumed)});" for assumed in case.assume]
    lines = ["$.clock();", *lines] if tests.type == "temporal" else lines
    shown = given(_names(case))
    lines += _steps(case)
    if case.raises:
        lines += [
            f"const outcome = $.call(() => {rendered(case.steps[-1].value)});",
            *holds(_promise(tests), f"$.raised(outcome, {case.raises})", f"{shown}, outcome"),
        ]
    return [*lines, *_checks(tests, case, shown)]


def _lanes_test(spec: Spec, tests: ClaimTests, case: ClaimCase) -> str:
    """Write the same steps in several lanes, interleaved; each lane keeps every promise, and all agree."""
    writer = Arbitraries(spec)
    drawn = ", ".join(["fc.scheduler()", *(writer.of(param.type) for param in case.variables)])
    names = ", ".join(["scheduler", *(identifier(param.name) for param in case.variables)])
    found = [identifier(step.name) for step in case.steps]
    turns = [line for step in _steps(case) for line in ("await scheduler.schedule(Promise.resolve());", step)]
    body = [
        *(f"fc.pre({rendered(assumed)});" for assumed in case.assume),
        "const lane = async () => {",
        *(f"  {line}" for line in turns),
        f"  return {given(found)};",
        "};",
        "const lanes = [lane(), lane(), lane()];",
        "await scheduler.waitAll();",
        "const ended = await Promise.all(lanes);",
        f"for (const {given(found)} of ended) {{",
        *(f"  {line}" for line in _checks(tests, case, given(_names(case)))),
        "}",
        *holds(_promise(tests), "ended.every((lane) => $.same(lane, ended[0]))", "{ ended }"),
    ]
    return "\n".join(
        [
            f"test({quoted(_title(tests, case))}, async () => {{",
            "  await $.checkAsync(",
            f"    fc.asyncProperty({drawn}, async ({names}) => {{",
            *(f"      {line}" for line in body),
            "    }),",
            "  );",
            "});",
            "",
        ]
    )


def _growth_test(spec: Spec, tests: ClaimTests, case: ClaimCase, growth: Growth) -> str:
    """Test that the time grows as promised, and that the checks hold at every size."""
    last = identifier(case.steps[-1].name) if case.steps else "undefined"
    shown = ["{", *(f"  {line}" for line in (*_steps(case), *_checks(tests, case, "{}"))), "}"]
    promised = replace(growth, words=f"claim {tests.id} ({tests.text}): {growth.words}")
    return growth_test(
        spec, _title(tests, case), case.variables, promised, [*_steps(case), f"return {last};"], shown
    )
