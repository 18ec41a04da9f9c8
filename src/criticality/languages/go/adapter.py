"""Go behind the interface that all target languages share."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from criticality.language import Language, Plan, Tree
from criticality.languages.base.adapter import GrammarLanguage
from criticality.languages.base.data import fill, read_text
from criticality.languages.base.naming import capital, pascal, type_names
from criticality.languages.base.pages import Check, Named
from criticality.languages.base.witnesses import checked
from criticality.languages.go.expressions import GoRenderer, Inside
from criticality.languages.go.names import PACKAGES, ident, kind, package, quoted, usable, with_imports
from criticality.languages.go.toolchain import GoToolchain
from criticality.lattice_plan import FunctionPlan, ModulePlan
from criticality.pages import Filter
from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef
from criticality.spec.values import every_type, signature_types

#: Functions of ``support/values.go``.
_HELPER = re.compile(
    r"\b(pick|same|compare|must|at|part|within|distinct|sortedBy|itself|least|greatest|sum|every|some|each|where|flat)\(|\bitself\b"
)


class Go(GrammarLanguage):
    """Go 1.23 and vet; a newtype is a struct whose constructor returns an error where a constraint does not hold.

    So does that of a record with constraints or invariants, whose fields are read by methods.
    """

    name, title = "go", "Go"
    place = "{module}.go"
    audits = (("govulncheck", "./..."), ("gosec", "-quiet", "./..."))
    tools, renderer, constructing = GoToolchain, GoRenderer, Inside
    besides = ("domain",)
    function, parameter, usable = staticmethod(pascal), staticmethod(ident), staticmethod(usable)
    project_name = staticmethod(package)

    def require(self, spec: Spec) -> None:
        for type_ in [*signature_types(spec), *every_type(spec)]:
            kind(spec, type_)

    def filters(self) -> dict[str, Filter]:
        return {
            "ident": ident, "quoted": quoted, "inner": _inner, "copied": _copied, "fields": _fields, "said": _said,
            "constants": lambda type_: _aligned(
                [(type_.name + capital(one), f"{type_.name} = {quoted(one)}") for one in type_.members]
            ),
            "lowered": lambda text: text[:1].lower() + text[1:],
            "kind": lambda type_: kind(None, type_),
            "results": _results, "named_results": _named_results, "chosen": _chosen,
        }  # fmt: skip

    def domain(self, spec: Spec) -> Tree:
        parts = [self.type_source(spec, name) for name in spec.named_types()]
        if any("ErrInvalid" in part for part in parts):
            parts.insert(0, read_text(self.tools.language, "templates", "invalid.go"))
        code = "\n".join(parts)
        about = f"Package domain has the types of {spec.system.name}, and what must hold of every value of them."
        decimals = "Decimal" in type_names(spec)
        support = {
            "tuples": True, "decimal": decimals or re.search(r"\bDecimal\b", code), "values": _HELPER.search(code),
        }  # fmt: skip
        # The tests name the module's path, so its manifest belongs to what is tested.
        files = {"go.mod": self.project_files(spec)["go.mod"]}
        files["domain/domain.go"] = with_imports(f"// {about}\npackage domain\n", code)
        for name, needed in support.items():
            if needed:
                files[f"domain/{name}.go"] = self.support(f"{name}.go").replace("package values", "package domain", 1)
        return files

    def module(self, spec: Spec, module: ModulePlan, plan: Plan, functions: list[str]) -> Tree:
        head = f"// {' '.join(module.purpose.split())}\n\npackage {package(spec)}\n"
        others = {name: f"{package(spec)}/{name}" for name in ("domain", "serving")}
        return {self.module_path(spec, module.name): with_imports(head, "\n\n".join(functions) + "\n", others=others)}

    def program(self, spec: Spec, plan: Plan) -> Tree:
        decimals = ["domain.NewDecimal"] if "domain/decimal.go" in self.domain(spec) else []
        main = self.page(
            "serve", path=package(spec),
            functions=[f'"{m.name}.{f.name}": lib.{pascal(f.name)}' for m in plan for f in m.functions],
            newtypes=[*(f"domain.New{name}" for name in spec.newtypes), *decimals],
            records=[f"domain.New{name}" for name in spec.data_models if checked(spec, name)],
            errors=[f'"{name}": domain.Err{name}' for name in spec.errors],
        )  # fmt: skip
        return {"serve/main.go": f"{main}\n", **self.serving("serving")}

    def tests(self, spec: Spec, plan: Plan, tests: Mapping[str, str]) -> Tree:
        known = {"domain": f"{package(spec)}/domain", "testing": "testing"}
        head = f"package {package(spec)}\n"
        files = {f"{name}_test.go": with_imports(head, f"{text}\n", others=known) for name, text in tests.items()}
        shared = fill(self.tools.language, "templates", "cases.go", name=package(spec))
        return files | ({"cases_test.go": shared} if files else {})

    def imported(self, module: ModulePlan) -> str:
        return ", ".join(["domain (the types)", *sorted(PACKAGES)])


def _inner(type_: TypeRef) -> str:
    """Return a type as the package ``domain`` writes it."""
    return kind(None, type_, prefix="")


def _said(check: Check) -> str:
    """Return what is said of a field, or which invariant a record keeps."""
    return f"{check.field} {check.words}" if check.field else f"keeps {check.words}"


def _copied(value: str, base: TypeRef) -> str:
    """Return a value that nobody else can change."""
    package = {"List": "slices", "Bytes": "slices", "Set": "maps", "Map": "maps"}.get(base.name)
    return f"{package}.Clone({value})" if package else value


def _fields(type_: Named, exported: bool) -> list[str]:
    return _aligned([((pascal if exported else ident)(name), _inner(of)) for name, of in type_.fields])


def _aligned(pairs: list[tuple[str, str]]) -> list[str]:
    """Return lines of a group, in columns as gofmt has them."""
    width = max(len(first) for first, _ in pairs)
    return [f"{first.ljust(width)} {second}" for first, second in pairs]


def _results(function: FunctionPlan) -> str:
    unit = function.result.name == "Unit"
    if function.errors:
        return " error" if unit else f" ({kind(None, function.result)}, error)"
    return "" if unit else f" {kind(None, function.result)}"


def _named_results(function: FunctionPlan) -> list[tuple[str, str]]:
    results = [] if function.result.name == "Unit" else [("made_0", kind(None, function.result))]
    return [*results, *([("fault_0", "error")] if function.errors else [])]


def _chosen(held: list[FunctionPlan], signature: str) -> str:
    """Return the body that is called: of several, that of the variant that is served."""
    bodies = ", ".join(pascal(one.name) for one in held)
    header = re.sub(r"\Afunc \w+\(", "func(", signature)
    return bodies if len(held) == 1 else f"[]{header}{{{bodies}}}[serving.Variant]"


adapter: Callable[[], Language] = Go
