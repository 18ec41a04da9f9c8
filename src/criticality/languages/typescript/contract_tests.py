"""Tests of a function's contract with vitest and fast-check, one for each clause that can be checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from criticality.languages.base.expressions.nodes import Variable, walk
from criticality.languages.base.typed_tests import ClauseTest, ContractTests, Growth, contract_tests
from criticality.languages.typescript.expressions import quoted, rendered
from criticality.languages.typescript.generators import Arbitraries
from criticality.languages.typescript.names import identifier, imports, in_words, require_comparable
from criticality.lattice_plan import FunctionPlan, ModulePlan, index
from criticality.spec.spec import Spec
from criticality.spec.types import Param
from criticality.testing import TestFile

#: By the slope that is promised, the size to begin with: it is doubled four times.
_SMALLEST = {0.0: 1000, 0.1: 1000, 1.0: 500, 1.1: 500, 2.0: 100, 3.0: 25}
#: How much steeper than promised a slope may be: the next class is a whole one away.
_MARGIN = 0.5


def contract_test_file(
    spec: Spec, plan: tuple[ModulePlan, ...], module: ModulePlan, function: FunctionPlan
) -> TestFile:
    """Return the tests of one function's contract.

    Raises:
        ClaimTestFault: a clause is an expression that TypeScript cannot render.
    """
    tests = contract_tests(spec, plan, module, function)
    for kind in (*(param.type for param in tests.parameters), tests.result):
        require_comparable(spec, kind)
    promises: dict[str, str] = {}
    parts: list[str] = []
    for clause in tests.clauses:
        title = f"{identifier(function.name)} {clause.name.replace('_', ' ')}"
        promises[title] = clause.promise
        parts.append(_clause_test(spec, tests, title, clause))
    if tests.growth is not None:
        title = f"{identifier(function.name)} grows no faster"
        promises[title] = tests.growth.words
        measured = f"return $.call(() => {_called(tests)});"
        growth = replace(tests.growth, words=in_words(tests.growth.words))
        parts.append(growth_test(spec, title, tests.parameters, growth, [measured]))
    title = f"{identifier(function.name)} throws only what is promised"
    promises[title] = "no error but those that the contract promises"
    parts.append(_errors_test(spec, tests, title, promises[title]))
    text = "\n".join(parts)
    intent = f"What {module.name}.{function.name} promises: made from its contract before it had a body."
    path = f"tests/property/{module.name}_{function.name}.test.ts"
    return TestFile(path, f"{head(spec, plan, text, intent)}\n{text}", promises)


def head(spec: Spec, plan: tuple[ModulePlan, ...], text: str, intent: str) -> str:
    """Return the comment and the imports of a test file."""
    lines = [f"/** {intent.replace('*/', '* /')} */", ""]
    lines += ['import fc from "fast-check";'] if "fc." in text else []
    lines += ['import { test } from "vitest";', ""]
    lines += imports(text, [*spec.named_types(), "Decimal"], "../../src/domain.js")
    by_module: dict[str, set[str]] = {}
    for name in index(plan):
        owner, _, function = name.partition(".")
        by_module.setdefault(owner, set()).add(identifier(function))
    for owner in sorted(by_module):
        lines += imports(text, by_module[owner], f"../../src/{owner}.js")
    lines += ['import * as draw from "../support/arbitraries.js";'] if "draw." in text else []
    lines += ['import * as $ from "../support/harness.js";']
    return "\n".join(lines) + "\n"


def property_test(spec: Spec, title: str, parameters: tuple[Param, ...], body: list[str]) -> str:
    """Return a test whose values are drawn; an example where there are none."""
    if not parameters:
        return "\n".join([f"test({quoted(title)}, () => {{", *_indented(body, 2), "});", ""])
    writer = Arbitraries(spec)
    drawn = ", ".join(writer.of(param.type) for param in parameters)
    names = ", ".join(identifier(param.name) for param in parameters)
    return "\n".join(
        [
            f"test({quoted(title)}, () => {{",
            "  $.check(",
            f"    fc.property({drawn}, ({names}) => {{",
            *_indented(body, 6),
            "    }),",
            "  );",
            "});",
            "",
        ]
    )


def _indented(lines: list[str], columns: int) -> list[str]:
    return [" " * columns + line for line in lines]


def given(names: list[str]) -> str:
    """Values to show when a promise is broken."""
    return f"{{ {', '.join(names)} }}" if names else "{}"


def holds(promise: str, condition: str, shown: str) -> list[str]:
    """Return the lines that show a promise."""
    return ["$.holds(", f"  {promise},", f"  () => {condition},", f"  {shown},", ");"]


def _clause_test(spec: Spec, tests: ContractTests, title: str, clause: ClauseTest) -> str:
    names = [identifier(param.name) for param in tests.parameters]
    lines = [f"fc.pre({rendered(assumed)});" for assumed in tests.assume if names]
    lines += [f"const {identifier(old.name)} = {rendered(old.value)};" for old in clause.olds]
    lines.append(f"const outcome = $.call(() => {_called(tests)});")
    if not clause.on_error:
        lines.append("if (outcome.error !== undefined) return;")
    condition = rendered(clause.condition)
    if _speaks_of_result(clause):
        lines.append("const { result } = outcome;")
    promise = quoted(in_words(clause.promise))
    lines += holds(promise, condition, f"{given(names)}, outcome")
    return property_test(spec, title, tests.parameters, lines)


def _speaks_of_result(clause: ClauseTest) -> bool:
    return any(isinstance(node, Variable) and node.name == "result" for node in walk(clause.condition))


def _called(tests: ContractTests) -> str:
    name = identifier(tests.function.partition(".")[2])
    return f"{name}({', '.join(identifier(param.name) for param in tests.parameters)})"


def growth_test(
    spec: Spec, title: str, parameters: tuple[Param, ...], growth: Growth, work: list[str], once: Sequence[str] = ()
) -> str:
    """Time over size on a logarithmic scale: no steeper than the class that is promised.

    Args:
        work: what is measured; it returns something that depends on all of it.
        once: what is done once at each size.
    """
    writer = Arbitraries(spec)
    values = [
        f"const {identifier(param.name)} = $.sample("
        f"{writer.grown(param.type) if param.name == growth.variable else writer.of(param.type)});"
        for param in parameters
    ]
    promise = quoted(growth.words)
    body = [
        f"const slope = $.growth({_SMALLEST[growth.slope]}, (size) => {{",
        *_indented(values, 2),
        *_indented(list(once), 2),
        "  return () => {",
        *_indented(work, 4),
        "  };",
        "});",
        *holds(promise, f"slope < {growth.slope + _MARGIN:g}", "{ slope }"),
    ]
    return "\n".join([f"test({quoted(title)}, () => {{", *_indented(body, 2), "});", ""])


def _errors_test(spec: Spec, tests: ContractTests, title: str, promise: str) -> str:
    """Test that an error is thrown only where some clause says so."""
    names = [identifier(param.name) for param in tests.parameters]
    lines = [f"fc.pre({rendered(assumed)});" for assumed in tests.assume if names]
    cases = ["outcome.error === undefined"]
    for allowed in tests.allowed:
        when = rendered(allowed.when)
        cases.append(f"$.raised(outcome, {allowed.error})" + (f" && ({when})" if when != "true" else ""))
    lines.append(f"const outcome = $.call(() => {_called(tests)});")
    lines += holds(quoted(promise), " || ".join(cases), f"{given(names)}, outcome")
    return property_test(spec, title, tests.parameters, lines)
