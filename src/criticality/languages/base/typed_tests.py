"""Tests of contracts and claims as typed data: what each of them draws, does and expects, in no language yet."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from criticality.languages.base.expressions import Expression, Scope, Signature, condition, typed
from criticality.languages.base.expressions.nodes import BOOL, Constant
from criticality.lattice_plan import FunctionPlan, ModulePlan, index
from criticality.spec.claims import ClaimTest, ClaimType, StructuredClaim
from criticality.spec.predicates import Predicate, PredicateFault, parse_predicate
from criticality.spec.spec import Spec
from criticality.spec.types import GENERICS, SCALARS, Param, TypeFault, TypeRef, parse_param, parse_type
from criticality.testing import ClaimTestFault

_CLASS = re.compile(r"O\((1|log n|n|n log n|n\^2|n\^3)\)")
_SIZE = re.compile(r" where [a-z] = len\((\w+)\)\Z")
_STEP = re.compile(r"[a-z][a-z0-9_]{0,60}\Z")
#: Slope of each class on a log-log scale, between 1,000 and 10,000 elements or so.
SLOPES = {"1": 0.0, "log n": 0.1, "n": 1.0, "n log n": 1.1, "n^2": 2.0, "n^3": 3.0}


@dataclass(frozen=True, slots=True)
class Old:
    """A value to compute before the call, and the name that stands for it."""

    name: str
    value: Expression


@dataclass(frozen=True, slots=True)
class ClauseTest:
    """One clause of a contract: for values that fulfil all requirements, the condition holds after the call.

    Args:
        name: ``ensures_1``, ``invariant_2``.
        promise: the clause, as it was written.
        on_error: whether it speaks of errors; else it says nothing about a call that ends with one.
    """

    name: str
    promise: str
    olds: tuple[Old, ...]
    condition: Expression
    on_error: bool


@dataclass(frozen=True, slots=True)
class Allowed:
    """An error that a call may end with, where the condition holds."""

    error: str
    when: Expression


@dataclass(frozen=True, slots=True)
class Growth:
    """What a claim on performance promises: a class, in the size of one variable.

    Args:
        slope: of time over size, both on a logarithmic scale, at most.
    """

    words: str
    variable: str
    slope: float


@dataclass(frozen=True, slots=True)
class ContractTests:
    """The tests of one function's contract; besides its clauses, that it raises only what it promises.

    Args:
        result: the type of what comes back when nothing is raised.
        assume: what must hold of the parameters.
        growth: of the COMPLEXITY clause, where a test can show it: its size is that of one parameter, and nothing
            is required of the others. Its test's promise begins with ``COMPLEXITY:``.
    """

    function: str
    parameters: tuple[Param, ...]
    result: TypeRef
    assume: tuple[Expression, ...]
    clauses: tuple[ClauseTest, ...]
    allowed: tuple[Allowed, ...]
    growth: Growth | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a claim's test: a name for a value."""

    name: str
    value: Expression


@dataclass(frozen=True, slots=True)
class ClaimCase:
    """One test of a claim.

    Args:
        variables: drawn at random; none makes it an example.
        raises: the error that the last step ends with; empty where none may occur.
        growth: for a claim on performance, and then every check holds besides.
    """

    name: str
    variables: tuple[Param, ...]
    assume: tuple[Expression, ...]
    steps: tuple[Step, ...]
    check: tuple[Expression, ...]
    raises: str
    growth: Growth | None


@dataclass(frozen=True, slots=True)
class ClaimTests:
    """The tests of one claim.

    Args:
        functions: ids of the functions that it is about.
    """

    id: str
    type: ClaimType
    text: str
    functions: tuple[str, ...]
    cases: tuple[ClaimCase, ...]

    @property
    def folder(self) -> str:
        """``integration`` where several functions make it true; else ``property`` or ``unit``."""
        if len(self.functions) > 1:
            return "integration"
        return "property" if any(case.variables for case in self.cases) else "unit"


def signatures(plan: Sequence[ModulePlan]) -> dict[str, Signature]:
    """Return every function by its bare name."""
    return {
        function.name: Signature(name, tuple(p.type for p in function.parameters), function.result)
        for name, (_, function) in index(tuple(plan)).items()
    }


def contract_tests(
    spec: Spec, plan: Sequence[ModulePlan], module: ModulePlan, function: FunctionPlan
) -> ContractTests:
    """Return the tests of one function's contract. Prose makes none; an expression that cannot be one is a fault.

    Raises:
        ClaimTestFault: a clause is an expression that typed languages do not render.
    """
    known = signatures(plan)
    before = {param.name: param.type for param in function.parameters}
    after = {**before, "result": function.result} if function.result.name != "Unit" else before
    contract = function.contract
    assumed = [p for p in (*contract.requires, *contract.invariants) if p.checkable and not _speaks_of_after(p)]
    clauses: list[ClauseTest] = []
    for kind, predicates in (("ensures", contract.ensures), ("invariant", contract.invariants)):
        for number, predicate in enumerate(predicates, start=1):
            if predicate.checkable:
                promise = f"{kind.upper()}: {predicate.text}"
                olds = _olds(spec, known, before, predicate)
                scope = Scope(spec, known, after | {old.name: old.value.type for old in olds})
                code = _read(promise, lambda p=predicate, s=scope: condition(p.code, s))
                clauses.append(ClauseTest(f"{kind}_{number}", promise, olds, code, bool(predicate.raised)))
    scope = Scope(spec, known, before)
    return ContractTests(
        function=f"{module.name}.{function.name}",
        parameters=function.parameters,
        result=function.result,
        assume=tuple(_read(p.text, lambda p=p: condition(p.code, scope)) for p in assumed),
        clauses=tuple(clauses),
        allowed=tuple(
            Allowed(error, _read(p.text, lambda p=p: condition(p.when, scope)) if p.when else Constant(BOOL, True))
            for p in contract.predicates
            for error in sorted(p.raised)
        ),
        growth=None if assumed else _promised_growth(spec, function),
    )


def _promised_growth(spec: Spec, function: FunctionPlan) -> Growth | None:
    clause = next((line for line in function.contract.lines if line.startswith("COMPLEXITY:")), "")
    size, known = _SIZE.search(clause), function.contract.complexity
    parameter = next((p for p in function.parameters if size and p.name == size[1]), None)
    if parameter is None or known not in SLOPES or not _sized(spec, parameter.type):
        return None
    return Growth(clause, parameter.name, SLOPES[known])


def _speaks_of_after(predicate: Predicate) -> bool:
    return bool(predicate.raised or predicate.olds or "result" in predicate.names)


def _olds(
    spec: Spec, known: Mapping[str, Signature], before: Mapping[str, TypeRef], predicate: Predicate
) -> tuple[Old, ...]:
    scope = Scope(spec, known, before)
    return tuple(
        Old(name, _read(predicate.text, lambda code=code: typed(code, scope))) for name, code in predicate.olds
    )


def _read(where: str, make: Callable[[], Expression]) -> Expression:
    try:
        return make()
    except PredicateFault as fault:
        raise ClaimTestFault(f"{where}: {fault}") from None


def claim_tests(spec: Spec, plan: Sequence[ModulePlan], claim: StructuredClaim, text: str) -> ClaimTests:
    """Return the tests of one claim.

    Args:
        text: the claim in words.

    Raises:
        ClaimTestFault: a variable, a step or a check cannot be read, or names what nothing defines.
    """
    ids = index(tuple(plan))
    unknown = sorted(set(claim.functions) - set(ids))
    if unknown:
        raise ClaimTestFault(f"{claim.id}: there is no function {', '.join(unknown)}")
    if not claim.functions:
        raise ClaimTestFault(f"{claim.id}: it names no function")
    if len({test.name for test in claim.tests}) != len(claim.tests):
        raise ClaimTestFault(f"{claim.id}: two tests share a name")
    cases = tuple(_case(spec, plan, claim, test, text) for test in claim.tests)
    return ClaimTests(claim.id, claim.type, text, tuple(claim.functions), cases)


def _case(spec: Spec, plan: Sequence[ModulePlan], claim: StructuredClaim, test: ClaimTest, text: str) -> ClaimCase:
    where = f"{claim.id}.{test.name}"
    if not test.check and not test.raises:
        raise ClaimTestFault(f"{where}: it checks nothing")
    if test.raises and (test.raises not in spec.errors or not test.steps):
        raise ClaimTestFault(f"{where}: raises takes an error of the specification, after at least one step")
    if test.assume and not test.variables:
        raise ClaimTestFault(f"{where}: an example assumes nothing; write values that fit")
    known = signatures(plan)
    variables = tuple(_variable(spec, text, where) for text in test.variables)
    names = {param.name: param.type for param in variables}
    clock = claim.type == "temporal"

    def read(written: str, *, truth: bool) -> Expression:
        scope = Scope(spec, known, names, clock)
        code = _code(written, {*names, *known, *spec.named_types(), *(("now", "advance") if clock else ())}, where)
        return _read(where, lambda: condition(code, scope) if truth else typed(code, scope))

    assume = tuple(read(written, truth=True) for written in test.assume)
    steps: list[Step] = []
    for written in test.steps:
        name, equals, expression = written.partition("=")
        name = name.strip()
        if not equals or expression.startswith("=") or not _STEP.match(name) or name in known:
            raise ClaimTestFault(f"{where}: a step is written 'name = expression'; this is {written[:80]!r}")
        step = Step(name, read(expression.strip(), truth=False))
        steps.append(step)
        if not test.raises or len(steps) < len(test.steps):
            names = {**names, name: step.value.type}
    check = tuple(read(written, truth=True) for written in test.check)
    growth = _growth(spec, plan, claim, text, variables, where) if claim.type == "performance" else None
    return ClaimCase(test.name, variables, assume, tuple(steps), check, test.raises, growth)


def _variable(spec: Spec, text: str, where: str) -> Param:
    try:
        param = parse_param(text)
    except TypeFault as fault:
        raise ClaimTestFault(f"{where}: {fault}") from None
    unknown = set(param.type.names()) - set(spec.named_types()) - SCALARS - set(GENERICS)
    if unknown:
        raise ClaimTestFault(f"{where}: nothing defines the type {', '.join(sorted(unknown))}")
    return param


def _code(text: str, known: set[str], where: str) -> str:
    try:
        predicate = parse_predicate(text, known=known)
    except PredicateFault as fault:
        raise ClaimTestFault(f"{where}: {fault}") from None
    if not predicate.checkable or predicate.olds or predicate.raised:
        raise ClaimTestFault(f"{where}: {text!r} is no expression that a test can evaluate")
    return predicate.code


def _growth(
    spec: Spec,
    plan: Sequence[ModulePlan],
    claim: StructuredClaim,
    text: str,
    variables: Sequence[Param],
    where: str,
) -> Growth:
    """Return the promised class: that of the claim's own words, else that of the contract it speaks of."""
    match = _CLASS.search(f"{text} {claim.predicate} {claim.scope}")
    functions = index(tuple(plan))
    declared = [functions[name][1].contract.complexity for name in claim.functions]
    words = match[1] if match else next((known for known in declared if known in SLOPES), None)
    if words is None:
        raise ClaimTestFault(f"{where}: a claim on performance names a class that a test can show, as O(n log n)")
    sized = [p.name for p in variables if _sized(spec, p.type)]
    if not sized:
        raise ClaimTestFault(f"{where}: a claim on performance draws a list, set, map or text that can grow")
    return Growth(f"O({words})", sized[0], SLOPES[words])


def _sized(spec: Spec, kind: TypeRef) -> bool:
    while kind.name in spec.newtypes:
        new = spec.newtypes[kind.name]
        if any(constraint.startswith("max_length(") for constraint in new.constraints):
            return False
        kind = parse_type(new.base)
    return kind.name in ("List", "Set", "Map", "Text", "String")
