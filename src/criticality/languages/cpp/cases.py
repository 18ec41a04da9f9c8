"""The judge's cases as a program that CTest runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from criticality.language import Plan, Tree
from criticality.languages.base.cases import Row, by_module
from criticality.languages.base.data import fill
from criticality.languages.cpp.expressions import Renderer
from criticality.lattice_plan import FunctionPlan
from criticality.spec.spec import Spec


def case_files(spec: Spec, plan: Plan, cases: Mapping[str, list[list[Any]]]) -> Tree:
    """Return a program for each module that has cases."""
    return {
        f"tests/{name}_test.cpp": fill(
            "criticality.languages.cpp", "templates", "cases.cpp", name=spec.package, module=name, tests=tests
        )
        for name, tests in by_module(spec, plan, cases, lambda m, f, held: _test(spec, m, f, held)).items()
    }


def _test(spec: Spec, module: str, function: FunctionPlan, held: list[Row]) -> str:
    renderer, unit = Renderer(spec), function.result.name == "Unit"
    lines: list[str] = []
    for row in held:
        call = f"{module}::{function.name}({', '.join(map(renderer.render, row.args))})"
        if row.result is None:
            lines.append(f"  check(raises<{row.error}>([] {{ (void)({call}); }}), __LINE__);")
        else:
            lines.append(f"  {call};" if unit else f"  check({call} == {renderer.render(row.result)}, __LINE__);")
    return "\n".join([f"  // {function.name}", *lines])
