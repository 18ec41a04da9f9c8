"""C++ behind the interface that all target languages share."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from criticality.language import Language, Plan, Tree
from criticality.languages.base.adapter import GrammarLanguage
from criticality.languages.base.data import fill, vocabulary
from criticality.languages.base.naming import capital, scalar_files
from criticality.languages.cpp.expressions import CppRenderer, quoted
from criticality.languages.cpp.names import SCALAR_HEADERS, ident, owned, parameter, usable
from criticality.languages.cpp.toolchain import CppToolchain
from criticality.lattice_plan import FunctionPlan, ModulePlan, called_elsewhere
from criticality.pages import Filter
from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef
from criticality.spec.values import in_order

_WORDS = vocabulary("criticality.languages.cpp")


class Cpp(GrammarLanguage):
    """C++20; a newtype has a private value and an explicit constructor that checks: level ``distinction``.

    A record whose fields or invariants say something is made by its constructor alone, too.
    """

    name, title = "cpp", "C++"
    place = "src/{module}.cpp"
    audits = (("flawfinder", "--error-level=4", "."),)
    importable = frozenset(_WORDS["importable"])
    types_taken = frozenset(_WORDS["types_taken"])
    usable = staticmethod(usable)
    ignored = "/build\n"
    tools, renderer, constructing = CppToolchain, CppRenderer, CppRenderer
    value, between_cases = "value_", "\n"

    def filters(self) -> dict[str, Filter]:
        return {
            "ident": ident, "member": capital, "quoted": quoted, "owned": owned, "parameter": parameter,
            "within": _within,
            # A backslash at the end of a comment would take the next line into it.
            "comment": lambda line: f"/// {line}".rstrip(" \\"),
        }  # fmt: skip

    def domain(self, spec: Spec) -> Tree:
        types = "\n".join(self.type_source(spec, name) for name in in_order(spec))
        own = [*scalar_files(spec, SCALAR_HEADERS), *(["values"] if "values::" in types else [])]
        source = self.page("domain", spec=spec, types=types, own=own, standard=_WORDS["domain_includes"])
        files = {f"include/{spec.package}/{name}.hpp": self.support(f"{name}.hpp") for name in own}
        return {f"include/{spec.package}/domain.hpp": f"{source}\n", **files}

    def module(self, spec: Spec, module: ModulePlan, plan: Plan, functions: list[str]) -> Tree:
        package = spec.package
        source = self.page(
            "module", package=package, name=module.name, functions=functions,
            own=[module.name, *sorted(called_elsewhere(module, plan))],
            standard=sorted({*_WORDS["module_includes"], *module.imports}),
        )  # fmt: skip
        header = self.page("header", package=package, module=module)
        place = self.module_path(spec, module.name)
        return {f"include/{package}/{module.name}.hpp": f"{header}\n", place: f"{source}\n"}

    def program(self, spec: Spec, plan: Plan) -> Tree:
        types = [self.named(spec, name) for name in in_order(spec) if name not in spec.errors]
        own = scalar_files(spec, SCALAR_HEADERS)
        main = self.page("serve", package=spec.package, spec=spec, plan=plan, types=types, own=own)
        return {**self.serving("include/serving"), "serve/main.cpp": f"{main}\n"}

    def tests(self, spec: Spec, plan: Plan, tests: Mapping[str, str]) -> Tree:
        place, package = (self.tools.language, "templates", "cases.cpp"), spec.package
        return {
            f"tests/{name}_test.cpp": fill(*place, name=package, module=name, tests=text.rstrip("\n"))
            for name, text in tests.items()
        }

    def type_definitions(self, spec: Spec, function: FunctionPlan) -> str:
        return "\n".join(self.type_source(spec, name) for name in self.spoken_of(spec, function)).rstrip()

    def imported(self, module: ModulePlan) -> str:
        return ", ".join(f"<{name}>" for name in sorted({*_WORDS["module_includes"], *module.imports}))


def _within(kind: TypeRef, spec: Spec) -> str:
    """Return a type with the namespace of those that the specification defines."""
    names = "|".join(spec.named_types())
    return re.sub(rf"(?<!:)\b({names})\b", rf"{spec.package}::\1", owned(kind)) if names else owned(kind)


adapter: Callable[[], Language] = Cpp
