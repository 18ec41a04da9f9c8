"""Rust behind the interface that all target languages share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from criticality.language import Language, Plan, Tree
from criticality.languages.base.adapter import GrammarLanguage
from criticality.languages.base.data import read_text, vocabulary
from criticality.languages.base.naming import capital, scalar_files
from criticality.languages.base.pages import Named
from criticality.languages.rust.expressions import RustRenderer, quoted
from criticality.languages.rust.names import (
    SCALAR_MODULES,
    borrowed,
    has_float,
    ident,
    is_copied,
    is_lent,
    owned,
    parameter,
    usable,
)
from criticality.languages.rust.toolchain import RustToolchain
from criticality.lattice_plan import FunctionPlan, ModulePlan, called_elsewhere
from criticality.pages import Filter
from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef
from criticality.spec.values import in_order

_WORDS = vocabulary("criticality.languages.rust")


class Rust(GrammarLanguage):
    """Rust 2024 and clippy; a newtype has a private field and a constructor that checks: level ``distinction``.

    A record whose fields or invariants say something is made by its constructor alone, too.
    """

    name, title = "rust", "Rust"
    place = "src/{module}.rs"
    audits = (("cargo-audit", "audit"),)
    importable = frozenset(_WORDS["importable"])
    types_taken = frozenset(_WORDS["types_taken"])
    usable = staticmethod(usable)
    ignored = "/target\n"
    tools, renderer, constructing = RustToolchain, RustRenderer, RustRenderer

    def filters(self) -> dict[str, Filter]:
        return {
            "ident": ident, "member": capital, "quoted": quoted, "owned": owned, "derives": _derives,
            "borrowed": lambda kind, spec: borrowed(spec, kind), "copied": lambda kind, spec: is_copied(spec, kind),
            "comment": lambda line: f"/// {line}".rstrip(), "result": _result,
            "lent": is_lent, "parameter": parameter,
        }  # fmt: skip

    def domain(self, spec: Spec) -> Tree:
        parts = [self.type_source(spec, name) for name in in_order(spec) if name not in spec.errors]
        parts += [self.type_source(spec, name) for name in list(spec.errors)[:1]]
        if any("Err(Invalid(" in part for part in parts):
            parts.append(read_text(self.tools.language, "templates", "invalid.rs"))
        types, own = "\n".join(parts), scalar_files(spec, SCALAR_MODULES)
        own += ["values"] if "values::" in types else []
        return {
            "src/domain.rs": self.page("domain", spec=spec, own=own, types=types),
            "Cargo.toml": self.project_files(spec)["Cargo.toml"],
            **{f"src/{name}.rs": self.support(f"{name}.rs") for name in own},
        }

    def sources(self, spec: Spec, plan: Plan, bodies: Mapping[str, Any]) -> Tree:
        tree = super().sources(spec, plan, bodies)
        listed = "".join(f"pub mod {name};\n" for name in sorted(_sources(tree)))
        return tree | {"src/lib.rs": f"//! {' '.join(spec.system.description.split())}\n\n{listed}"}

    def module(self, spec: Spec, module: ModulePlan, plan: Plan, functions: list[str]) -> Tree:
        source = self.page("module", module=module, functions=functions, uses=_uses(module, plan))
        return {self.module_path(spec, module.name): f"{source}\n"}

    def program(self, spec: Spec, plan: Plan) -> Tree:
        modules = [*_sources(self.domain(spec)), *(module.name for module in plan)]
        ours = ["serving", "wire", *(["moments"] if "scalars" in modules else [])]
        types = [self.named(spec, name) for name in [*spec.enums, *spec.newtypes, *spec.data_models]]
        main = self.page("serve", plan=plan, modules=sorted([*modules, *ours]), types=types)
        files = self.serving("src")
        return {**{f"src/{name}.rs": files[f"src/{name}.rs"] for name in ours}, "src/main.rs": f"{main}\n"}

    def tests(self, spec: Spec, plan: Plan, tests: Mapping[str, str]) -> Tree:
        files: Tree = {}
        for name, text in tests.items():
            known = sorted([*_sources(self.domain(spec)), name])
            files[f"tests/{name}.rs"] = self.page("tests", package=spec.package, known=known, text=text) + "\n"
        return files

    def type_definitions(self, spec: Spec, function: FunctionPlan) -> str:
        names = [name for name in self.spoken_of(spec, function) if name not in spec.errors]
        names += list(spec.errors if function.errors else ())[:1]
        return "\n".join(self.type_source(spec, name) for name in names).rstrip()

    def imported(self, module: ModulePlan) -> str:
        return ", ".join(["std::collections::{BTreeMap, BTreeSet}", *(f"std::{name}" for name in module.imports)])


def _sources(tree: Tree) -> list[str]:
    return [path[4:-3] for path in tree if path.startswith("src/")]


def _derives(type_: Named, spec: Spec) -> str:
    kind = TypeRef(type_.name)
    copied = ["Copy"] if is_copied(spec, kind) else []
    order = ["PartialEq", "PartialOrd"] if has_float(spec, kind) else ["PartialEq", "Eq", "PartialOrd", "Ord", "Hash"]
    return f"#[derive({', '.join(['Debug', 'Clone', *copied, *order])})]"


def _result(function: FunctionPlan) -> str:
    result = f"Result<{owned(function.result)}, Error>" if function.errors else owned(function.result)
    return "" if result == "()" else f" -> {result}"


def _uses(module: ModulePlan, plan: Plan) -> list[str]:
    """Return what bodies may use: domain, collections, planned callees elsewhere, what the plan imports."""
    lines = {
        f"crate::{owner}::{{{', '.join(sorted(names))}}}" for owner, names in called_elsewhere(module, plan).items()
    }
    lines |= {f"std::{name}" for name in module.imports}
    return ["crate::domain::*", *sorted(lines), "std::collections::{BTreeMap, BTreeSet}"]


adapter: Callable[[], Language] = Rust
