"""TypeScript behind the interface that all target languages share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter

from criticality.language import Language, Plan, Tree
from criticality.languages.base.adapter import GrammarLanguage
from criticality.languages.base.data import read_text, vocabulary
from criticality.languages.base.expressions import Scope, condition
from criticality.languages.base.expressions.nodes import Variable, walk
from criticality.languages.base.expressions.rendering import Renderer
from criticality.languages.base.forms import forms
from criticality.languages.base.naming import camel, type_names
from criticality.languages.base.pages import Check
from criticality.languages.base.witnesses import conditions
from criticality.languages.typescript.expressions import TypeScriptRenderer, quoted
from criticality.languages.typescript.names import annotation, identifier, imports, in_words, require_comparable, result
from criticality.languages.typescript.toolchain import TypeScriptToolchain
from criticality.lattice_plan import FunctionPlan, ModulePlan, called_elsewhere
from criticality.pages import Filter, sentence
from criticality.spec.predicates import PredicateFault, parse_predicate
from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef, parse_type
from criticality.spec.values import every_type, fields_of, reached, root, signature_types
from llm_runtime.rewording import reworded

_PACKAGE = "criticality.languages.typescript"
_FORMS: dict[str, str] = vocabulary(_PACKAGE)["wire"]


class TypeScript(GrammarLanguage):
    """tsc strict; newtypes and records are branded types, level ``distinction``."""

    name, title = "typescript", "TypeScript"
    place = "src/{module}.ts"
    project_name = attrgetter("system.name")
    audits = (("npm", "audit", "--package-lock-only"),)
    ignored = "/node_modules\n/out\n"
    tools, renderer, constructing = TypeScriptToolchain, TypeScriptRenderer, TypeScriptRenderer
    between = "\n\n\n"
    function = parameter = staticmethod(identifier)
    usable = staticmethod(str.isidentifier)

    def require(self, spec: Spec) -> None:
        for kind in [*every_type(spec), *signature_types(spec)]:
            require_comparable(spec, kind)

    def filters(self) -> dict[str, Filter]:
        return {
            "identifier": identifier, "annotation": annotation, "quoted": quoted, "returned": result, "form": form,
            "unpacked": _unpacked, "said": _said, "below": lambda name, spec: parse_type(spec.newtypes[name].base),
            "members": lambda members: ", ".join(f"{member}: {quoted(member)}" for member in members),
        }  # fmt: skip

    def held(self, renderer: Renderer, field: str) -> str:
        return f"fields.{camel(field)}"

    def checks(self, spec: Spec, name: str) -> Iterator[Check]:
        if name not in spec.newtypes:
            yield from super().checks(spec, name)
            return
        # What a newtype is made from checks itself.
        below = parse_type(spec.newtypes[name].base)
        if below.name == "Int":
            yield Check("Number.isSafeInteger(value)", "must be a whole number")
        for code, words in conditions(forms(_PACKAGE), spec.newtypes[name].constraints, "value", root(spec, below)):
            yield Check(code, words)

    def domain(self, spec: Spec) -> Tree:
        with reworded("an invariant of a record", PredicateFault):
            body = "\n".join(self.type_source(spec, name) for name in _in_order(spec))
        source = self.page("domain", spec=spec, body=body, decimals="Decimal" in type_names(spec))
        return {"src/domain.ts": source, "src/by-value.ts": self.support("by-value.ts")}

    def module(self, spec: Spec, module: ModulePlan, plan: Plan, functions: list[str]) -> Tree:
        text = "\n\n".join(functions) + "\n"
        source = self.page("module", module=module, imports=_imports(spec, module, plan, text), text=text)
        return {self.module_path(spec, module.name): source}

    def program(self, spec: Spec, plan: Plan) -> Tree:
        types = [self.named(spec, name) for name in [*spec.enums, *spec.newtypes, *spec.data_models]]
        return {**self.serving("src"), "src/serve.ts": f"{self.page('serve', plan=plan, types=types, spec=spec)}\n"}

    def tests(self, spec: Spec, plan: Plan, tests: Mapping[str, str]) -> Tree:
        functions = {module.name: [identifier(f.name) for f in module.functions] for module in plan}
        files: Tree = {}
        for name, text in tests.items():
            used = imports(text, functions[name], f"../src/{name}.js")
            used += imports(text, [*spec.named_types(), "Decimal"], "../src/domain.js")
            files[f"tests/{name}.test.ts"] = self.page("tests", imports=used, text=text)
        return files | ({"tests/build.mjs": read_text(_PACKAGE, "build.mjs")} if files else {})

    def clauses(self, function: FunctionPlan) -> list[str]:
        return [in_words(line) for line in function.contract.lines]

    def type_definitions(self, spec: Spec, function: FunctionPlan) -> str:
        mentioned = {name for p in function.contract.predicates for name in (*p.names, *p.raised)}
        named = (name for kind in function.kinds for name in kind.names())
        wanted = reached(spec, [*function.errors, *mentioned, *named])
        return self.between.join(self.type_source(spec, name).rstrip() for name in _in_order(spec) if name in wanted)

    def imported(self, module: ModulePlan) -> str:
        return "none"


def _in_order(spec: Spec) -> list[str]:
    return [*spec.enums, *spec.errors, *spec.newtypes, *spec.data_models]


def _said(checks: Sequence[Check], name: str) -> list[str]:
    return [
        f"{name}.{check.field} {check.words}" if check.field else f"{name}: {sentence(in_words(check.words))}"
        for check in checks
    ]


def _unpacked(name: str, spec: Spec) -> list[str]:
    """Return the fields of a record that its invariants speak of, as variables."""
    kinds = dict(fields_of(spec, name))
    read = [
        condition(parse_predicate(text, known=kinds).code, Scope(spec, kinds))
        for text in spec.data_models[name].invariants
    ]
    names = dict.fromkeys(node.name for one in read for node in walk(one) if isinstance(node, Variable))
    return [camel(one) if identifier(one) == camel(one) else f"{camel(one)}: {identifier(one)}" for one in names]


def form(kind: TypeRef) -> str:
    """Return how a type stands on the wire; named types are looked up when used, since they may need each other."""
    args = [form(arg) for arg in kind.args]
    if kind.name == "Result":
        return args[0]
    if args:
        return f"wire.{kind.name.lower()}({', '.join(args)})"
    return f"wire.{_FORMS[kind.name]}" if kind.name in _FORMS else kind.name


def _imports(spec: Spec, module: ModulePlan, plan: Plan, text: str) -> list[str]:
    """Return import lines for the types of the domain and the planned callees elsewhere that the text uses."""
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    lines = imports(code, [*spec.named_types(), "Decimal"], "./domain.js")
    lines += imports(code, ["$traced", "$variant"], "./serving.js")
    for owner, names in sorted(called_elsewhere(module, plan).items()):
        lines += imports(code, map(identifier, names), f"./{owner}.js")
    return lines


adapter: Callable[[], Language] = TypeScript
