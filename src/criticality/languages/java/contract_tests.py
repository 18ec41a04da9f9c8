"""Tests of a function's contract in Java, one for each clause that can be checked, made before there is a body."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from criticality.languages.base import typed_tests
from criticality.languages.base.naming import camel, pascal
from criticality.languages.base.typed_tests import ClauseTest, ContractTests
from criticality.languages.java.expressions import Renderer
from criticality.languages.java.generators import arbitrary
from criticality.languages.java.names import ident, java_file, kind, module_class, package, quoted
from criticality.languages.java.skeleton import imports
from criticality.lattice_plan import FunctionPlan, ModulePlan
from criticality.spec.spec import Spec
from criticality.spec.types import Param
from criticality.testing import TestFile

_ONLY = "no error but those that the contract promises"
_JQWIK = [
    f"net.jqwik.api.{name}"
    for name in ("Arbitraries", "Arbitrary", "Assume", "Combinators", "Example", "ForAll", "Property", "Provide")
]


def contract_test_file(
    spec: Spec, plan: tuple[ModulePlan, ...], module: ModulePlan, function: FunctionPlan
) -> TestFile:
    """Return the tests of one function's contract.

    Raises:
        ClaimTestFault: a clause that is an expression cannot be a test.
    """
    found = typed_tests.contract_tests(spec, plan, module, function)
    base = f"{camel(module.name)}{pascal(function.name)}"
    promises: dict[str, str] = {}
    parts: list[str] = []
    for clause in found.clauses:
        name = base + pascal(clause.name)
        promises[name] = clause.promise
        parts.append(method(name, found.parameters, _clause(spec, module, function, found, clause)))
    name = f"{base}RaisesOnlyWhatIsPromised"
    promises[name] = _ONLY
    parts.append(method(name, found.parameters, _errors(spec, module, function, found)))
    owner = f"{module_class(module.name)}.{ident(function.name)}"
    words = f"What {owner} promises: made from its contract before it had a body."
    return test_file(spec, f"{pascal(base)}ContractTest", words, parts, found.parameters, promises)


def test_file(
    spec: Spec, name: str, words: str, parts: list[str], variables: Sequence[Param], promises: dict[str, str]
) -> TestFile:
    """Return a class of tests, with a provider for each variable."""
    providers: dict[str, str] = {}
    for variable in variables:
        provider = provider_of(variable)
        lead = f"    @Provide\n    Arbitrary<{kind(variable.type, boxed=True)}> {provider}() {{\n"
        providers[provider] = f"{lead}        return {arbitrary(spec, variable.type)};\n    }}\n"
    body = "\n".join([*parts, *providers.values()])
    code = f"/** {words.replace('*/', '* /')} */\nfinal class {name} {{\n{body}}}\n"
    own = package(spec)
    static = [f"static {own}.Harness.*", f"static {own}.Values.*"]
    others = [*_JQWIK, "java.util.Locale", "org.junit.jupiter.api.Test"]
    source = java_file(own, code, sorted({*imports(spec), *others, *static}))
    return TestFile(f"src/test/java/{own}/{name}.java", source, promises)


def provider_of(variable: Param) -> str:
    """Return the name of the method that provides a variable: one for each type."""
    return "any" + "".join(part for part in str(variable.type) if part.isalnum())


def method(name: str, variables: Sequence[Param], lines: list[str], *, example: str = "@Test") -> str:
    """Return a test: a property where something is drawn, else an example."""
    head = '@Property(seed = "1", maxDiscardRatio = 1000)' if variables else example
    given = ",\n            ".join(
        f'@ForAll("{provider_of(v)}") {kind(v.type, boxed=True)} {ident(v.name)}' for v in variables
    )
    inner = "\n".join(f"        {line}" for line in lines)
    return f"    {head}\n    void {name}({given}) {{\n{inner}\n    }}\n"


def shown(names: Sequence[str], given: Mapping[str, str] | None = None) -> str:
    """Arguments that show values in a message."""
    return "".join(f", given({quoted(name)}, {(given or {}).get(name) or ident(name)})" for name in names)


def _opening(spec: Spec, module: ModulePlan, function: FunctionPlan, found: ContractTests) -> list[str]:
    renderer = Renderer(spec)
    lines = [f"Assume.that({renderer.render(test)});" for test in found.assume] if found.parameters else []
    return lines


def _called(module: ModulePlan, function: FunctionPlan) -> str:
    given = ", ".join(ident(p.name) for p in function.parameters)
    text = f"{module_class(module.name)}.{ident(function.name)}({given})"
    if function.result.name == "Unit":
        return f"final var outcome = call(() -> {{ {text}; return null; }});"
    return f"final var outcome = call(() -> {text});"


def _clause(
    spec: Spec, module: ModulePlan, function: FunctionPlan, found: ContractTests, clause: ClauseTest
) -> list[str]:
    renderer = Renderer(spec)
    lines = _opening(spec, module, function, found)
    lines += [f"final var {ident(old.name)} = {renderer.render(old.value)};" for old in clause.olds]
    lines.append(_called(module, function))
    if found.result.name != "Unit":
        lines.append("final var result = outcome.result();")
    values = shown([p.name for p in found.parameters])
    check = f"holds({quoted(clause.promise)}, () -> {renderer.render(clause.condition)}, outcome{values});"
    return [*lines, check] if clause.on_error else [*lines, "if (outcome.error() == null) {", f"    {check}", "}"]


def _errors(spec: Spec, module: ModulePlan, function: FunctionPlan, found: ContractTests) -> list[str]:
    """Test that an error is thrown only where some clause says so."""
    renderer = Renderer(spec)
    cases = [f"(outcome.raises({a.error}.class) && {renderer.render(a.when)})" for a in found.allowed]
    allowed = " || ".join(["outcome.error() == null", *cases])
    values = shown([p.name for p in found.parameters])
    lines = [*_opening(spec, module, function, found), _called(module, function)]
    return [*lines, f"holds({quoted(_ONLY)}, () -> {allowed}, outcome{values});"]
