"""Python behind the interface that all target languages share."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from operator import attrgetter
from typing import Any

from criticality.artifacts import Body
from criticality.audits import scanners
from criticality.bodies import BodyUnreadable, Finding
from criticality.judging.served import ServedProgram
from criticality.language import Fact, Language, Plan, Tree
from criticality.languages.base.adapter import GrammarLanguage
from criticality.languages.base.toolchain.isolation import isolator
from criticality.languages.python import cases as case_tables
from criticality.languages.python import domain, inspection, names, scans, serving, skeleton
from criticality.languages.python.toolchain import PythonToolchain
from criticality.lattice_plan import FunctionPlan, ModulePlan
from criticality.pages import Filter
from criticality.spec.spec import Spec
from llm_runtime.errors import ConfigurationError
from llm_runtime.installing import how_to_install, version_of

_PARTS = {"mypy": True, "msgpack": True, "pytest": False}


class Python(GrammarLanguage):
    """Python 3.11, mypy strict, pytest and hypothesis; witnesses are checked when a value is made.

    Python's own parser reads each body besides: the grammar takes more, and knows no two writings of one name.
    """

    name, title = "python", "Python"
    place = "src/{package}/{module}.py"
    project_name = attrgetter("system.name")
    importable = names.IMPORTABLE
    audits = (("pip-audit", "--progress-spinner", "off", "."),)
    ignored = "__pycache__/\n.*_cache/\n.venv/\n"
    tools = PythonToolchain
    between, apart = "\n\n", "\n\n\n"
    usable = staticmethod(names.usable)

    def filters(self) -> dict[str, Filter]:
        return {"annotation": names.annotation, "safe": skeleton.safe}

    def require(self, spec: Spec) -> None:
        # A package of such a name is imported in the place of Python's own, or cannot be imported at all.
        if spec.package in {*sys.stdlib_module_names, *_PARTS} or not names.usable(spec.package):
            raise ConfigurationError(f"the name {spec.system.name} means something else in Python; choose another")
        super().require(spec)

    def domain(self, spec: Spec) -> Tree:
        return {f"src/{spec.package}/domain.py": domain.domain_source(spec)}

    def sources(self, spec: Spec, plan: Plan, bodies: Mapping[str, Body]) -> Tree:
        package = self.page("package", spec=spec, **skeleton.shown(spec, plan)) + "\n"
        own = {f"src/{spec.package}/__init__.py": package, f"src/{spec.package}/py.typed": ""}
        return own | super().sources(spec, plan, bodies)

    def module(self, spec: Spec, module: ModulePlan, plan: Plan, functions: list[str]) -> Tree:
        code = "\n\n\n".join(functions) + "\n"
        imports = skeleton.used(code, skeleton.module_imports(spec, module, plan), spec.package)
        return {self.module_path(spec, module.name): self.page("module", module=module, imports=imports, code=code)}

    def serve(self, spec: Spec, plan: Plan, variants: Sequence[Mapping[str, Body]]) -> ServedProgram:
        return serving.serve(spec, plan, variants, self.sources)

    def case_files(self, spec: Spec, plan: Plan, cases: Mapping[str, list[list[Any]]]) -> Tree:
        tree, example = case_tables.case_files(spec, plan, cases)
        return tree | {"README.md": self.readme(spec, example)} if example else tree

    def type_source(self, spec: Spec, name: str) -> str:
        return domain.type_source(spec, name).rstrip()

    def type_definitions(self, spec: Spec, function: FunctionPlan) -> str:
        return self.between.join(self.type_source(spec, name) for name in self.spoken_of(spec, function))

    def imported(self, module: ModulePlan) -> str:
        return ", ".join(["dataclasses.replace", *module.imports])

    def splice(self, source: str, function: str, body: str) -> str:
        inspection.read_body(body)
        return super().splice(source, function, body)

    def inspect_body(
        self, body: str, function: FunctionPlan, *, module: str, siblings: Collection[str]
    ) -> list[Finding]:
        tree, text = inspection.read_body(body)
        own = inspection.reaching(tree, self._parameters(function))
        return list(dict.fromkeys([*own, *super().inspect_body(text, function, module=module, siblings=siblings)]))

    def security_findings(self, body: str, function: FunctionPlan) -> list[Finding]:
        return scans.security_findings(body, function)

    def scanner(self) -> str | None:
        return scans.scanner()

    def declaration_fault(self, text: str) -> str:
        try:
            found = [finding.what for finding in inspection.reaching(inspection.read(text)[0])]
        except BodyUnreadable:
            return "the declarations do not parse"
        return super().declaration_fault(text) or next(iter(found), "")

    def facts(self) -> list[Fact]:
        install = how_to_install("code")
        return [
            Fact("python", platform.python_version(), "install Python 3.11 or later"),
            *(Fact(name, version_of(name), install, needed) for name, needed in _PARTS.items()),
            Fact("crosshair-tool", version_of("crosshair-tool"), how_to_install("crosshair"), needed=False),
            *scanners(self.audits), Fact("bandit", version_of("bandit"), install, needed=False), isolator(),
        ]  # fmt: skip


adapter: Callable[[], Language] = Python
