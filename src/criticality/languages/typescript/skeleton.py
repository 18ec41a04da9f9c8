"""A planned module as TypeScript: signatures with their contracts, and bodies that are still to do."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping

from criticality.languages.typescript.names import annotation, identifier, imports, in_words, result
from criticality.lattice_plan import FunctionPlan, ModulePlan, index
from criticality.spec.spec import Spec

#: What a body says that is still to do, and the words that it throws.
UNDONE = "not implemented"
TODO = f'throw new Error("{UNDONE}");'


def signature(function: FunctionPlan) -> str:
    """Return the header: ``function isEven(count: Count): boolean``."""
    params = ", ".join(f"{identifier(param.name)}: {annotation(param.type)}" for param in function.parameters)
    return f"function {identifier(function.name)}({params}): {result(function.result)}"


def clauses(function: FunctionPlan) -> list[str]:
    """Return the contract, with names as they stand in the code."""
    return [in_words(line) for line in function.contract.lines]


def documentation(function: FunctionPlan, contract: bool) -> str:
    """Return the comment: what the function does, where a prompt shows it its clauses, and the errors it throws."""
    lines = [_safe(function.doc), *(["", *map(_safe, clauses(function))] if contract else [])]
    lines += [f"@throws {error}" for error in sorted(function.errors)]
    return "\n".join(["/**", *(f" * {line}".rstrip() for line in lines), " */"])


def _safe(text: str) -> str:
    return " ".join(text.split()).replace("*/", "* /")


def shown(function: FunctionPlan, body: str, *, contract: bool = False) -> str:
    """Return a function as it stands in its module, or with its contract."""
    return f"{documentation(function, contract)}\nexport {signature(function)} {{\n{body_source(body)}}}\n"


def body_source(body: str) -> str:
    """Return a body as it stands in a file: its own indentation taken off, two columns put on."""
    return textwrap.indent(textwrap.dedent(body).strip("\n"), "  ") + "\n"


def module_source(
    spec: Spec,
    module: ModulePlan,
    modules: tuple[ModulePlan, ...],
    bodies: Mapping[str, tuple[str, str]] | None = None,
) -> str:
    """Return the module; a function without a body says that it is still to do.

    Args:
        bodies: by function name, the body and what was declared before the function.
    """
    functions: list[str] = []
    for function in module.functions:
        body, before = (bodies or {}).get(function.name, (TODO, ""))
        lead = f"{before.strip()}\n\n" if before.strip() else ""
        functions.append(lead + shown(function, body))
    text = "\n".join(functions)
    lines = module_imports(spec, module, modules, text)
    return "\n".join([f"/** {_safe(module.purpose)} */", "", *lines, *([""] if lines else []), text])


def module_imports(spec: Spec, module: ModulePlan, modules: tuple[ModulePlan, ...], text: str) -> list[str]:
    """Import lines for the types of the domain and the planned callees elsewhere that the text uses."""
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    lines = imports(code, [*spec.named_types(), "Decimal"], "./domain.js")
    lines += imports(code, ["$traced", "$variant"], "./serving.js")
    available = index(modules)
    elsewhere: dict[str, set[str]] = {}
    for function in module.functions:
        for call in function.calls:
            owner, _, name = call.partition(".")
            if call in available and owner != module.name:
                elsewhere.setdefault(owner, set()).add(identifier(name))
    for owner in sorted(elsewhere):
        lines += imports(code, elsewhere[owner], f"./{owner}.js")
    return lines
