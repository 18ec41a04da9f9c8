"""C++ behind the interface that all target languages share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from criticality.artifacts import Body
from criticality.language import Language, Plan, Tree
from criticality.languages.base.adapter import GrammarLanguage, written
from criticality.languages.cpp import domain, names, server, skeleton
from criticality.languages.cpp.cases import case_files
from criticality.languages.cpp.grammar import CPP
from criticality.languages.cpp.toolchain import CppToolchain
from criticality.lattice_plan import FunctionPlan, ModulePlan
from criticality.spec.predicates import PredicateFault
from criticality.spec.spec import Spec
from criticality.spec.values import types_needed

#: Standard headers that a planned module may import.
_IMPORTABLE = frozenset(
    {
        "algorithm", "array", "bitset", "cctype", "charconv", "chrono", "cmath", "deque", "format", "functional",
        "iterator", "limits", "list", "map", "memory", "numeric", "optional", "queue", "ranges", "set", "span",
        "sstream", "stack",
        "string", "string_view", "tuple", "unordered_map", "unordered_set", "utility", "variant", "vector",
    }
)  # fmt: skip


class Cpp(GrammarLanguage):
    """C++20; newtypes are witnesses that the compiler tells apart."""

    name = "cpp"
    audits = (("flawfinder", "--error-level=4", "."),)
    title = "C++"
    importable = _IMPORTABLE
    todo = skeleton.TODO
    ignored = "/build\n"
    table = CPP
    tools = CppToolchain

    def usable(self, name: str) -> bool:
        return names.usable(name)

    def spec_fault(self, spec: Spec) -> str:
        taken = sorted(names.TYPES_TAKEN & set(spec.named_types()))
        if taken:
            return f"the name {taken[0]} means something else in C++; choose another"
        try:
            domain.domain_source(spec)
        except PredicateFault as fault:
            return str(fault)
        return ""

    def sources(self, spec: Spec, plan: Plan, bodies: Mapping[str, Body]) -> Tree:
        base, types = f"include/{spec.package}", domain.domain_source(spec)
        tree = {f"{base}/domain.hpp": types}
        needed = [*domain.used_headers(spec), *(["values"] if "values::" in types else [])]
        tree |= {f"{base}/{name}.hpp": self.support(f"{name}.hpp") for name in needed}
        for module in plan:
            tree[f"{base}/{module.name}.hpp"] = skeleton.header_source(spec.package, module)
            tree[self.module_path(spec, module.name)] = skeleton.module_source(
                spec.package, module, plan, written(module, bodies)
            )
        return tree

    def module_path(self, spec: Spec, module: str) -> str:
        return f"src/{module}.cpp"

    def forward(self, spec: Spec, name: str, function: FunctionPlan, held: list[FunctionPlan]) -> str:
        return server.forward(name, function, held)

    def program(self, spec: Spec, plan: Plan) -> Tree:
        return server.program(spec, plan)

    def case_files(self, spec: Spec, plan: Plan, cases: Mapping[str, list[list[Any]]]) -> Tree:
        return case_files(spec, plan, cases)

    def signature(self, function: FunctionPlan) -> str:
        return skeleton.signature(function)

    def clauses(self, function: FunctionPlan) -> list[str]:
        return list(function.contract.lines)

    def shown(self, function: FunctionPlan, body: str) -> str:
        return skeleton.shown(function, body, contract=True)

    def type_definitions(self, spec: Spec, function: FunctionPlan) -> str:
        needed = types_needed(spec, [*(p.type for p in function.parameters), function.result])
        mentioned = {name for p in function.contract.predicates for name in (*p.names, *p.raised)}
        extra = [n for n in spec.named_types() if n not in needed and (n in function.errors or n in mentioned)]
        return "\n".join(domain.type_source(spec, name) for name in [*extra, *needed]).rstrip()

    def imported(self, module: ModulePlan) -> str:
        return ", ".join(f"<{name}>" for name in sorted({*skeleton.STANDARD, *module.imports}))


def adapter() -> Language:
    """C++."""
    return Cpp()
