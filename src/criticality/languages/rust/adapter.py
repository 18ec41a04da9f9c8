"""Rust behind the interface that all target languages share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from criticality.artifacts import Body
from criticality.language import Language, Plan, Tree
from criticality.languages.base.adapter import GrammarLanguage, written
from criticality.languages.rust import domain, names, server, skeleton
from criticality.languages.rust.cases import case_files
from criticality.languages.rust.grammar import RUST
from criticality.languages.rust.toolchain import RustToolchain
from criticality.lattice_plan import FunctionPlan, ModulePlan
from criticality.spec.predicates import PredicateFault
from criticality.spec.spec import Spec
from criticality.spec.values import types_needed

#: Parts of the standard library that a planned module may import.
_IMPORTABLE = frozenset({"cmp", "collections", "fmt", "iter", "mem", "num", "ops", "str"})


class Rust(GrammarLanguage):
    """Rust 2024 and clippy; newtypes are witnesses that the compiler tells apart."""

    name = "rust"
    audits = (("cargo-audit", "audit"),)
    title = "Rust"
    importable = _IMPORTABLE
    todo = skeleton.TODO
    ignored = "/target\n"
    table = RUST
    tools = RustToolchain

    def usable(self, name: str) -> bool:
        return names.usable(name)

    def spec_fault(self, spec: Spec) -> str:
        taken = sorted(names.TYPES_TAKEN & set(spec.named_types()))
        if taken:
            return f"the name {taken[0]} means something else in Rust; choose another"
        try:
            domain.domain_source(spec)
        except PredicateFault as fault:
            return str(fault)
        return ""

    def sources(self, spec: Spec, plan: Plan, bodies: Mapping[str, Body]) -> Tree:
        types = domain.domain_source(spec)
        needed = _needed(spec)
        listed = "".join(f"pub mod {name};\n" for name in sorted([*needed, *(module.name for module in plan)]))
        tree = {
            "src/lib.rs": f"//! {' '.join(spec.system.description.split())}\n\n{listed}",
            "src/domain.rs": types,
            "Cargo.toml": self.project_files(spec)["Cargo.toml"],
        }
        tree |= {f"src/{name}.rs": self.support(f"{name}.rs") for name in needed[1:]}
        for module in plan:
            tree[self.module_path(spec, module.name)] = skeleton.module_source(
                module, plan, written(module, bodies)
            )
        return tree

    def module_path(self, spec: Spec, module: str) -> str:
        return f"src/{module}.rs"

    def forward(self, spec: Spec, name: str, function: FunctionPlan, held: list[FunctionPlan]) -> str:
        return server.forward(name, function, held)

    def program(self, spec: Spec, plan: Plan) -> Tree:
        return server.program(spec, plan, [*_needed(spec), *(module.name for module in plan)])

    def case_files(self, spec: Spec, plan: Plan, cases: Mapping[str, list[list[Any]]]) -> Tree:
        return case_files(spec, plan, cases, _needed(spec))

    def signature(self, function: FunctionPlan) -> str:
        return skeleton.signature(function)

    def clauses(self, function: FunctionPlan) -> list[str]:
        return list(function.contract.lines)

    def shown(self, function: FunctionPlan, body: str) -> str:
        return skeleton.shown(function, body, contract=True)

    def type_definitions(self, spec: Spec, function: FunctionPlan) -> str:
        needed = types_needed(spec, [*(p.type for p in function.parameters), function.result])
        mentioned = {name for p in function.contract.predicates for name in p.names}
        extra = [n for n in spec.named_types() if n not in (*needed, *spec.errors) and n in mentioned]
        parts = [domain.type_source(spec, name) for name in [*extra, *needed]]
        parts += [domain.errors_source(spec)] if function.errors else []
        return "\n".join(parts).rstrip()

    def imported(self, module: ModulePlan) -> str:
        return ", ".join(["std::collections::{BTreeMap, BTreeSet}", *(f"std::{name}" for name in module.imports)])


def _needed(spec: Spec) -> list[str]:
    """Return the modules of ours that a project has."""
    values = ["values"] if "values::" in domain.domain_source(spec) else []
    return ["domain", *domain.used_modules(spec), *values]


def adapter() -> Language:
    """Rust."""
    return Rust()
