"""Python behind the interface that all target languages share."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from criticality.artifacts import Body
from criticality.audits import scanners
from criticality.bodies import Finding
from criticality.catalog import DetectedSmell, Example
from criticality.judging.served import ServedProgram
from criticality.language import Fact, Language, Plan, Tree
from criticality.languages.base.data import examples, read_text
from criticality.languages.base.toolchain.isolation import isolator
from criticality.languages.python import cases as case_tables
from criticality.languages.python import (
    domain,
    inspection,
    names,
    project,
    scans,
    serving,
    skeleton,
)
from criticality.languages.python import mutants as mutations
from criticality.languages.python import smells as smelling
from criticality.languages.python import splice as splicing
from criticality.languages.python.toolchain import Toolchain
from criticality.lattice_plan import FunctionPlan, ModulePlan
from criticality.spec.spec import Spec
from criticality.spec.values import types_needed
from criticality.testing import Limits
from llm_runtime.installing import how_to_install

_PARTS = {"mypy": True, "libcst": True, "msgpack": True, "pytest": False, "ruff": False, "radon": False}
_PACKAGE = "criticality.languages.python"


class Python:
    """Python 3.11, mypy strict, pytest and hypothesis; witnesses are checked when a value is made."""

    name = "python"
    title = "Python"
    importable = names.IMPORTABLE
    audits = (("pip-audit", "--progress-spinner", "off", "."),)

    @property
    def examples(self) -> Mapping[str, Example]:
        return examples(_PACKAGE)

    @property
    def rules(self) -> str:
        return read_text(_PACKAGE, "rules.md").strip()

    def usable(self, name: str) -> bool:
        return names.usable(name)

    def spec_fault(self, spec: Spec) -> str:
        return ""

    def sources(self, spec: Spec, plan: Plan, bodies: Mapping[str, Body]) -> Tree:
        base = f"src/{spec.package}"
        tree = {
            f"{base}/__init__.py": skeleton.package_source(spec, plan),
            f"{base}/py.typed": "",
            f"{base}/domain.py": domain.domain_source(spec),
        }
        for module in plan:
            tree[self.module_path(spec, module.name)] = skeleton.module_source(spec, module, plan, bodies)
        return tree

    def module_path(self, spec: Spec, module: str) -> str:
        return f"src/{spec.package}/{module}.py"

    def serve(self, spec: Spec, plan: Plan, variants: Sequence[Mapping[str, Body]]) -> ServedProgram:
        return serving.serve(spec, plan, variants, self.sources)

    def case_files(self, spec: Spec, plan: Plan, cases: Mapping[str, list[list[Any]]]) -> Tree:
        return case_tables.case_files(spec, plan, cases)

    def project_files(self, spec: Spec) -> Tree:
        return project.project_files(spec)

    def signature(self, function: FunctionPlan) -> str:
        return skeleton.signature(function)

    def clauses(self, function: FunctionPlan) -> list[str]:
        return list(function.contract.lines)

    def shown(self, function: FunctionPlan, body: str) -> str:
        parts = skeleton.signature(function), skeleton.documented(function), skeleton.body_source(body)
        return "\n".join(parts).rstrip("\n")

    def type_definitions(self, spec: Spec, function: FunctionPlan) -> str:
        kinds = [*(p.type for p in function.parameters), function.result]
        needed = types_needed(spec, kinds)
        mentioned = {name for p in function.contract.predicates for name in (*p.names, *p.raised)}
        extra = [n for n in spec.named_types() if n not in needed and (n in function.errors or n in mentioned)]
        return "\n\n".join(domain.type_source(spec, name).rstrip() for name in [*extra, *needed])

    def imported(self, module: ModulePlan) -> str:
        return ", ".join(["dataclasses.replace", *module.imports])

    def read_body(self, answer: str, function: str) -> str:
        return splicing.read_body(answer, function)

    def splice(self, source: str, function: str, body: str) -> str:
        return splicing.splice(source, function, body)

    def body_of(self, source: str, function: str) -> str:
        return splicing.body_of(source, function)

    def inspect_body(
        self, body: str, function: FunctionPlan, *, module: str, siblings: Collection[str]
    ) -> list[Finding]:
        return inspection.inspect_body(body, function, module=module, siblings=siblings)

    def leaked_logic(self, source: str) -> list[str]:
        return inspection.leaked_logic(source)

    def security_findings(self, body: str, function: FunctionPlan) -> list[Finding]:
        return scans.security_findings(body, function)

    def scanner(self) -> str | None:
        return scans.scanner()

    def mutants(self, body: str) -> list[str]:
        return mutations.mutants(body)

    def declaration_fault(self, text: str) -> str:
        return inspection.declaration_fault(text)

    async def smells(
        self, plan: Plan, modules: Mapping[str, str]
    ) -> tuple[list[DetectedSmell], dict[str, dict[str, int]]]:
        return await smelling.detect(modules)

    def toolchain(self, *, parallel: int, limits: Limits) -> Toolchain:
        return Toolchain(limits=limits)

    def facts(self) -> list[Fact]:
        facts = [Fact("python", platform.python_version(), "install Python 3.11 or later")]
        install = how_to_install("code")
        facts += [Fact(name, _version(name), install, needed) for name, needed in _PARTS.items()]
        facts += scanners(self.audits)
        facts.append(Fact("bandit", _version("bandit"), install, needed=False))
        return [*facts, isolator()]


def adapter() -> Language:
    """Python."""
    return Python()


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
