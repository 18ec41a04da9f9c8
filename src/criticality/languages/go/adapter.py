"""Go behind the interface that all target languages share."""

from __future__ import annotations

from collections.abc import Mapping

from criticality.artifacts import Body
from criticality.language import Language, Plan, Tree
from criticality.languages.base.adapter import GrammarLanguage, written
from criticality.languages.base.naming import pascal
from criticality.languages.go import domain, names, server, skeleton
from criticality.languages.go.claim_tests import claim_test_file
from criticality.languages.go.contract_tests import contract_test_file
from criticality.languages.go.generators import generators_source
from criticality.languages.go.grammar import GO
from criticality.languages.go.toolchain import GoToolchain
from criticality.lattice_plan import FunctionPlan, ModulePlan
from criticality.spec.claims import StructuredClaim
from criticality.spec.literals import Literals
from criticality.spec.predicates import PredicateFault
from criticality.spec.spec import Spec
from criticality.spec.values import every_type, signature_types
from criticality.testing import TestFile
from llm_runtime.errors import ConfigurationError


class Go(GrammarLanguage):
    """Go 1.23, vet, rapid and the race detector; witnesses are checked when a value is made."""

    name = "go"
    title = "Go"
    undone = "not implemented"
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

    def test_support(self, spec: Spec, literals: Literals) -> Tree:
        package = names.package(spec)
        values = domain.values_source(package)
        return {
            "harness_test.go": self.support("harness.go").replace("package values", f"package {package}", 1),
            "values_test.go": values.replace('\t"time"\n', f'\t"time"\n\n\t"{names.module(spec)}/domain"\n', 1),
            "generators_test.go": generators_source(spec, literals),
        }

    def contract_test(self, spec: Spec, plan: Plan, module: ModulePlan, function: FunctionPlan) -> TestFile:
        return contract_test_file(spec, plan, module, function)

    def claim_test(
        self, spec: Spec, plan: Plan, claim: StructuredClaim, text: str, *, cluster: str = ""
    ) -> TestFile:
        return claim_test_file(spec, plan, claim, text, cluster=cluster)

    def project_name(self, spec: Spec) -> str:
        return names.module(spec)

    def signature(self, function: FunctionPlan) -> str:
        return skeleton.signature(None, function)

    def clauses(self, function: FunctionPlan) -> list[str]:
        return skeleton.clauses(function)

    def shown(self, function: FunctionPlan, body: str) -> str:
        return skeleton.shown(None, function, body)

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
