"""The program that serves functions where they are: their package is imported read-only, in the sealed process."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from criticality.artifacts import Body
from criticality.judging.served import ServedProgram
from criticality.language import Plan
from criticality.languages.base.adopting import PROBE, import_faults
from criticality.languages.base.data import read_text
from criticality.languages.python.adapter import Python
from criticality.languages.python.adopting.reading import read_package
from criticality.languages.python.adopting.tests import native_tests
from criticality.languages.python.domain import domain_source
from criticality.languages.python.serving import kind_of, serve
from criticality.lattice_plan import FunctionPlan, ModulePlan, index
from criticality.spec.spec import Spec
from criticality.standing import AS_IS, PREFIX, Adopter, Candidate, Package, by_keyword


@dataclass(frozen=True)
class AdoptedPython(Python):
    """Python with one function that stands in a package already: nothing is written, it is called where it is."""

    package: Package
    candidate: Candidate

    def signature(self, function: FunctionPlan) -> str:
        """Return the function's own header."""
        node = ast.parse(self.candidate.source).body[0]
        assert isinstance(node, ast.FunctionDef)
        result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
        return f"def {node.name}({ast.unparse(node.args)}){result}:"

    def imported(self, module: ModulePlan) -> str:
        """Return what the function's module has imported."""
        tree = ast.parse(self.package.texts[self.candidate.path])
        lines = [ast.unparse(node) for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        return "; ".join(line for line in lines if "__future__" not in line) or "(none)"

    def serve(self, spec: Spec, plan: Plan, variants: Sequence[Mapping[str, Body]]) -> ServedProgram:
        """Return the program; a body's text stands in the place of the function's own."""
        return _program(self.package, spec, plan, variants, self._shims)

    def _shims(self, spec: Spec, plan: Plan, bodies: Mapping[str, Body]) -> dict[str, str]:
        ((module, function),) = index(plan).values()
        name = f"{module.name}.{function.name}"
        text = f"from {spec.package}.shim import adopted\n"
        if name in bodies:
            text += f"{function.name} = adopted(**{self._call(function, bodies[name])!r})\n"
        return {f"{module.name}.py": text}

    def _call(self, function: FunctionPlan, body: Body) -> dict[str, Any]:
        candidate = self.candidate
        return _where(self.package, candidate.path, candidate.module) | {
            "name": function.name,
            "params": [
                [p.name, kind_of(p.type), p.name in by_keyword(function, candidate)] for p in function.parameters
            ],
            "result": kind_of(function.result),
            "errors": sorted(function.errors),
            "first": PREFIX,
            "changed": with_body(candidate.source, body.text) if body.text else "",
            "needed": _imports(self.package.texts.get(candidate.path, "")),
        }


def _program(
    package: Package,
    spec: Spec,
    plan: Plan,
    variants: Sequence[Mapping[str, Body]],
    shims: Callable[[Spec, Plan, Mapping[str, Body]], dict[str, str]],
) -> ServedProgram:
    def sources(spec: Spec, plan: Plan, bodies: Mapping[str, Body]) -> dict[str, str]:
        shim = read_text("criticality.languages.python.adopting", "shim.py")
        files = {"__init__.py": "", "domain.py": domain_source(spec), "shim.py": shim}
        return {f"src/{spec.package}/{path}": text for path, text in (files | shims(spec, plan, bodies)).items()}

    program = serve(spec, plan, variants, sources)
    installed = package.root.name in ("site-packages", "dist-packages")
    return replace(program, read_only=(*program.read_only, package.root if installed else package.top))


def _where(package: Package, path: Path, module: str) -> dict[str, str]:
    return {"root": str(package.root), "module": module, "file": str(path)}


def with_body(source: str, body: str) -> str:
    """Return a function's whole text with another body; its documentation is left out."""
    tree = ast.parse(source)
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    function.body = ast.parse(body).body
    return ast.unparse(ast.fix_missing_locations(tree))


def _imports(text: str) -> list[str]:
    """Return the modules that a module's functions import when they are called."""
    names: dict[str, None] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {alias.name: None for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names[node.module] = None
    return list(names)


def _probe(package: Package, candidate: Candidate, spec: Spec, plan: Plan) -> ServedProgram:
    """Return the program that imports a function's module, and tells why that does not go."""
    call = _where(package, candidate.path, candidate.module)
    text = f"from {spec.package}.shim import importing as _importing\nimporting = _importing(**{call!r})\n"

    def probe(spec: Spec, plan: Plan, bodies: Mapping[str, Body]) -> dict[str, str]:
        return {"probe.py": text}

    return _program(package, spec, plan, [{PROBE: AS_IS}], probe)


def _takes(path: Path) -> bool:
    return path.suffix == ".py" or (path / "__init__.py").is_file()


adopter = Adopter(_takes, read_package, partial(import_faults, probe=_probe), AdoptedPython, native_tests)
