"""TypeScript behind the interface that all target languages share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from criticality.artifacts import Body
from criticality.language import Language, Plan, Tree
from criticality.languages.base.adapter import GrammarLanguage, written
from criticality.languages.typescript import domain, server, skeleton
from criticality.languages.typescript.cases import case_files
from criticality.languages.typescript.grammar import TYPESCRIPT
from criticality.languages.typescript.names import identifier
from criticality.languages.typescript.toolchain import TypeScriptToolchain
from criticality.lattice_plan import FunctionPlan, ModulePlan
from criticality.spec.spec import Spec
from llm_runtime.errors import ConfigurationError


class TypeScript(GrammarLanguage):
    """tsc strict; witnesses are branded types, level ``distinction``."""

    name = "typescript"
    audits = (("npm", "audit", "--package-lock-only"),)
    title = "TypeScript"
    importable = frozenset[str]()
    todo = skeleton.TODO
    ignored = "/node_modules\n/out\n"
    table = TYPESCRIPT
    tools = TypeScriptToolchain

    def function(self, name: str) -> str:
        return identifier(name)

    def parameter(self, name: str) -> str:
        return identifier(name)

    def usable(self, name: str) -> bool:
        return name.isidentifier()

    def spec_fault(self, spec: Spec) -> str:
        try:
            domain.domain_source(spec)
        except ConfigurationError as fault:
            return str(fault)
        return ""

    def sources(self, spec: Spec, plan: Plan, bodies: Mapping[str, Body]) -> Tree:
        tree = {"src/domain.ts": domain.domain_source(spec), "src/by-value.ts": self.support("by-value.ts")}
        for module in plan:
            tree[self.module_path(spec, module.name)] = skeleton.module_source(
                spec, module, plan, written(module, bodies)
            )
        return tree

    def module_path(self, spec: Spec, module: str) -> str:
        return f"src/{module}.ts"

    def forward(self, spec: Spec, name: str, function: FunctionPlan, held: list[FunctionPlan]) -> str:
        return server.forward(name, function, held)

    def program(self, spec: Spec, plan: Plan) -> Tree:
        return server.program(spec, plan)

    def case_files(self, spec: Spec, plan: Plan, cases: Mapping[str, list[list[Any]]]) -> Tree:
        return case_files(spec, plan, cases)

    def project_name(self, spec: Spec) -> str:
        return spec.system.name

    def signature(self, function: FunctionPlan) -> str:
        return skeleton.signature(function)

    def clauses(self, function: FunctionPlan) -> list[str]:
        return skeleton.clauses(function)

    def shown(self, function: FunctionPlan, body: str) -> str:
        return skeleton.shown(function, body, contract=True).rstrip("\n")

    def type_definitions(self, spec: Spec, function: FunctionPlan) -> str:
        kinds = [*(p.type for p in function.parameters), function.result]
        mentioned = {name for p in function.contract.predicates for name in (*p.names, *p.raised)}
        needed = domain.types_needed(spec, kinds, [*function.errors, *mentioned])
        return "\n\n\n".join(domain.type_source(spec, name).rstrip() for name in needed)

    def imported(self, module: ModulePlan) -> str:
        return "none"


def adapter() -> Language:
    """TypeScript."""
    return TypeScript()
