"""What a language with a grammar of its own does by its tables and templates alone; the rest it says itself."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

from criticality.artifacts import Body
from criticality.audits import scanners
from criticality.bodies import Finding
from criticality.catalog import DetectedSmell, Example
from criticality.judging.served import ServedProgram
from criticality.language import Fact, Plan, Toolchain, Tree
from criticality.languages.base.brackets import bare, negated
from criticality.languages.base.cases import CaseRow, by_module
from criticality.languages.base.data import examples, fill, read_text, texts
from criticality.languages.base.expressions import Scope, condition
from criticality.languages.base.expressions.rendering import Renderer
from criticality.languages.base.forms import Written, forms
from criticality.languages.base.grammar import declared, inspection, mutants, splicing
from criticality.languages.base.grammar.smells import detect
from criticality.languages.base.grammar.table import Table
from criticality.languages.base.naming import words
from criticality.languages.base.pages import Check, Named, page
from criticality.languages.base.serving import forwarding
from criticality.languages.base.toolchain.compiled import CompiledToolchain
from criticality.languages.base.witnesses import checked, conditions
from criticality.lattice_plan import FunctionPlan, ModulePlan
from criticality.pages import Filter
from criticality.spec.predicates import PredicateFault, parse_predicate
from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef
from criticality.spec.values import constraints_of, fields_of, reached, root, types_needed
from llm_runtime.errors import ConfigurationError


class GrammarLanguage:
    """The part of :class:`~criticality.language.Language` that languages on tree-sitter share.

    A language names itself, says how it writes names and types and which files there are; the rest is templates:
    ``type``, ``signature``, ``function``, ``forward`` and ``case`` for one of each, others for files.
    """

    name: str
    title: str
    tools: type[CompiledToolchain]
    #: What writes expressions, and what writes those of constructors.
    renderer: type[Renderer]
    constructing: type[Renderer]
    #: Standard modules that a planned module may import.
    importable: frozenset[str] = frozenset()
    #: What bodies may call besides what was planned.
    besides: tuple[str, ...] = ()
    #: The file of a module's functions.
    place: str
    #: What version control leaves out of a delivered project.
    ignored: str = ""
    audits: tuple[tuple[str, ...], ...] = ()
    #: How the value of a newtype is called in its constructor.
    value = "value"
    #: What stands between types where a prompt shows them.
    between = "\n"
    #: What stands between a function and what a transformation put before it.
    apart = "\n\n"
    #: What stands between tests.
    between_cases = "\n\n"
    #: Whether a neutral name can be a function's, a module's or a parameter's.
    usable: Callable[[str], bool]
    #: What a function and a parameter are called in the language.
    function: Callable[[str], str] = staticmethod(str)
    parameter: Callable[[str], str] = staticmethod(str)
    #: The name that the manifests of a delivered project give it.
    project_name: Callable[[Spec], str] = attrgetter("package")
    #: Names of types that code would take for something else.
    types_taken: frozenset[str] = frozenset()

    def filters(self) -> dict[str, Filter]:
        """Return what templates write names, types and texts with."""
        return {}

    def domain(self, spec: Spec) -> Tree:
        """Return the files of the types of a specification, and what they stand on."""
        return {}

    def module_path(self, spec: Spec, module: str) -> str:
        """Tell where a module's functions stand."""
        return self.place.format(module=module, package=spec.package)

    def module(self, spec: Spec, module: ModulePlan, plan: Plan, functions: list[str]) -> Tree:
        """Return the files of a module with these functions."""
        return {}

    def program(self, spec: Spec, plan: Plan) -> Tree:
        """Return what a served program consists of besides the project's sources."""
        return {}

    def tests(self, spec: Spec, plan: Plan, tests: Mapping[str, str]) -> Tree:
        """Return the files of tests by module, and what they stand on."""
        return {}

    def held(self, renderer: Renderer, field: str) -> str:
        """Return a field of a record as its constructor has it."""
        return renderer.ident(field)

    def page(self, template: str, **values: Any) -> str:
        """Return one of the language's templates, filled."""
        return page(self.tools.language, f"{template}.jinja", self.filters(), values)

    def require(self, spec: Spec) -> None:
        """Refuse what the language cannot carry.

        Raises:
            ConfigurationError: a type has a name that is taken, or no form.
        """
        taken = sorted(self.types_taken & set(spec.named_types()))
        if taken:
            raise ConfigurationError(f"the name {taken[0]} means something else in {self.title}; choose another")

    def spec_fault(self, spec: Spec) -> str:
        try:
            self.require(spec)
            self.domain(spec)
        except (ConfigurationError, PredicateFault) as fault:
            return str(fault)
        return ""

    def named(self, spec: Spec, name: str) -> Named:
        """Return a named type as templates read it."""
        sort, model, new = spec.named_types()[name], spec.data_models.get(name), spec.newtypes.get(name)
        base = root(spec, TypeRef(name)) if new else TypeRef(name)
        doc = spec.errors.get(name, "") or (new.description if new else model.description if model else "") or name
        return Named(
            name, sort, doc, tuple(spec.enums.get(name, ())), base, tuple(fields_of(spec, name) if model else ()),
            tuple(self.checks(spec, name)), checked(spec, name),
        )  # fmt: skip

    def checks(self, spec: Spec, name: str) -> Iterator[Check]:
        """Yield what a constructor of a newtype or a record checks."""
        known, renderer = forms(self.tools.language), self.constructing(spec)
        if name in spec.newtypes:
            for code, words in conditions(known, constraints_of(spec, name), self.value, root(spec, TypeRef(name))):
                yield Check(code, words)
        if name not in spec.data_models:
            return
        model, kinds = spec.data_models[name], dict(fields_of(spec, name))
        for field in model.fields:
            kind, subject = kinds[field.name], Written(self.held(renderer, field.name))
            if kind.name in spec.newtypes:
                subject = renderer.fill(root(spec, kind), ("unwrap",), subject)
            for code, words in conditions(known, field.constraints, str(subject), root(spec, kind)):
                yield Check(code, words, field.name)
        for text in model.invariants:
            code = renderer.render(condition(parse_predicate(text, known=kinds).code, Scope(spec, kinds)))
            yield Check(bare(negated(code)) if "check.breaks" in known else code, text, constraint=False)

    def type_source(self, spec: Spec, name: str) -> str:
        """Return the definition of one named type."""
        return self.page("type", type=self.named(spec, name), spec=spec)

    def sources(self, spec: Spec, plan: Plan, bodies: Mapping[str, Body]) -> Tree:
        tree = self.domain(spec)
        for module in plan:
            functions: list[str] = []
            for function in module.functions:
                body = bodies.get(f"{module.name}.{function.name}")
                lead = f"{body.declarations.strip()}{self.apart}" if body and body.declarations.strip() else ""
                functions.append(
                    lead + self._shown(function, body.text if body else self.table.todo, None, spec.errors)
                )
            tree |= self.module(spec, module, plan, functions)
        return tree

    def _shown(self, function: FunctionPlan, body: str, clauses: list[str] | None, errors: Mapping[str, str]) -> str:
        inner = textwrap.indent(textwrap.dedent(body).strip("\n"), self.table.indent)
        return self.page(
            "function",
            function=function, signature=self.signature(function), body=inner, clauses=clauses, errors=errors,
        )  # fmt: skip

    def shown(self, function: FunctionPlan, body: str) -> str:
        return self._shown(function, body, self.clauses(function), {})

    def signature(self, function: FunctionPlan) -> str:
        return self.page("signature", function=function)

    def clauses(self, function: FunctionPlan) -> list[str]:
        names = {param.name: self.parameter(param.name) for param in function.parameters}
        return [words(line, names) for line in function.contract.lines]

    def spoken_of(self, spec: Spec, function: FunctionPlan) -> list[str]:
        """Return the named types of a contract alone, then those of the signature with all they are made of."""
        needed = types_needed(spec, function.kinds)
        mentioned = {name for p in function.contract.predicates for name in (*p.names, *p.raised)}
        extra = [n for n in spec.named_types() if n not in needed and (n in function.errors or n in mentioned)]
        return [*extra, *needed]

    def type_definitions(self, spec: Spec, function: FunctionPlan) -> str:
        # An error that a contract speaks of is shown, too.
        mentioned = {name for p in function.contract.predicates for name in (*p.names, *p.raised)}
        extra = {name for name in spec.named_types() if name in function.errors or name in mentioned}
        wanted = reached(spec, (name for kind in function.kinds for name in kind.names()), extra)
        return self.between.join(self.type_source(spec, name) for name in spec.named_types() if name in wanted)

    def serve(self, spec: Spec, plan: Plan, variants: Sequence[Mapping[str, Body]]) -> ServedProgram:
        def forward(name: str, function: FunctionPlan, held: list[FunctionPlan]) -> str:
            return self.page(
                "forward", id=name, function=function, held=held, signature=self.signature(function), spec=spec
            )

        served, bodies = forwarding(plan, variants, forward)
        return self.tools.served(self.sources(spec, served, bodies) | self.program(spec, plan))

    def serving(self, folder: str) -> Tree:
        """Return the part of a served program that is the same for all, below a folder."""
        return {f"{folder}/{path}": text for path, text in texts(self.tools.language, "serving").items()}

    def case_files(self, spec: Spec, plan: Plan, cases: Mapping[str, list[list[Any]]]) -> Tree:
        renderer = self.rendering(spec)

        def test(module: str, function: FunctionPlan, held: list[CaseRow]) -> str:
            rows, unit = [self.case(function, row) for row in held], function.result.name == "Unit"
            values = {"module": module, "function": function, "rows": rows, "unit": unit}
            filters = {**self.filters(), "render": renderer.render}
            return page(self.tools.language, "case.jinja", filters, values).rstrip("\n")

        return self.tests(spec, plan, by_module(spec, plan, cases, test, self.between_cases))

    def case(self, function: FunctionPlan, row: CaseRow) -> CaseRow:
        """Return a call with the types that its values are written by."""
        return row

    def rendering(self, spec: Spec) -> Renderer:
        """Return what writes the values of a person's tests."""
        return self.renderer(spec)

    def readme(self, spec: Spec, example: str = "") -> str:
        """Return the page that a delivered project begins with.

        Args:
            example: calls with their results, where the language shows some.
        """
        return fill(
            self.tools.language, "templates", "README.md",
            name=spec.system.name, description=spec.system.description, example=example and f"{example}\n\n",
        )  # fmt: skip

    def project_files(self, spec: Spec) -> Tree:
        files = self.tools.project(self.project_name(spec), spec.system.description)
        files |= {"README.md": self.readme(spec)}
        return files | ({".gitignore": self.ignored} if self.ignored else {})

    @property
    def examples(self) -> Mapping[str, Example]:
        return examples(self.tools.language)

    @property
    def table(self) -> Table:
        """What the language's grammar is made of; source operations take names as they stand in sources."""
        return self.tools.table()

    @property
    def rules(self) -> str:
        return read_text(self.tools.language, "rules.md").strip()

    def support(self, name: str) -> str:
        """Return a file that the tests stand on."""
        return read_text(self.tools.language, "support", name)

    def read_body(self, answer: str, function: str) -> str:
        return splicing.read_body(self.table, answer, self.function(function))

    def splice(self, source: str, function: str, body: str) -> str:
        return splicing.splice(self.table, source, self.function(function), body)

    def body_of(self, source: str, function: str) -> str:
        return splicing.body_of(self.table, source, self.function(function))

    def inspect_body(
        self, body: str, function: FunctionPlan, *, module: str, siblings: Collection[str]
    ) -> list[Finding]:
        planned = {self.function(name.rpartition(".")[2]) for name in (function.name, *function.calls)}
        place = inspection.BodyPlace(
            self.function(function.name), self._parameters(function), planned.union(self.besides),
            {self.function(name) for name in siblings}, function.contract.purity or "pure",
        )  # fmt: skip
        return inspection.inspect(self.table, body, place)

    def leaked_logic(self, source: str) -> list[str]:
        return inspection.leaked(self.table, source)

    def security_findings(self, body: str, function: FunctionPlan) -> list[Finding]:
        return inspection.security(self.table, body, self._parameters(function))

    def scanner(self) -> str | None:
        return f"criticality's own rules for {self.table.name}"

    def mutants(self, body: str) -> list[str]:
        return mutants.mutants(self.table, body)

    def declaration_fault(self, text: str) -> str:
        return declared.declaration_fault(self.table, text)

    async def smells(
        self, plan: Plan, modules: Mapping[str, str]
    ) -> tuple[list[DetectedSmell], dict[str, dict[str, int]]]:
        planned = {f"{m.name}.{self.function(f.name)}": f"{m.name}.{f.name}" for m in plan for f in m.functions}
        smells, measured = detect(self.table, modules)
        own = [replace(smell, function=planned[smell.function]) for smell in smells if smell.function in planned]
        return own, {planned[name]: figures for name, figures in measured.items() if name in planned}

    def toolchain(self) -> Toolchain:
        return self.tools()

    def facts(self) -> list[Fact]:
        return [*self.tools.facts(), *scanners(self.audits)]

    def _parameters(self, function: FunctionPlan) -> set[str]:
        return {self.parameter(param.name) for param in function.parameters}
