"""What a language with a grammar of its own does by that grammar alone: everything that is done to bodies."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from criticality.artifacts import Body
from criticality.audits import scanners
from criticality.bodies import Finding
from criticality.catalog import DetectedSmell, Example
from criticality.judging.served import ServedProgram
from criticality.language import Fact, Plan, Toolchain, Tree
from criticality.languages.base.data import examples, fill, read_text
from criticality.languages.base.grammar.grammar import Grammar
from criticality.languages.base.grammar.table import Table
from criticality.languages.base.serving import forwarding
from criticality.languages.base.toolchain.compiled import CompiledToolchain
from criticality.lattice_plan import FunctionPlan, ModulePlan
from criticality.spec.spec import Spec
from criticality.testing import Limits


class GrammarLanguage:
    """The part of :class:`~criticality.language.Language` that languages on tree-sitter share.

    A language names itself and what is still to do, and says how it writes the names of functions and of parameters
    where that is not how the plan does.
    """

    name: str
    #: The statement of a body that is still to do.
    todo: str
    table: Table
    tools: type[CompiledToolchain]
    #: What bodies may call besides what was planned.
    besides: tuple[str, ...] = ()
    #: What version control leaves out of a delivered project.
    ignored: str = ""
    audits: tuple[tuple[str, ...], ...] = ()

    def sources(self, spec: Spec, plan: Plan, bodies: Mapping[str, Body]) -> Tree:
        """Return types and modules; none where a language reads bodies and builds nothing."""
        return {}

    def function(self, name: str) -> str:
        """Return a function's name as the language has it."""
        return name

    def parameter(self, name: str) -> str:
        """Return a parameter's name as the language has it."""
        return name

    def forward(self, spec: Spec, name: str, function: FunctionPlan, held: list[FunctionPlan]) -> str:
        """Return the statements of a served function: it calls one of those that hold its bodies."""
        return ""

    def program(self, spec: Spec, plan: Plan) -> Tree:
        """Return what a served program consists of besides the project's sources."""
        return {}

    def serve(self, spec: Spec, plan: Plan, variants: Sequence[Mapping[str, Body]]) -> ServedProgram:
        served, bodies = forwarding(plan, variants, lambda name, f, held: self.forward(spec, name, f, held))
        sources = self.sources(spec, served, bodies)
        return self.tools.served(sources | self.program(spec, plan), len(variants))

    def case_files(self, spec: Spec, plan: Plan, cases: Mapping[str, list[list[Any]]]) -> Tree:
        return {}

    def project_name(self, spec: Spec) -> str:
        """Return the name that the manifests of a delivered project give it."""
        return spec.package

    def project_files(self, spec: Spec) -> Tree:
        readme = fill(
            self.tools.language, "templates", "README.md",
            name=spec.system.name, description=spec.system.description,
        )  # fmt: skip
        files = self.tools.project(self.project_name(spec), spec.system.description) | {"README.md": readme}
        return files | ({".gitignore": self.ignored} if self.ignored else {})

    @property
    def examples(self) -> Mapping[str, Example]:
        return examples(self.tools.language)

    @property
    def grammar(self) -> Grammar:
        """The source operations, by names as they stand in sources."""
        return Grammar(self.table)

    @property
    def rules(self) -> str:
        return read_text(self.tools.language, "rules.md").strip()

    def support(self, name: str) -> str:
        """Return a file that the tests stand on."""
        return read_text(self.tools.language, "support", name)

    def read_body(self, answer: str, function: str) -> str:
        return self.grammar.read_body(answer, self.function(function))

    def splice(self, source: str, function: str, body: str) -> str:
        return self.grammar.splice(source, self.function(function), body)

    def body_of(self, source: str, function: str) -> str:
        return self.grammar.body_of(source, self.function(function))

    def inspect_body(
        self, body: str, function: FunctionPlan, *, module: str, siblings: Collection[str]
    ) -> list[Finding]:
        planned = {self.function(name.rpartition(".")[2]) for name in (function.name, *function.calls)}
        return self.grammar.inspect(
            body,
            name=self.function(function.name),
            parameters=self._parameters(function),
            callable=planned.union(self.besides),
            siblings={self.function(name) for name in siblings},
            purity=function.contract.purity or "pure",
        )

    def leaked_logic(self, source: str) -> list[str]:
        return self.grammar.leaked(source, self.todo)

    def security_findings(self, body: str, function: FunctionPlan) -> list[Finding]:
        return self.grammar.security(body, self._parameters(function))

    def scanner(self) -> str | None:
        return self.grammar.scanner

    def mutants(self, body: str) -> list[str]:
        return self.grammar.mutants(body)

    def declaration_fault(self, text: str) -> str:
        return self.grammar.declaration_fault(text)

    async def smells(
        self, plan: Plan, modules: Mapping[str, str]
    ) -> tuple[list[DetectedSmell], dict[str, dict[str, int]]]:
        planned = {f"{m.name}.{self.function(f.name)}": f"{m.name}.{f.name}" for m in plan for f in m.functions}
        smells, measured = self.grammar.smells(modules)
        own = [replace(smell, function=planned[smell.function]) for smell in smells if smell.function in planned]
        return own, {planned[name]: figures for name, figures in measured.items() if name in planned}

    def toolchain(self, *, parallel: int, limits: Limits) -> Toolchain:
        return self.tools(limits)

    def facts(self) -> list[Fact]:
        return [*self.tools.facts(), *scanners(self.audits)]

    def _parameters(self, function: FunctionPlan) -> set[str]:
        return {self.parameter(param.name) for param in function.parameters}


def written(module: ModulePlan, bodies: Mapping[str, Body]) -> dict[str, tuple[str, str]]:
    """Return the bodies that there are of a module, each with what it declares, by function name."""
    return {
        f.name: (body.text, body.declarations)
        for f in module.functions
        if (body := bodies.get(f"{module.name}.{f.name}")) is not None
    }
