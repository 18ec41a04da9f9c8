"""Java behind the interface that all target languages share."""

from __future__ import annotations

from collections.abc import Mapping

from criticality.artifacts import Body
from criticality.language import Language, Plan, Tree
from criticality.languages.base.adapter import GrammarLanguage, written
from criticality.languages.java import domain, names, server, skeleton
from criticality.languages.java.claim_tests import claim_test_file
from criticality.languages.java.contract_tests import contract_test_file
from criticality.languages.java.generators import generators_source
from criticality.languages.java.grammar import JAVA
from criticality.languages.java.toolchain import JavaToolchain
from criticality.lattice_plan import FunctionPlan, ModulePlan
from criticality.spec.claims import StructuredClaim
from criticality.spec.literals import Literals
from criticality.spec.predicates import PredicateFault
from criticality.spec.spec import Spec
from criticality.testing import TestFile
from llm_runtime.errors import ConfigurationError


class Java(GrammarLanguage):
    """Java 17, JUnit 5 and jqwik; witnesses are checked when a value is made."""

    name = "java"
    title = "Java"
    undone = "not implemented"
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

    def test_support(self, spec: Spec, literals: Literals) -> Tree:
        package = names.package(spec)
        base = f"src/test/java/{package}"
        harness = self.support("Harness.java").replace("package values;", f"package {package};", 1)
        return {
            f"{base}/Values.java": domain.values_source(package),
            f"{base}/Harness.java": harness.replace("static values.Values", f"static {package}.Values", 1),
            f"{base}/Generators.java": generators_source(spec, literals),
        }

    def contract_test(self, spec: Spec, plan: Plan, module: ModulePlan, function: FunctionPlan) -> TestFile:
        return contract_test_file(spec, plan, module, function)

    def claim_test(
        self, spec: Spec, plan: Plan, claim: StructuredClaim, text: str, *, cluster: str = ""
    ) -> TestFile:
        return claim_test_file(spec, plan, claim, text, cluster=cluster)

    def project_name(self, spec: Spec) -> str:
        return names.package(spec)

    def signature(self, function: FunctionPlan) -> str:
        return skeleton.signature(function)

    def clauses(self, function: FunctionPlan) -> list[str]:
        return skeleton.clauses(function)

    def shown(self, function: FunctionPlan, body: str) -> str:
        return skeleton.shown(function, body)

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
