"""The judge's cases as tests of node's own runner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from criticality.language import Plan, Tree
from criticality.languages.base.cases import Row, by_module
from criticality.languages.base.data import read_text
from criticality.languages.typescript.expressions import rendered
from criticality.languages.typescript.names import identifier, imports
from criticality.lattice_plan import FunctionPlan
from criticality.spec.spec import Spec

_HEAD = 'import assert from "node:assert/strict";\nimport { test } from "node:test";'


def case_files(spec: Spec, plan: Plan, cases: Mapping[str, list[list[Any]]]) -> Tree:
    """Return a test file for each module that has cases, and what takes the types out before they run."""
    functions = {module.name: [identifier(f.name) for f in module.functions] for module in plan}
    files: Tree = {}
    for name, tests in by_module(spec, plan, cases, lambda _, function, held: _test(function, held)).items():
        used = [*imports(tests, functions[name], f"../src/{name}.js")]
        used += imports(tests, [*spec.named_types(), "Decimal"], "../src/domain.js")
        files[f"tests/{name}.test.ts"] = "\n".join([_HEAD, *used, "", tests])
    build = read_text("criticality.languages.typescript", "build.mjs")
    return files | ({"tests/build.mjs": build} if files else {})


def _test(function: FunctionPlan, held: list[Row]) -> str:
    name = identifier(function.name)
    lines = [f'test("{name}", () => {{']
    for row in held:
        call = f"{name}({', '.join(map(rendered, row.args))})"
        if row.result is None:
            lines.append(f"  assert.throws(() => {call}, {row.error});")
        else:
            unit = function.result.name == "Unit"
            lines.append(f"  {call};" if unit else f"  assert.deepEqual({call}, {rendered(row.result)});")
    return "\n".join([*lines, "});", ""])
