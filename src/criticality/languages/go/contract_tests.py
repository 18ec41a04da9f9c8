"""Tests of a function's contract in Go, one for each clause that can be checked, made before there is a body."""

from __future__ import annotations

from criticality.languages.base import typed_tests
from criticality.languages.base.naming import pascal
from criticality.languages.base.typed_tests import ClauseTest, ContractTests
from criticality.languages.go.expressions import Renderer
from criticality.languages.go.generators import draw
from criticality.languages.go.names import failure, ident, kind, module, package, quoted, with_imports
from criticality.lattice_plan import FunctionPlan, ModulePlan, index
from criticality.spec.spec import Spec
from criticality.testing import TestFile

_ONLY = "no error but those that the contract promises"


def contract_test_file(
    spec: Spec, plan: tuple[ModulePlan, ...], module_plan: ModulePlan, function: FunctionPlan
) -> TestFile:
    """Return the tests of one function's contract.

    Raises:
        ClaimTestFault: a clause that is an expression cannot be a test.
    """
    found = typed_tests.contract_tests(spec, plan, module_plan, function)
    renderer = Renderer(spec, {name: f for name, (_, f) in index(plan).items()})
    base = f"Test{pascal(module_plan.name)}{pascal(function.name)}"
    promises: dict[str, str] = {}
    parts: list[str] = []
    for clause in found.clauses:
        name = base + pascal(clause.name)
        promises[name] = clause.promise
        parts.append(test_function(name, _clause(renderer, function, found, clause), drawn=bool(found.parameters)))
    name = f"{base}RaisesOnlyWhatIsPromised"
    promises[name] = _ONLY
    parts.append(test_function(name, _errors(renderer, function, found), drawn=bool(found.parameters)))
    path = f"{module_plan.name}_{function.name}_contract_test.go"
    head = f"// What {pascal(function.name)} promises: made from its contract before it had a body.\n\n"
    return TestFile(path, test_source(spec, head, parts), promises)


def test_source(spec: Spec, head: str, parts: list[str]) -> str:
    """Return a test file."""
    others = {"domain": f"{module(spec)}/domain", "rapid": "pgregory.net/rapid", "testing": "testing"}
    return with_imports(f"{head}package {package(spec)}\n", "\n".join(parts), others=others)


def test_function(name: str, lines: list[str], *, drawn: bool) -> str:
    """Return a test: a property where something is drawn, else an example."""
    if drawn:
        inner = "\n".join(f"\t\t{line}" for line in lines)
        return f"func {name}(t *testing.T) {{\n\trapid.Check(t, func(t *rapid.T) {{\n{inner}\n\t}})\n}}\n"
    return f"func {name}(t *testing.T) {{\n" + "\n".join(f"\t{line}" for line in lines) + "\n}\n"


def _opening(renderer: Renderer, found: ContractTests) -> list[str]:
    lines = [draw(renderer.spec, p.name, p.type) for p in found.parameters]
    if found.parameters:
        lines += [f"assume(t, {renderer.render(test)})" for test in found.assume]
    return lines


def _called(renderer: Renderer, function: FunctionPlan) -> str:
    """Return the call, as a function of value and error, whatever it returns itself."""
    text = f"{pascal(function.name)}({', '.join(ident(p.name) for p in function.parameters)})"
    unit, type_ = function.result.name == "Unit", kind(renderer.spec, function.result)
    match unit, bool(function.errors):
        case True, True:
            inside = f"return struct{{}}{{}}, {text}"
        case True, False:
            inside = f"{text}; return struct{{}}{{}}, nil"
        case False, True:
            inside = f"return {text}"
        case _:
            inside = f"return {text}, nil"
    return f"outcome := call(func() ({type_}, error) {{ {inside} }})"


def shown(names: list[str]) -> str:
    """Arguments that show values in a message."""
    return "".join(f", given({quoted(name)}, {ident(name)})" for name in names)


def _clause(renderer: Renderer, function: FunctionPlan, found: ContractTests, clause: ClauseTest) -> list[str]:
    lines = _opening(renderer, found)
    lines += [f"{ident(old.name)} := {renderer.render(old.value)}" for old in clause.olds]
    lines += [f"_ = {ident(old.name)}" for old in clause.olds]
    lines.append(_called(renderer, function))
    if found.result.name != "Unit":
        lines += ["result := outcome.result", "_ = result"]
    condition = f"func() bool {{ return {renderer.render(clause.condition)} }}"
    values = shown([p.name for p in found.parameters])
    check = f"holds(t, {quoted(clause.promise)}, {condition}, outcome{values})"
    return [*lines, check] if clause.on_error else [*lines, "if outcome.err == nil {", f"\t{check}", "}"]


def _errors(renderer: Renderer, function: FunctionPlan, found: ContractTests) -> list[str]:
    """Test that an error is returned only where some clause says so."""
    cases = [f"(outcome.raises(domain.{failure(a.error)}) && {renderer.render(a.when)})" for a in found.allowed]
    allowed = " || ".join(["outcome.err == nil", *cases])
    values = shown([p.name for p in found.parameters])
    check = f"holds(t, {quoted(_ONLY)}, func() bool {{ return {allowed} }}, outcome{values})"
    return [*_opening(renderer, found), _called(renderer, function), check]
