"""The judge's cases as tests that cargo runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from criticality.language import Plan, Tree
from criticality.languages.base.cases import Row, by_module
from criticality.languages.rust.expressions import Renderer
from criticality.languages.rust.names import is_lent
from criticality.lattice_plan import FunctionPlan
from criticality.spec.spec import Spec


def case_files(spec: Spec, plan: Plan, cases: Mapping[str, list[list[Any]]], modules: list[str]) -> Tree:
    """Return a test file for each module that has cases.

    Args:
        modules: those of ours that the types need.
    """
    files: Tree = {}
    for name, tests in by_module(spec, plan, cases, lambda _, function, held: _test(spec, function, held)).items():
        used = "".join(f"use {spec.package}::{one}::*;\n" for one in sorted([*modules, name]))
        head = "#![allow(unused_imports)]\n\n"
        files[f"tests/{name}.rs"] = f"{head}{used}use std::collections::{{BTreeMap, BTreeSet}};\n\n{tests}"
    return files


def _test(spec: Spec, function: FunctionPlan, held: list[Row]) -> str:
    renderer = Renderer(spec)
    lines = ["#[test]", f"fn {function.name}_cases() {{"]
    for row in held:
        given = zip(function.parameters, map(renderer.render, row.args), strict=True)
        call = f"{function.name}({', '.join('&' * is_lent(p.type) + text for p, text in given)})"
        if row.result is None:
            lines.append(f"    assert_eq!({call}, Err(Error::{row.error}));")
        else:
            result = renderer.render(row.result)
            lines.append(f"    assert_eq!({call}, {f'Ok({result})' if function.errors else result});")
    return "\n".join([*lines, "}", ""])
