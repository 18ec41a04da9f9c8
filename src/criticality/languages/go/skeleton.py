"""A planned module as a Go file: signatures with their contracts, and bodies that are still to do."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from criticality.languages.base.naming import pascal, words
from criticality.languages.go.names import ident, kind, module, package, with_imports
from criticality.lattice_plan import FunctionPlan, ModulePlan
from criticality.spec.spec import Spec

#: Go's ``todo!()``.
TODO = 'panic("not implemented")'


def signature(spec: Spec | None, function: FunctionPlan) -> str:
    """Return the header: ``func IsEven(n int) bool``."""
    return f"func {pascal(function.name)}({_parameters(spec, function)}){_results(spec, function)}"


def _parameters(spec: Spec | None, function: FunctionPlan) -> str:
    return ", ".join(f"{ident(p.name)} {kind(spec, p.type)}" for p in function.parameters)


def _results(spec: Spec | None, function: FunctionPlan) -> str:
    unit = function.result.name == "Unit"
    if function.errors:
        return " error" if unit else f" ({kind(spec, function.result)}, error)"
    return "" if unit else f" {kind(spec, function.result)}"


def clauses(function: FunctionPlan) -> list[str]:
    """Return the contract, with parameters as Go has them."""
    names = {p.name: ident(p.name) for p in function.parameters}
    return [words(line, names) for line in function.contract.lines]


def documentation(function: FunctionPlan, contract: bool) -> str:
    """Return the comment: what the function does, and where a prompt shows it, its clauses below."""
    lines = [f"{pascal(function.name)}: {' '.join(function.doc.split())}"]
    lines += ["", *(f"\t{line}" for line in clauses(function))] if contract else []
    return "\n".join(f"//{line}" if line.startswith("\t") else f"// {line}".rstrip() for line in lines)


def shown(spec: Spec | None, function: FunctionPlan, body: str, *, contract: bool = False) -> str:
    """Return the function as it stands in its file, or with its contract."""
    return f"{documentation(function, contract)}\n{signature(spec, function)} {{\n{body_source(body)}}}"


def body_source(body: str) -> str:
    """Return a body as it stands in a file: its own indentation taken off, a tab put on."""
    return textwrap.indent(textwrap.dedent(body).strip("\n"), "\t") + "\n"


def module_source(spec: Spec, plan: ModulePlan, bodies: Mapping[str, tuple[str, str]]) -> str:
    """Return the file of a module; a function without a body says that it is still to do.

    Args:
        bodies: by function name, the body and what was declared before the function.
    """
    parts: list[str] = []
    for function in plan.functions:
        body, before = bodies.get(function.name, (TODO, ""))
        lead = f"{before.strip()}\n\n" if before.strip() else ""
        parts.append(f"{lead}{shown(spec, function, body)}\n")
    head = f"// {' '.join(plan.purpose.split())}\n\npackage {package(spec)}\n"
    return with_imports(
        head, "\n".join(parts), others={name: f"{module(spec)}/{name}" for name in ("domain", "serving")}
    )
