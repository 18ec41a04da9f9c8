"""The judge's cases as JUnit tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from criticality.language import Plan, Tree
from criticality.languages.base.cases import Row, by_module
from criticality.languages.java.expressions import Renderer
from criticality.languages.java.names import IMPORTED, ident, java_file, module_class, package
from criticality.lattice_plan import FunctionPlan
from criticality.spec.spec import Spec

_ASSERTIONS = "org.junit.jupiter.api.Assertions"


def case_files(spec: Spec, plan: Plan, cases: Mapping[str, list[list[Any]]]) -> Tree:
    """Return a test class for each module that has cases."""
    base = package(spec)
    known = [*IMPORTED, "org.junit.jupiter.api.Test", *(f"{base}.domain.{name}" for name in _types(spec))]
    files: Tree = {}
    for name, tests in by_module(spec, plan, cases, lambda m, f, held: _test(spec, m, f, held)).items():
        used = [f"static {_ASSERTIONS}.{word}" for word in ("assertEquals", "assertThrows") if f"{word}(" in tests]
        code = f"final class {module_class(name)}Test {{\n{tests}}}\n"
        files[f"src/test/java/{base}/{module_class(name)}Test.java"] = java_file(base, code, [*known, *used])
    return files


def _types(spec: Spec) -> list[str]:
    return [*spec.named_types(), "Tuple2", "Tuple3", "Tuple4"]


def _test(spec: Spec, module: str, function: FunctionPlan, held: list[Row]) -> str:
    renderer, unit = Renderer(spec), function.result.name == "Unit"
    lines = ["    @Test", f"    void {ident(function.name)}() {{"]
    for row in held:
        call = f"{module_class(module)}.{ident(function.name)}({', '.join(map(renderer.render, row.args))})"
        if row.result is None:
            lines.append(f"        assertThrows({row.error}.class, () -> {call});")
        else:
            lines.append(
                f"        {call};" if unit else f"        assertEquals({renderer.render(row.result)}, {call});"
            )
    return "\n".join([*lines, "    }", ""])
