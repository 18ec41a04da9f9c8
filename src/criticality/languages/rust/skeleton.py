"""A planned module as Rust source: signatures with their contracts, and bodies that are still to do."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from criticality.languages.rust.names import owned, parameter
from criticality.lattice_plan import FunctionPlan, ModulePlan, index

TODO = "todo!()"


def signature(function: FunctionPlan) -> str:
    """Return the header: ``pub fn name(a: i64) -> Result<i64, Error>``."""
    params = ", ".join(f"{param.name}: {parameter(param.type)}" for param in function.parameters)
    result = owned(function.result)
    if function.errors:
        result = f"Result<{result}, Error>"
    arrow = "" if result == "()" else f" -> {result}"
    return f"pub fn {function.name}({params}){arrow}"


def documentation(function: FunctionPlan, contract: bool) -> str:
    """Return what the function does, and where a prompt shows it, its clauses below."""
    lines = [" ".join(function.doc.split()), *(["", *function.contract.lines] if contract else [])]
    return "\n".join(f"/// {line}".rstrip() for line in lines)


def shown(function: FunctionPlan, body: str, *, contract: bool = False) -> str:
    """Return a function with documentation and body, as it stands in its module, or with its contract."""
    inner = textwrap.indent(body.strip("\n"), "    ")
    return f"{documentation(function, contract)}\n{signature(function)} {{\n{inner}\n}}"


def module_source(
    module: ModulePlan,
    modules: tuple[ModulePlan, ...],
    bodies: Mapping[str, tuple[str, str]],
) -> str:
    """Return the module; a function without a body says that it is still to do.

    Args:
        bodies: by function name, the body and what was declared before the function.
    """
    parts: list[str] = []
    for function in module.functions:
        body, before = bodies.get(function.name, (TODO, ""))
        lead = f"{before.strip()}\n\n" if before.strip() else ""
        parts.append(lead + shown(function, body))
    head = f"//! {' '.join(module.purpose.split())}\n"
    uses = "\n".join(imports(module, modules))
    return f"{head}\n#![allow(unused_imports, unused_variables)]\n\n{uses}\n\n" + "\n\n".join(parts) + "\n"


def imports(module: ModulePlan, modules: tuple[ModulePlan, ...]) -> list[str]:
    """Return what bodies may use: domain, collections, planned callees elsewhere, what the plan imports."""
    available = index(modules)
    elsewhere: dict[str, set[str]] = {}
    for function in module.functions:
        for call in function.calls:
            owner, _, name = call.partition(".")
            if call in available and owner != module.name:
                elsewhere.setdefault(owner, set()).add(name)
    lines = {f"use crate::{owner}::{{{', '.join(sorted(names))}}};" for owner, names in elsewhere.items()}
    lines |= {f"use std::{name};" for name in module.imports}
    return ["use crate::domain::*;", *sorted(lines), "use std::collections::{BTreeMap, BTreeSet};"]
