"""A planned module as a Java class: static methods with their contracts, and bodies that are still to do."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from criticality.languages.base.naming import words
from criticality.languages.java.names import IMPORTED, ident, java_file, kind, module_class, package
from criticality.lattice_plan import FunctionPlan, ModulePlan
from criticality.spec.spec import Spec

#: Java's ``todo!()``.
TODO = 'throw new UnsupportedOperationException("not implemented");'
#: What bodies may use besides the language itself: computing only.
BODIES_MAY = (
    "java.math.MathContext", "java.math.RoundingMode", "java.time.Instant", "java.time.LocalDate",
    "java.util.UUID", "java.util.ArrayList", "java.util.Arrays",
    "java.util.Collections", "java.util.Comparator", "java.util.HashMap", "java.util.HashSet",
    "java.util.LinkedHashMap", "java.util.LinkedHashSet", "java.util.Locale", "java.util.Objects",
    "java.util.TreeMap", "java.util.TreeSet", "java.util.ArrayDeque", "java.util.Deque",
    "java.util.function.Function", "java.util.stream.Collectors", "java.util.stream.IntStream",
    "java.util.stream.LongStream", "java.util.stream.Stream",
)  # fmt: skip


def signature(function: FunctionPlan) -> str:
    """Return the header: ``public static boolean isEven(long n)``."""
    parameters = ", ".join(f"{kind(p.type)} {ident(p.name)}" for p in function.parameters)
    return f"public static {kind(function.result)} {ident(function.name)}({parameters})"


def clauses(function: FunctionPlan) -> list[str]:
    """Return the contract, with parameters as Java has them."""
    names = {p.name: ident(p.name) for p in function.parameters}
    return [words(line, names) for line in function.contract.lines]


def documentation(function: FunctionPlan, contract: bool) -> str:
    """Return the comment: what the function does, and where a prompt shows it, its clauses below."""
    lines = [" ".join(function.doc.split())]
    if contract:
        lines += ["", "<pre>{@code", *(line.replace("*/", "* /") for line in clauses(function)), "}</pre>"]
    lines += [f"@throws {error} as the contract says" for error in sorted(function.errors)]
    return "/**\n" + "\n".join(f" * {line}".rstrip() for line in lines) + "\n */"


def shown(function: FunctionPlan, body: str, *, contract: bool = False) -> str:
    """Return the function as it stands in its class, without the class's indentation, or with its contract."""
    return f"{documentation(function, contract)}\n{signature(function)} {{\n{_indented(body)}\n}}"


def _indented(body: str) -> str:
    return textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")


def module_source(spec: Spec, plan: ModulePlan, bodies: Mapping[str, tuple[str, str]]) -> str:
    """Return the file of a module; a function without a body says that it is still to do.

    Args:
        bodies: by function name, the body and what was declared before the function.
    """
    name, parts = module_class(plan.name), list[str]()
    for function in plan.functions:
        body, before = bodies.get(function.name, (TODO, ""))
        lead = f"{before.strip()}\n\n" if before.strip() else ""
        parts.append(textwrap.indent(f"{lead}{shown(function, body)}", "    "))
    purpose = " ".join(plan.purpose.replace("*/", "* /").split())
    code = (
        f"/** {purpose} */\npublic final class {name} {{\n    private {name}() {{}}\n\n"
        + "\n\n".join(parts)
        + "\n}\n"
    )
    return java_file(package(spec), code, imports(spec))


def imports(spec: Spec) -> list[str]:
    """Return what a file of the system may import."""
    domain = [f"{package(spec)}.domain.{name}" for name in (*spec.named_types(), "Tuple2", "Tuple3", "Tuple4")]
    # A type of the system hides one of the library.
    library = [path for path in BODIES_MAY if path.rpartition(".")[2] not in spec.named_types()]
    return [*IMPORTED, *library, *domain]
