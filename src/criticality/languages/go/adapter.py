"""Go behind the interface that all target languages share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from criticality.artifacts import Body
from criticality.language import Language, Plan, Tree
from criticality.languages.base.adapter import GrammarLanguage, written
from criticality.languages.base.naming import pascal
from criticality.languages.go import domain, names, server, skeleton
from criticality.languages.go.cases import case_files
from criticality.languages.go.grammar import GO
from criticality.languages.go.toolchain import GoToolchain
from criticality.lattice_plan import FunctionPlan, ModulePlan
from criticality.spec.predicates import PredicateFault
from criticality.spec.spec import Spec
from criticality.spec.values import every_type, signature_types
from llm_runtime.errors import ConfigurationError


class Go(GrammarLanguage):
    """Go 1.23 and vet; witnesses are checked when a value is made."""

    name = "go"
    audits = (("govulncheck", "./..."), ("gosec", "-quiet", "./..."))
    title = "Go"
    importable: frozenset[str] = frozenset()
    todo = skeleton.TODO
    table = GO
    tools = GoToolchain
    besides = ("domain",)

    def function(self, name: str) -> str:
        return pascal(name)

    def parameter(self, name: str) -> str:
        return names.ident(name)

    def usable(self, name: str) -> bool:
        return names.usable(name)

    def spec_fault(self, spec: Spec) -> str:
        try:
            for type_ in [*signature_types(spec), *every_type(spec)]:
                names.kind(spec, type_)
            domain.domain_files(spec)
        except (ConfigurationError, PredicateFault) as fault:
            return str(fault)
        return ""

    def sources(self, spec: Spec, plan: Plan, bodies: Mapping[str, Body]) -> Tree:
        # The tests name the module's path, so its manifest belongs to what is tested.
        manifest = {"go.mod": self.project_files(spec)["go.mod"]}
        modules = {
            self.module_path(spec, module.name): skeleton.module_source(spec, module, written(module, bodies))
            for module in plan
        }
        return manifest | domain.domain_files(spec) | modules

    def module_path(self, spec: Spec, module: str) -> str:
        return f"{module}.go"

    def forward(self, spec: Spec, name: str, function: FunctionPlan, held: list[FunctionPlan]) -> str:
        return server.forward(spec, name, function, held)

    def program(self, spec: Spec, plan: Plan) -> Tree:
        return server.program(spec, plan)

    def case_files(self, spec: Spec, plan: Plan, cases: Mapping[str, list[list[Any]]]) -> Tree:
        return case_files(spec, plan, cases)

    def project_name(self, spec: Spec) -> str:
        return names.module(spec)

    def signature(self, function: FunctionPlan) -> str:
        return skeleton.signature(None, function)

    def clauses(self, function: FunctionPlan) -> list[str]:
        return skeleton.clauses(function)

    def shown(self, function: FunctionPlan, body: str) -> str:
        return skeleton.shown(None, function, body, contract=True)

    def type_definitions(self, spec: Spec, function: FunctionPlan) -> str:
        kinds = [*(p.type for p in function.parameters), function.result]
        mentioned = {name for p in function.contract.predicates for name in (*p.names, *p.raised)}
        extra = {name for name in spec.named_types() if name in function.errors or name in mentioned}
        return domain.type_definitions(spec, kinds, extra)

    def imported(self, module: ModulePlan) -> str:
        return ", ".join(["domain (the types)", *sorted(names.PACKAGES)])


def adapter() -> Language:
    """Go."""
    return Go()
