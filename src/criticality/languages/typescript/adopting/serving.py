"""The program that serves functions of a package as they are: its sources are copied, loaded and called."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle
from pathlib import Path

from criticality.artifacts import Body
from criticality.judging.served import ServedProgram
from criticality.language import Plan, Tree
from criticality.languages.base.adopting import PROBE, import_faults
from criticality.languages.base.cases import CaseRow
from criticality.languages.base.data import fill, read_text
from criticality.languages.base.expressions.nodes import Constant, Expression, Make, Member, Operation
from criticality.languages.base.expressions.rendering import Renderer
from criticality.languages.base.forms import Written
from criticality.languages.typescript.adapter import TypeScript, form
from criticality.languages.typescript.adopting.reading import is_typescript, read_package
from criticality.languages.typescript.expressions import TypeScriptRenderer
from criticality.languages.typescript.names import identifier
from criticality.lattice_plan import FunctionPlan, index
from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef
from criticality.standing import Adopted, Adopter, Candidate, NamedTypes, Package

_HERE = "criticality.languages.typescript.adopting"
_WORD = re.compile(r"\w+")
#: What an Option of null and a Map that is an object are in the source.
_OWN = frozenset({"Nullable", "Keyed"})


class _Literals(TypeScriptRenderer):
    """Writes values of records and enums as the package has them: objects, and literals."""

    def __init__(self, spec: Spec, named: NamedTypes) -> None:
        super().__init__(spec)
        self._named = named

    def kind(self, type_: TypeRef) -> str:
        return super().kind(type_) if (self.spec.named_types().keys() | _OWN).isdisjoint(type_.names()) else "any"

    def write(self, node: Expression) -> Written:
        match node:
            case Member():
                return Written(self._named.literals[node.type.name][node.name])
            case Make():
                return self._made(node)
            case Constant(type=TypeRef(name="Nullable"), value=None):
                return Written("null")
            case Operation(type=TypeRef(name="Keyed"), operands=parts):
                texts = [*map(self.render, parts)]
                return _object(zip(texts[::2], texts[1::2], strict=True))
            case _:
                return super().write(node)

    def _made(self, node: Make) -> Written:
        keys = self._named.keys[node.type.name]
        given = [(keys[name], self.render(value)) for name, value in node.values]
        if "" in keys.values():  # it is its one value
            return Written(given[0][1])
        return _object((key, value) for key, value in given if value != "undefined")


def _object(entries: Iterable[tuple[str, str]]) -> Written:
    # A colon alone behind that one name would set what the object inherits from.
    named = (('["__proto__"]' if key == '"__proto__"' else key, value) for key, value in entries)
    held = ", ".join(f"{key}: {value}" for key, value in named)
    return Written(f"{{ {held} }}" if held else "{}")


def _called(kind: TypeRef, names: Iterator[str]) -> TypeRef:
    """Return a type with the words that the source has for it; a number stays what it was promised to be."""
    name = next(names)
    return TypeRef(name if kind.args else kind.name, tuple(_called(arg, names) for arg in kind.args))


@dataclass(frozen=True)
class AdoptedTypeScript(TypeScript):
    """TypeScript with one function that stands in a package already: it is called as it is."""

    package: Package
    candidate: Candidate

    def serve(self, spec: Spec, plan: Plan, variants: Sequence[Mapping[str, Body]]) -> ServedProgram:
        """Return the program; a body's text stands in the place of the function's own."""
        (name,) = index(plan)
        changed = {number: bodies[name].text for number, bodies in enumerate(variants) if name in bodies}
        return _program(self, self.package, self.candidate, changed, self._table(plan))

    def _table(self, plan: Plan) -> str:
        ((name, (_, function)),) = index(plan).items()
        call = f"load()[{json.dumps(self.candidate.exported)}]"
        *parameters, result = map(form, self._kinds(function))
        served = f"{{ call: {call}, parameters: [{', '.join(parameters)}], result: {result} }}"
        return f"{self.candidate.named.source}\nserve({{ {json.dumps(name)}: {served} }});"

    def _own(self, record: str, name: str, kind: TypeRef) -> TypeRef:
        return _called(kind, iter(_WORD.findall(self.candidate.named.own.get(record, {}).get(name, str(kind)))))

    def _kinds(self, function: FunctionPlan) -> list[TypeRef]:
        names = [*(p.name for p in function.parameters), "result"]
        return [self._own("", name, kind) for name, kind in zip(names, function.kinds, strict=True)]

    def case(self, function: FunctionPlan, row: CaseRow) -> CaseRow:
        *kinds, kind = self._kinds(function)
        result = row.result and self._written(row.result, kind)
        return CaseRow(tuple(map(self._written, row.args, kinds)), result, row.error)

    def _written(self, node: Expression, kind: TypeRef) -> Expression:
        """Return a value whose parts have the types of the source."""
        match node:
            case Operation(operands=parts) if kind.args:
                return Operation(kind, node.name, tuple(map(self._written, parts, cycle(kind.args))))
            case Make(values=values):
                own = partial(self._own, kind.name)
                return Make(kind, tuple((f, self._written(v, own(f, v.type))) for f, v in values))
            case _:
                return replace(node, type=kind)

    def rendering(self, spec: Spec) -> Renderer:
        """Return what writes values as the function's own code has them."""
        return _Literals(spec, self.candidate.named)

    def signature(self, function: FunctionPlan) -> str:
        """Return the function's own header."""
        return self.candidate.source.partition(self.candidate.body.strip()[:40] or "\0")[0].strip(" \n{")

    def tests(self, spec: Spec, plan: Plan, tests: Mapping[str, str]) -> Tree:
        """Return the test file of the function."""
        candidate = self.candidate
        name = identifier(candidate.name)
        taken = name if name == candidate.exported else f"{candidate.exported} as {name}"
        # What is compared are values.
        compared = candidate.named.records or candidate.named.own or "Int" in candidate.result
        plain = read_text(_HERE, "plain.ts") if compared else ""
        text = self.page("adopted", taken=taken, plain=plain, text="\n".join(tests.values()))
        return {f"tests/{candidate.id.replace('.', '-')}.test.ts": f"{text}\n"} if tests else {}


def _program(
    language: TypeScript, package: Package, candidate: Candidate, changed: Mapping[int, str], table: str
) -> ServedProgram:
    """Return the program that loads the module of a function; bodies by their variant, its own where empty."""

    def place(path: Path) -> str:
        return path.relative_to(package.root).as_posix()

    files = {f"package/{place(path)}": text for path, text in package.texts.items()}
    own = place(candidate.path).removesuffix(".ts")
    loaded = {-1: f"../package/{own}.js"}
    for number, body in changed.items():
        if body:
            text, (start, end) = package.texts[candidate.path], candidate.span
            files[f"package/{own}.variant{number}.ts"] = f"{text[:start]}{{\n{body}\n}}{text[end:]}"
            loaded[number] = f"../package/{own}.variant{number}.js"
    main = fill(_HERE, "loaded.ts", files=json.dumps(loaded), table=table)
    own = {"package.mjs": read_text(_HERE, "build.mjs"), "src/shapes.ts": read_text(_HERE, "shapes.ts")}
    files |= {**language.serving("src"), "src/serve.ts": main, **own}
    program = language.tools.served(files)
    ((node, script, packages),) = program.build
    modules = package.root / "node_modules"
    return replace(
        program,
        build=((node, script, packages), (node, "package.mjs", packages)),
        read_only=(*program.read_only, *([modules] if modules.is_dir() else [])),
        environment={**program.environment, "NODE_PATH": str(modules)},
    )


def _probe(package: Package, candidate: Candidate, spec: Spec, plan: Plan) -> ServedProgram:
    """Return the program that loads a function's module, and tells why that does not go."""
    return _program(TypeScript(), package, candidate, {0: ""}, fill(_HERE, "probe.ts", name=json.dumps(PROBE)))


def _native_tests(package: Package, adopted: Sequence[Adopted], folder: Path) -> dict[str, str]:
    """Return a file a function, for node's own test runner."""
    tree: dict[str, str] = {}
    for one in adopted:
        spec, candidate = one.artifacts.approved, one.candidate
        language = AdoptedTypeScript(package, candidate)
        way = Path(os.path.relpath(candidate.path, folder / "tests")).as_posix()
        cases = list({json.dumps(case): case for case in one.cases}.values())
        files = language.case_files(spec, one.artifacts.plan, {candidate.id: cases})
        tree |= {path: text.replace("{place}", way, 1) for path, text in files.items()}
    return tree


adopter = Adopter(is_typescript, read_package, partial(import_faults, probe=_probe), AdoptedTypeScript, _native_tests)
