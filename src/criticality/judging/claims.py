"""Can a claim's tests be judged? Each variable, step and check is read; what nothing defines is a fault."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from criticality.judging.growth import DEGREES, promised
from criticality.lattice_plan import FunctionPlan
from criticality.spec.claims import ClaimTest, StructuredClaim
from criticality.spec.predicates import PredicateFault, parse_predicate
from criticality.spec.spec import Spec, root_type
from criticality.spec.types import GENERICS, SCALARS, Param, TypeFault, parse_param


def claim_fault(spec: Spec, functions: Mapping[str, FunctionPlan], claim: StructuredClaim, text: str) -> str:
    """Tell why a structured claim cannot be judged; empty where it can.

    Args:
        functions: by id.
        text: the claim in words.
    """
    unknown = sorted(set(claim.functions) - set(functions))
    if unknown:
        return f"{claim.id}: there is no function {', '.join(unknown)}"
    if not claim.functions:
        return f"{claim.id}: it names no function"
    if len({test.name for test in claim.tests}) != len(claim.tests):
        return f"{claim.id}: two tests share a name"
    faults = ((test.name, _test_fault(spec, functions, claim, test, text)) for test in claim.tests)
    return next((f"{claim.id}.{name}: {fault}" for name, fault in faults if fault), "")


def _test_fault(
    spec: Spec, functions: Mapping[str, FunctionPlan], claim: StructuredClaim, test: ClaimTest, text: str
) -> str:
    if not test.check and not test.raises:
        return "it checks nothing"
    if test.raises and (test.raises not in spec.errors or not test.steps):
        return "raises takes an error of the specification, after at least one step"
    params: list[Param] = []
    for variable in test.variables:
        try:
            params.append(parse_param(variable))
        except TypeFault as fault:
            return str(fault)
        unknown = set(params[-1].type.names()) - set(spec.named_types()) - SCALARS - set(GENERICS)
        if unknown:
            return f"nothing defines the type {', '.join(sorted(unknown))}"
    if test.assume and not params:
        return "an example assumes nothing; write values that fit"
    if claim.type == "performance" and (fault := _growth_fault(spec, functions, claim, params, text)):
        return fault
    short = {name.partition(".")[2] for name in functions}
    scope = {*short, *spec.named_types(), *(p.name for p in params)}
    scope |= {"now", "advance"} if claim.type == "temporal" else set[str]()
    return _text_fault(test, short, scope)


def _text_fault(test: ClaimTest, functions: Collection[str], scope: set[str]) -> str:
    for condition in test.assume:
        if fault := _unreadable(condition, scope):
            return fault
    for step in test.steps:
        name, equals, expression = step.partition("=")
        name = name.strip()
        if not equals or expression.startswith("=") or not name.isidentifier() or name in functions:
            return f"a step is written 'name = expression'; this is {step[:80]!r}"
        if fault := _unreadable(expression.strip(), scope):
            return fault
        scope.add(name)
    return next((fault for check in test.check if (fault := _unreadable(check, scope))), "")


def _unreadable(text: str, scope: Collection[str]) -> str:
    try:
        predicate = parse_predicate(text, known=scope)
    except PredicateFault as fault:
        return str(fault)
    if not predicate.checkable or predicate.olds or predicate.raised or "result" in predicate.names - set(scope):
        return f"{text!r} is no expression that a test can evaluate"
    return ""


def _growth_fault(
    spec: Spec, functions: Mapping[str, FunctionPlan], claim: StructuredClaim, params: list[Param], text: str
) -> str:
    declared = [functions[name].contract.complexity or "" for name in claim.functions]
    if promised(claim, text, declared) not in DEGREES:
        return "a claim on performance names a class that a test can show, as O(n log n)"
    if not any(root_type(spec, str(p.type)) in ("List", "Text", "String") for p in params):
        return "a claim on performance draws a list or a text that can grow"
    return ""
