"""Tests of claims: from the structured form to a file, by template."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from criticality.languages.python.growth_tests import DEGREES, PROMISED
from criticality.languages.python.names import usable
from criticality.languages.python.strategies import strategy
from criticality.lattice_plan import FunctionPlan, ModulePlan
from criticality.spec.claims import ClaimTest, StructuredClaim
from criticality.spec.predicates import PredicateFault, parse_predicate
from criticality.spec.spec import Spec, root_type
from criticality.spec.types import GENERICS, SCALARS, TypeFault, parse_param
from criticality.testing import ClaimTestFault, TestFile


def claim_test_file(
    spec: Spec, claim: StructuredClaim, text: str, ids: Mapping[str, tuple[ModulePlan, FunctionPlan]]
) -> TestFile:
    """Write the tests of one claim: in ``tests/integration`` where several functions make it true.

    Args:
        text: the claim in words.
        ids: all functions of the lattice, as planned.

    Raises:
        ClaimTestFault: a variable, a step or a check cannot be read, or names what nothing defines.
    """
    unknown = sorted(set(claim.functions) - set(ids))
    if unknown:
        raise ClaimTestFault(f"{claim.id}: there is no function {', '.join(unknown)}")
    if not claim.functions:
        raise ClaimTestFault(f"{claim.id}: it names no function")
    promises = {f"test_{claim.id}_{test.name}": f"claim {claim.id}: {text}" for test in claim.tests}
    if len(promises) != len(claim.tests):
        raise ClaimTestFault(f"{claim.id}: two tests share a name")
    by_name = {function_id.partition(".")[2]: function_id for function_id in ids}
    declared = [ids[name][1].contract.complexity or "" for name in claim.functions]
    parts = [_test(spec, claim, test, text, by_name, declared) for test in claim.tests]
    folder = "integration" if len(claim.functions) > 1 else _folder(claim)
    used = sorted({i for name, i in by_name.items() if any(_mentions(part, name) for part in parts)})
    imports = "\n".join(
        f"from {spec.package}.{owner} import {name}" for owner, _, name in (i.partition(".") for i in used)
    )
    head = (
        f'"""Claim {claim.id}: made from the specification before there were bodies."""\n\n'
        "from dataclasses import replace\nfrom decimal import Decimal\nfrom functools import reduce\n\n"
        "import pytest\nimport strategies\nfrom circumstances import advance, clock, now, side_by_side\n"
        "from growth import grows, sized\nfrom harness import assume, drawn, few, holds\n"
        "from hypothesis import given\n"
        "from hypothesis import strategies as st\n\n"
        f"from {spec.package}.domain import *  # noqa: F403\n{imports}\n\n\n"
    )
    return TestFile(f"tests/{folder}/test_claim_{claim.id}.py", head + "\n\n".join(parts), promises)


def _folder(claim: StructuredClaim) -> str:
    return "property" if any(test.variables for test in claim.tests) else "unit"


def _mentions(part: str, name: str) -> bool:
    import re

    return re.search(rf"\b{name}\b", part) is not None


def _test(
    spec: Spec,
    claim: StructuredClaim,
    test: ClaimTest,
    text: str,
    functions: Mapping[str, str],
    declared: list[str],
) -> str:
    where = f"{claim.id}.{test.name}"
    if not test.check and not test.raises:
        raise ClaimTestFault(f"{where}: it checks nothing")
    if test.raises and (test.raises not in spec.errors or not test.steps):
        raise ClaimTestFault(f"{where}: raises takes an error of the specification, after at least one step")
    scope = set(functions) | set(spec.named_types())
    names: list[str] = []
    drawn: list[str] = []
    for variable in test.variables:
        try:
            param = parse_param(variable)
        except TypeFault as fault:
            raise ClaimTestFault(f"{where}: {fault}") from None
        unknown = set(param.type.names()) - set(spec.named_types()) - SCALARS - set(GENERICS)
        if unknown:
            raise ClaimTestFault(f"{where}: nothing defines the type {', '.join(sorted(unknown))}")
        expression = strategy(spec, param.type)
        drawn.append(f"{param.name}={expression}")
        names.append(param.name)
    if test.assume and not drawn:
        raise ClaimTestFault(f"{where}: an example assumes nothing; write values that fit")
    scope |= set(names)
    if claim.type == "temporal":
        scope |= {"now", "advance"}
    drawn_names = list(names)
    assumed = [f"assume({_code(condition, scope, where)})" for condition in test.assume]
    steps: list[str] = []
    for number, step in enumerate(test.steps, start=1):
        name, equals, expression = step.partition("=")
        name = name.strip()
        if not equals or expression.startswith("=") or not usable(name) or name in functions:
            raise ClaimTestFault(f"{where}: a step is written 'name = expression'; this is {step[:80]!r}")
        code = _code(expression.strip(), scope, where)
        if test.raises and number == len(test.steps):
            steps += [f"with pytest.raises({test.raises}):", f"    {code}"]
        else:
            steps.append(f"{name} = {code}")
            names.append(name)
            scope.add(name)
    shown = "".join(f", {name}={name}" for name in dict.fromkeys(names))
    promise = f"claim {claim.id} ({text})"
    checks = [
        f"holds({promise!r}, lambda: {_code(check, scope, where)}{', None' if shown else ''}{shown})"
        for check in test.check
    ]
    decorators = [f"@drawn({', '.join(drawn)})"] if drawn else []
    body = [*assumed, *steps, *checks]
    made = [name for name in dict.fromkeys(names) if name not in drawn_names]
    match claim.type:
        case "temporal":
            body = ["clock()", *body]
        case "concurrent" if not test.raises:
            drawn.append("turns=st.lists(st.integers(0, 2), max_size=12)")
            decorators = [f"@drawn({', '.join(drawn)})"]
            drawn_names.append("turns")
            body = [*assumed, *_lanes(steps, checks, made, promise)]
        case "performance":
            degree, sized = _growth(spec, claim, text, test, where, declared)
            decorators = [f"@given({', '.join(drawn)})", "@few"]
            body = [*assumed, *_measured(sized, degree, steps, checks, promise)]
        case _:
            pass
    header = [f"def test_{claim.id}_{test.name}({', '.join(drawn_names)}):", f'    """{_quoted(text)}"""']
    return "\n".join([*decorators, *header, *(f"    {line}" for line in body)]) + "\n"


def _lanes(steps: list[str], checks: list[str], made: list[str], promise: str) -> list[str]:
    """Write the same steps in three lanes that take turns; each keeps every promise, and all come to the same."""
    values = f"({', '.join(made)},)" if made else "()"
    return [
        "def lane():",
        *(f"    {line}" for step in steps for line in (step, "yield")),
        f"    return {values}",
        "ended = side_by_side(lane, turns)",
        *([f"for {values} in ended:", *(f"    {line}" for line in checks)] if made and checks else []),
        f"holds({promise!r}, lambda: all(one == ended[0] for one in ended), None, ended=ended)",
    ]


def _growth(
    spec: Spec, claim: StructuredClaim, text: str, test: ClaimTest, where: str, declared: list[str]
) -> tuple[int, str]:
    """Return the power of n that is promised, by the claim or else by a contract, and the variable that grows."""
    said = PROMISED.search(f"{text} {claim.predicate} {claim.scope}")
    known = said[1] if said else next((each for each in declared if each in DEGREES), None)
    if known is None:
        raise ClaimTestFault(f"{where}: a claim on performance names a class that a test can show, as O(n log n)")
    params = map(parse_param, test.variables)
    sized = next((p.name for p in params if root_type(spec, str(p.type)) in ("List", "Text", "String")), None)
    if sized is None:
        raise ClaimTestFault(f"{where}: a claim on performance draws a list or a text that can grow")
    return DEGREES[known], sized


def _measured(sized: str, degree: int, steps: list[str], checks: list[str], promise: str) -> list[str]:
    """Test that the checks hold, and that the interpreter's steps grow no faster than promised."""
    return [
        f"assume(len({sized}) > 0)",
        *steps,
        *checks,
        f"def work({sized}):",
        *(f"    {line}" for line in steps),
        f"grows({promise!r}, {degree}, lambda n: work(sized({sized}, n)))",
    ]


def _code(text: str, scope: Collection[str], where: str) -> str:
    try:
        predicate = parse_predicate(text, known=scope)
    except PredicateFault as fault:
        raise ClaimTestFault(f"{where}: {fault}") from None
    if not predicate.checkable or predicate.olds or predicate.raised or "result" in predicate.names - set(scope):
        raise ClaimTestFault(f"{where}: {text!r} is no expression that a test can evaluate")
    return predicate.code


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', "'''").rstrip('"')
