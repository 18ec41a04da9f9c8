"""A planned module as C++: a header with what it offers, a source with bodies that are still to do."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from criticality.languages.cpp.names import owned, parameter
from criticality.lattice_plan import FunctionPlan, ModulePlan, index

TODO = 'throw std::logic_error("not implemented");'
STANDARD = ("algorithm", "functional", "iterator", "numeric", "stdexcept", "utility")


def signature(function: FunctionPlan) -> str:
    """Return the header: ``std::int64_t name(const Account& account)``."""
    params = ", ".join(f"{parameter(param.type)} {param.name}" for param in function.parameters)
    return f"{owned(function.result)} {function.name}({params})"


def documentation(function: FunctionPlan, contract: bool) -> str:
    """Return what the function does, and where a prompt shows it, its clauses below."""
    lines = [" ".join(function.doc.split()), *(["", *function.contract.lines] if contract else [])]
    # A backslash at the end of a comment would take the next line into it.
    return "\n".join(f"/// {line}".rstrip(" \\") for line in lines)


def shown(function: FunctionPlan, body: str, *, contract: bool = False) -> str:
    """Return a function with documentation and body, as it stands in its module, or with its contract."""
    inner = textwrap.indent(body.strip("\n"), "  ")
    return f"{documentation(function, contract)}\n{signature(function)} {{\n{inner}\n}}"


def header_source(package: str, module: ModulePlan) -> str:
    """Return the header of a module."""
    listed = "\n\n".join(f"/// {' '.join(f.doc.split())}\n[[nodiscard]] {signature(f)};" for f in module.functions)
    listed = listed.replace("[[nodiscard]] void ", "void ")
    return (
        f'// {" ".join(module.purpose.split())}\n#pragma once\n\n#include "{package}/domain.hpp"\n\n'
        f"namespace {package}::{module.name} {{\n\n{listed}\n\n}}  // namespace {package}::{module.name}\n"
    )


def module_source(
    package: str, module: ModulePlan, modules: tuple[ModulePlan, ...], bodies: Mapping[str, tuple[str, str]]
) -> str:
    """Return the module; a function without a body says that it is still to do.

    Args:
        bodies: by function name, the body and what was declared before the function.
    """
    parts: list[str] = []
    for function in module.functions:
        body, before = bodies.get(function.name, (TODO, ""))
        parts.append((f"{before.strip()}\n\n" if before.strip() else "") + shown(function, body))
    available = index(modules)
    called = {call.partition(".")[0] for f in module.functions for call in f.calls if call in available}
    own = [f'#include "{package}/{name}.hpp"' for name in (module.name, *sorted(called - {module.name}))]
    standard = [f"#include <{name}>" for name in sorted({*STANDARD, *module.imports})]
    inner = "\n\n".join(parts)
    return "\n".join(
        [*own, "", *standard, "", f"namespace {package}::{module.name} {{", "", inner, "", _end(package, module)]
    )


def _end(package: str, module: ModulePlan) -> str:
    return f"}}  // namespace {package}::{module.name}\n"
