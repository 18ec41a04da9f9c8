"""The program that serves functions where they are: their package is imported read-only, in the sealed process."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from encodings import normalize_encoding
from encodings.aliases import aliases
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from criticality.artifacts import Body
from criticality.judging.served import ServedProgram
from criticality.judging.steps import field_of
from criticality.language import Plan
from criticality.languages.base.adopting import PROBE, import_faults
from criticality.languages.base.data import read_text
from criticality.languages.python.adapter import Python
from criticality.languages.python.adopting.objects import making
from criticality.languages.python.adopting.reading import read_package
from criticality.languages.python.adopting.tests import native_tests
from criticality.languages.python.domain import domain_source
from criticality.languages.python.serving import kind_of, serve
from criticality.lattice_plan import FunctionPlan, ModulePlan, index
from criticality.spec.spec import Spec
from criticality.spec.types import Param
from criticality.spec.values import fields_of
from criticality.standing import AS_IS, PREFIX, Adopter, Candidate, Package, by_keyword

Keywords: TypeAlias = "dict[str, Any]"


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
        program = _program(self.package, spec, plan, variants, self._shims)
        return replace(program, longest=0) if self.candidate.lazy else program

    def _shims(self, spec: Spec, plan: Plan, bodies: Mapping[str, Body]) -> dict[str, str]:
        module, function = index(plan)[self.candidate.id]
        text = f"from {spec.package} import domain\nfrom {spec.package}.shim import adopted, adopted_class\n"
        if body := bodies.get(self.candidate.id):
            own = self._class(spec, plan) if self.candidate.members else self._function(function)
            what = "adopted_class(domain, " if self.candidate.members else "adopted("
            text += f"{function.name} = {what}**{self._call(body) | own!r})\n"
        return {f"{module.name}.py": text}

    def _call(self, body: Body) -> Keywords:
        candidate = self.candidate
        return _where(self.package, candidate.path, candidate.module) | {
            "name": candidate.written or candidate.name,
            "first": PREFIX if candidate.lazy else 10 * PREFIX,
            "changed": with_body(candidate.source, body.text) if body.text else "",
            "needed": _imports(self.package.texts.get(candidate.path, "")),
        }

    def _function(self, function: FunctionPlan) -> Keywords:
        candidate = self.candidate
        return {
            "errors": sorted(function.errors), "params": _sent(function.parameters, candidate),
            "result": kind_of(function.result), "made": making(self.package, candidate)[0],
        }  # fmt: skip

    def _class(self, spec: Spec, plan: Plan) -> Keywords:
        candidate, functions, methods = self.candidate, index(plan), dict[str, list[Any]]()
        whole, (state, _, after) = functions[candidate.id][1], candidate.named.records
        for name in (name for members in candidate.named.enums.values() for name in members):
            method, member = functions[f"{candidate.id}_{name}"][1], candidate.members[name]
            fields = [field_of(f"a{at}", p.type) for at, p in enumerate(method.parameters)]
            kind = kind_of(method.result) if method.result.name != state else None
            taken, into = _sent(method.parameters, member), field_of("result", method.result)
            methods[name] = [member.written, taken, fields, kind, into, making(self.package, member)[0]]
        observers = [[candidate.observers[name], kind_of(of)] for name, of in fields_of(spec, state)]
        return {
            "state": state, "after": after, "errors": sorted(spec.errors), "methods": methods,
            "params": _sent(whole.parameters[:-1], candidate), "observers": observers,
            "made": making(self.package, candidate)[0],
        }  # fmt: skip


def _sent(parameters: Sequence[Param], candidate: Candidate) -> list[list[Any]]:
    """Return name, type and whether it goes by keyword, of each parameter."""
    named = by_keyword([p.name for p in parameters], candidate)
    return [[p.name, kind_of(p.type), p.name in named] for p in parameters]


def _program(
    package: Package, spec: Spec, plan: Plan, variants: Sequence[Mapping[str, Body]],
    shims: Callable[[Spec, Plan, Mapping[str, Body]], dict[str, str]],
) -> ServedProgram:  # fmt: skip
    def sources(spec: Spec, plan: Plan, bodies: Mapping[str, Body]) -> dict[str, str]:
        shim = read_text("criticality.languages.python.adopting", "shim.py")
        # The judge alone says which calls are made; here they only have a form.
        loose = {name: model.model_copy(update={"invariants": []}) for name, model in spec.data_models.items()}
        domain = domain_source(spec.model_copy(update={"data_models": loose}))
        files = {"__init__.py": "", "domain.py": domain, "shim.py": shim}
        return {f"src/{spec.package}/{path}": text for path, text in (files | shims(spec, plan, bodies)).items()}

    program = serve(spec, plan, variants, sources)
    installed = package.root.name in ("site-packages", "dist-packages")
    return replace(program, read_only=(*program.read_only, package.root if installed else package.top))


def _where(package: Package, path: Path, module: str) -> Keywords:
    return {"root": str(package.root), "module": module, "file": str(path)}


def with_body(source: str, body: str) -> str:
    """Return a function's whole text with another body; its documentation is left out."""
    tree = ast.parse(source)
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef | ast.ClassDef)
    function.body = ast.parse(body).body
    return ast.unparse(ast.fix_missing_locations(tree))


def _imports(text: str) -> list[str]:
    """Return the modules that a module's functions import when they are called, and that Python does for them."""
    nodes = list(ast.walk(ast.parse(text)))
    names = ["heapq", *(alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names)]
    names += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level]
    codecs = map(normalize_encoding, re.findall(r"\.(?:en|de)code\(\s*['\"]([\w-]+)", text.lower()))
    return [*dict.fromkeys(names), *(f"encodings.{aliases.get(name, name)}" for name in codecs)]


def _probe(package: Package, candidate: Candidate, spec: Spec, plan: Plan) -> ServedProgram:
    """Return the program that imports a function's module, and tells why that does not go."""
    call = _where(package, candidate.path, candidate.module)
    text = f"from {spec.package}.shim import importing as _importing\nimporting = _importing(**{call!r})\n"

    return _program(package, spec, plan, [{PROBE: AS_IS}], lambda spec, plan, bodies: {"probe.py": text})


def _takes(path: Path) -> bool:
    return path.suffix == ".py" or (path / "__init__.py").is_file()


adopter = Adopter(_takes, read_package, partial(import_faults, probe=_probe), AdoptedPython, native_tests)
