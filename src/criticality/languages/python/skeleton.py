"""What a planned module of Python imports, and what its package shows."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

from criticality.languages.python.names import imports_for
from criticality.lattice_plan import ModulePlan, called_elsewhere
from criticality.spec.spec import Spec
from criticality.spec.values import every_type


def safe(text: str) -> str:
    """Return a text on one line that ends no string."""
    return " ".join(text.split()).replace("\\", "\\\\").replace('"""', "'''")


def used(code: str, imports: Iterable[str], package: str) -> list[str]:
    """Return import lines without what a text does not name, those of the project's own package last."""
    try:
        words = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
    except (SyntaxError, ValueError, RecursionError):
        return list(imports)
    lines: list[str] = []
    for line in imports:
        source, _, names = line.rpartition("import ")
        left = [name for name in names.split(", ") if name.partition(".")[0] in words]
        lines += [f"{source}import {', '.join(left)}"] if left else []
    own = [line for line in lines if line.startswith(f"from {package}.")]
    standard = [line for line in lines if line not in own]
    standard.sort(key=lambda line: (line.startswith("from"), line))
    return [*standard, *([""] if standard and own else []), *own]


def shown(spec: Spec, modules: tuple[ModulePlan, ...]) -> Mapping[str, Any]:
    """Return what the package's own file shows under one roof: the operations of the interfaces and the types."""
    methods = {method.name for _, method, _, _ in spec.methods()}
    homes = {"domain": sorted(spec.named_types())}
    homes |= {m.name: sorted(f.name for f in m.functions if f.name in methods) for m in modules}
    return {
        "homes": [(home, held) for home, held in sorted(homes.items()) if held],
        "names": sorted({name for held in homes.values() for name in held}),
    }


def module_imports(spec: Spec, module: ModulePlan, modules: tuple[ModulePlan, ...]) -> list[str]:
    """Import lines: what annotations need, what bodies may use, domain types, planned callees elsewhere."""
    kinds = [kind for function in module.functions for kind in function.kinds]
    lines = {"from dataclasses import replace", *imports_for(kinds), *(f"import {name}" for name in module.imports)}
    lines |= {"from decimal import Decimal" for kind in every_type(spec) if "Decimal" in kind.names()}
    homes = [*called_elsewhere(module, modules).items(), ("domain", spec.named_types())]
    lines |= {f"from {spec.package}.{home} import {', '.join(sorted(held))}" for home, held in homes if held}
    return sorted(lines)


def body_source(body: str) -> str:
    """Return a body as it stands in a file: its own indentation taken off, four columns put on."""
    return textwrap.indent(textwrap.dedent(body).strip("\n"), "    ") + "\n"
