"""A planned module as Python source: signatures with their contracts, and bodies that are still to do."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterable, Mapping

from criticality.artifacts import Body
from criticality.languages.python.names import annotation, imports_for
from criticality.lattice_plan import FunctionPlan, ModulePlan, called_elsewhere
from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef, parse_type

#: Python's ``todo!()``.
UNWRITTEN = "raise NotImplementedError"


def signature(function: FunctionPlan) -> str:
    """Return the header: ``def name(a: int) -> int:``."""
    params = ", ".join(f"{param.name}: {annotation(param.type)}" for param in function.parameters)
    return f"def {function.name}({params}) -> {annotation(function.result)}:"


def documented(function: FunctionPlan) -> str:
    """Return the docstring as prompts show it, its clauses below the sentence on what the function does."""
    clauses = "\n".join(f"    {_safe(line)}" for line in function.contract.lines)
    return f'    """{_safe(function.doc)}\n\n{clauses}\n    """'


def documentation(function: FunctionPlan, errors: Mapping[str, str]) -> str:
    """Return the docstring of the project: what the function does, and what it raises."""
    sentence = _safe(function.doc) + "." * (not function.doc.rstrip().endswith((".", "!", "?")))
    raised = "".join(
        f"        {name}: {_safe(errors[name] or name)}\n" for name in function.errors if name in errors
    )
    return f'    """{sentence}\n\n    Raises:\n{raised}    """' if raised else f'    """{sentence}"""'


def _safe(text: str) -> str:
    return " ".join(text.split()).replace("\\", "\\\\").replace('"""', "'''")


def module_source(
    spec: Spec,
    module: ModulePlan,
    modules: tuple[ModulePlan, ...],
    bodies: Mapping[str, Body],
) -> str:
    """Return the module; a function without a body says that it is still to do.

    Args:
        bodies: by function id.
    """
    functions: list[str] = []
    for function in module.functions:
        body = bodies.get(f"{module.name}.{function.name}")
        lead = f"{body.declarations.strip()}\n\n\n" if body and body.declarations.strip() else ""
        head = f"{lead}{signature(function)}\n{documentation(function, spec.errors)}"
        functions.append(f"{head}\n{body_source(body.text if body else UNWRITTEN)}")
    head = f'"""{_safe(module.purpose)}"""'
    code = "\n\n".join(functions)
    imports = used(code, module_imports(spec, module, modules), spec.package)
    return "\n".join([head, "", "from __future__ import annotations", "", *imports, "", "", code])


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


def package_source(spec: Spec, modules: tuple[ModulePlan, ...]) -> str:
    """Return the package's own file: the operations of the interfaces and the types, under one roof."""
    methods = {method.name for _, method, _, _ in spec.methods()}
    homes = {"domain": sorted(spec.named_types())}
    homes |= {m.name: sorted(f.name for f in m.functions if f.name in methods) for m in modules}
    names = sorted({name for held in homes.values() for name in held})
    lines = [f"from {spec.package}.{home} import {', '.join(held)}" for home, held in sorted(homes.items()) if held]
    head = f'"""{_safe(spec.system.description)}"""'
    listed = "\n".join(f'    "{name}",' for name in names)
    return "\n".join([head, "", *lines, "", f"__all__ = [\n{listed}\n]", ""])


def module_imports(spec: Spec, module: ModulePlan, modules: tuple[ModulePlan, ...]) -> list[str]:
    """Import lines: what annotations need, what bodies may use, domain types, planned callees elsewhere."""
    known = spec.named_types()
    kinds = kinds_of(module)
    lines = set(imports_for(kinds))
    lines |= {f"import {name}" for name in module.imports}
    lines |= {"from decimal import Decimal"} if "Decimal" in known_scalars(spec) else set()
    lines.add("from dataclasses import replace")
    own = sorted(known)
    if own:
        lines.add(f"from {spec.package}.domain import {', '.join(own)}")
    elsewhere = called_elsewhere(module, modules)
    lines |= {f"from {spec.package}.{owner} import {', '.join(sorted(n))}" for owner, n in elsewhere.items()}
    return sorted(lines)


def known_scalars(spec: Spec) -> set[str]:
    """Scalars that occur anywhere in the specification's types."""
    texts = [new.base for new in spec.newtypes.values()]
    texts += [field.type for model in spec.data_models.values() for field in model.fields]
    return {name for text in texts for name in parse_type(text).names()}


def kinds_of(module: ModulePlan) -> list[TypeRef]:
    """Return every type in the module's signatures."""
    return [kind for f in module.functions for kind in (*(p.type for p in f.parameters), f.result)]


def body_source(body: str) -> str:
    """Return a body as it stands in a file: its own indentation taken off, four columns put on."""
    return textwrap.indent(textwrap.dedent(body).strip("\n"), "    ") + "\n"
