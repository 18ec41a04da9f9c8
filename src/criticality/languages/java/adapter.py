"""Java behind the interface that all target languages share."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping

from criticality.language import Language, Plan, Tree
from criticality.languages.base.adapter import GrammarLanguage
from criticality.languages.base.data import vocabulary
from criticality.languages.base.naming import pascal
from criticality.languages.base.pages import Check
from criticality.languages.java import names
from criticality.languages.java.expressions import JavaRenderer
from criticality.languages.java.names import IMPORTED, ident, java_file, kind, package, quoted
from criticality.languages.java.toolchain import JavaToolchain
from criticality.lattice_plan import FunctionPlan, ModulePlan
from criticality.pages import Filter
from criticality.spec.spec import Spec

_LISTED = {"List": "List", "Bytes": "List", "Set": "Set", "Map": "Map"}
#: Functions of ``support/Values.java``.
_HELPER = re.compile(
    r"(?<![\w.])(same|compare|at|part|within|distinct|sortedBy|least|greatest|sum\w*|every|some|each|where)\("
)
_TUPLES = ("Tuple2", "Tuple3", "Tuple4")
#: What bodies may use besides the language itself: computing only.
_BODIES_MAY: list[str] = vocabulary("criticality.languages.java")["bodies_may"]


class Java(GrammarLanguage):
    """Java 17; newtypes and records are records that refuse to be made where a constraint is broken."""

    name, title = "java", "Java"
    audits = (("dependency-check", "--scan", "."),)
    tools, renderer, constructing = JavaToolchain, JavaRenderer, JavaRenderer
    function = parameter = staticmethod(ident)
    usable, project_name = staticmethod(names.usable), staticmethod(package)

    def require(self, spec: Spec) -> None:
        names.require(spec)

    def filters(self) -> dict[str, Filter]:
        return {
            "ident": ident, "quoted": quoted, "kind": kind, "said": _said, "calls": _calls,
            "comment": lambda line: f" * {line}".rstrip(),
            "copies": lambda fields: [(ident(f), _LISTED[t.name]) for f, t in fields if t.name in _LISTED],
            "items": lambda letters: ", ".join(f"{one} item{place}" for place, one in enumerate(letters, 1)),
        }  # fmt: skip

    def domain(self, spec: Spec) -> Tree:
        base, name = f"src/main/java/{package(spec)}/domain", f"{package(spec)}.domain"
        parts = {type_: self.type_source(spec, type_) for type_ in spec.named_types()}
        parts |= {tuple_: self.page("tuple", letters="ABCD"[: int(tuple_[-1])]) + "\n" for tuple_ in _TUPLES}
        files: Tree = {}
        for type_, source in parts.items():
            static = [f"static {name}.Values.*"] if _HELPER.search(source) else []
            files[f"{base}/{type_}.java"] = java_file(name, source, [*IMPORTED, *static])
        if any(_HELPER.search(source) for source in parts.values()):
            text = self.support("Values.java")
            files[f"{base}/Values.java"] = text.replace("package values;", f"package {name};", 1)
        return files

    def module_path(self, spec: Spec, module: str) -> str:
        return f"src/main/java/{package(spec)}/{pascal(module)}.java"

    def module(self, spec: Spec, module: ModulePlan, plan: Plan, functions: list[str]) -> Tree:
        inner = [textwrap.indent(function, "    ") for function in functions]
        source = self.page("module", name=pascal(module.name), module=module, functions=inner)
        # A type of the system hides one of the library.
        library = [path for path in _BODIES_MAY if path.rpartition(".")[2] not in spec.named_types()]
        known = [*IMPORTED, *library, *_types(spec)]
        return {self.module_path(spec, module.name): java_file(package(spec), f"{source}\n", known)}

    def program(self, spec: Spec, plan: Plan) -> Tree:
        base = package(spec)
        functions = [
            f'Map.entry("{m.name}.{f.name}", Serving.method({base}.{pascal(m.name)}.class, "{ident(f.name)}"))'
            for m in plan
            for f in m.functions
        ]
        newtypes = [f"{base}.domain.{name}.class" for name in spec.newtypes]
        main = self.page("serve", functions=functions, newtypes=newtypes)
        folder = "src/main/java/serving"
        return {**self.serving(folder), f"{folder}/Main.java": f"{main}\n"}

    def tests(self, spec: Spec, plan: Plan, tests: Mapping[str, str]) -> Tree:
        base, asserts = package(spec), "static org.junit.jupiter.api.Assertions"
        known = [*IMPORTED, "org.junit.jupiter.api.Test", *_types(spec)]
        files: Tree = {}
        for name, text in tests.items():
            used = [f"{asserts}.{word}" for word in ("assertEquals", "assertThrows") if f"{word}(" in text]
            code = f"final class {pascal(name)}Test {{\n{text}\n}}\n"
            files[f"src/test/java/{base}/{pascal(name)}Test.java"] = java_file(base, code, [*known, *used])
        return files

    def imported(self, module: ModulePlan) -> str:
        return ", ".join(sorted({path.rpartition(".")[2] for path in (*IMPORTED, *_BODIES_MAY)}))

    def leaked_logic(self, source: str) -> list[str]:
        # The constructor that keeps anybody from making a module has nothing to do.
        return [name for name in super().leaked_logic(source) if f"    private {name}() {{}}\n" not in source]


def _types(spec: Spec) -> list[str]:
    return [f"{package(spec)}.domain.{name}" for name in (*spec.named_types(), *_TUPLES)]


def _said(check: Check) -> str:
    """Return what is said of a field or a newtype, or which invariant a record keeps."""
    return f"{check.field} {check.words}".strip() if check.field or check.constraint else f"keeps {check.words}"


def _calls(held: list[FunctionPlan], names: list[str]) -> str:
    """Return the call of the body: of several, of that of the variant that is served."""
    *bodies, last = [f"{ident(one.name)}({', '.join(names)})" for one in held]
    cases = " ".join(f"case {number} -> {body};" for number, body in enumerate(bodies))
    return f"switch (serving.Serving.variant) {{ {cases} default -> {last}; }}" if bodies else last


adapter: Callable[[], Language] = Java
