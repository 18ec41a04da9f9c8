"""The judge's cases as Go tests, which the race detector may watch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from criticality.language import Plan, Tree
from criticality.languages.base.cases import Row, by_module
from criticality.languages.base.data import fill
from criticality.languages.base.naming import pascal
from criticality.languages.go.expressions import Renderer
from criticality.languages.go.names import failure, module, package, with_imports
from criticality.lattice_plan import FunctionPlan
from criticality.spec.spec import Spec


def case_files(spec: Spec, plan: Plan, cases: Mapping[str, list[list[Any]]]) -> Tree:
    """Return a test file for each module that has cases, and what they stand on."""
    head = f"package {package(spec)}\n"
    written = by_module(spec, plan, cases, lambda _, function, held: _test(spec, function, held))
    known = {"domain": f"{module(spec)}/domain", "testing": "testing"}
    files = {f"{name}_test.go": with_imports(head, tests, others=known) for name, tests in written.items()}
    helpers = fill("criticality.languages.go", "templates", "cases.go", name=package(spec))
    return files | ({"cases_test.go": helpers} if files else {})


def _test(spec: Spec, function: FunctionPlan, held: list[Row]) -> str:
    renderer = Renderer(spec)
    lines = [f"func Test{pascal(function.name)}(t *testing.T) {{", "\tt.Parallel()"]
    for row in held:
        call = f"{pascal(function.name)}({', '.join(map(renderer.render, row.args))})"
        unit = function.result.name == "Unit"
        if row.result is None:
            lines.append(f"\t{'' if unit else '_, '}err := {call}\n\tfails(t, err, domain.{failure(row.error)})")
        elif unit:
            lines.append(f"\tfails(t, {call}, nil)" if function.errors else f"\t{call}")
        else:
            call = f"must({call})" if function.errors else call
            lines.append(f"\tequal(t, {call}, {renderer.render(row.result)})")
    blocks = [
        line if "err :=" not in line else "\tfunc() {\n" + "\n".join(f"\t{x}" for x in line.split("\n")) + "\n\t}()"
        for line in lines
    ]
    return "\n".join([*blocks, "}", ""])
