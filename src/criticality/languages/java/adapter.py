"""Java behind the interface that all target languages share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from criticality.artifacts import Body
from criticality.language import Language, Plan, Tree
from criticality.languages.base.adapter import GrammarLanguage, written
from criticality.languages.java import domain, names, server, skeleton
from criticality.languages.java.cases import case_files
from criticality.languages.java.grammar import JAVA
from criticality.languages.java.toolchain import JavaToolchain
from criticality.lattice_plan import FunctionPlan, ModulePlan
from criticality.spec.predicates import PredicateFault
from criticality.spec.spec import Spec
from llm_runtime.errors import ConfigurationError


class Java(GrammarLanguage):
    """Java 17; witnesses are checked when a value is made."""

    name = "java"
    audits = (("dependency-check", "--scan", "."),)
    title = "Java"
    importable: frozenset[str] = frozenset()
    todo = skeleton.TODO
    table = JAVA
    tools = JavaToolchain

    def function(self, name: str) -> str:
        return names.ident(name)

    def parameter(self, name: str) -> str:
        return names.ident(name)

    def usable(self, name: str) -> bool:
        return names.usable(name)

    def spec_fault(self, spec: Spec) -> str:
        try:
            names.require(spec)
            domain.domain_files(spec)
        except (ConfigurationError, PredicateFault) as fault:
            return str(fault)
        return ""

    def sources(self, spec: Spec, plan: Plan, bodies: Mapping[str, Body]) -> Tree:
        modules = {
            self.module_path(spec, module.name): skeleton.module_source(spec, module, written(module, bodies))
            for module in plan
        }
        return domain.domain_files(spec) | modules

    def module_path(self, spec: Spec, module: str) -> str:
        return f"src/main/java/{names.package(spec)}/{names.module_class(module)}.java"

    def forward(self, spec: Spec, name: str, function: FunctionPlan, held: list[FunctionPlan]) -> str:
        return server.forward(name, function, held)

    def program(self, spec: Spec, plan: Plan) -> Tree:
        return server.program(spec, plan)

    def case_files(self, spec: Spec, plan: Plan, cases: Mapping[str, list[list[Any]]]) -> Tree:
        return case_files(spec, plan, cases)

    def project_name(self, spec: Spec) -> str:
        return names.package(spec)

    def signature(self, function: FunctionPlan) -> str:
        return skeleton.signature(function)

    def clauses(self, function: FunctionPlan) -> list[str]:
        return skeleton.clauses(function)

    def shown(self, function: FunctionPlan, body: str) -> str:
        return skeleton.shown(function, body, contract=True)

    def type_definitions(self, spec: Spec, function: FunctionPlan) -> str:
        kinds = [*(p.type for p in function.parameters), function.result]
        mentioned = {name for p in function.contract.predicates for name in (*p.names, *p.raised)}
        extra = {name for name in spec.named_types() if name in function.errors or name in mentioned}
        return domain.type_definitions(spec, kinds, extra)

    def imported(self, module: ModulePlan) -> str:
        known = {path.rpartition(".")[2] for path in (*names.IMPORTED, *skeleton.BODIES_MAY)}
        return ", ".join(sorted(known))

    def leaked_logic(self, source: str) -> list[str]:
        # The constructor that keeps anybody from making a module has nothing to do.
        return [name for name in super().leaked_logic(source) if f"    private {name}() {{}}\n" not in source]


def adapter() -> Language:
    """Java."""
    return Java()
