"""Python's program for the judge: each variant's sources, the loop that serves them, and what it knows of types."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from criticality.artifacts import Body
from criticality.judging.served import ServedProgram
from criticality.language import Plan, Tree
from criticality.languages.base.data import read_text
from criticality.languages.python.names import PACKAGE, annotation
from criticality.languages.python.toolchain import PythonToolchain
from criticality.lattice_plan import FunctionPlan, index
from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef, parse_type


def serve(
    spec: Spec,
    plan: Plan,
    variants: Sequence[Mapping[str, Body]],
    sources: Callable[[Spec, Plan, Mapping[str, Body]], Tree],
) -> ServedProgram:
    """Return the program that serves each variant in a process of its own."""
    files = {"server.py": read_text(PACKAGE, "server.py"), "known.json": json.dumps(_known(spec, plan, variants))}
    for number, bodies in enumerate(variants):
        for path, text in sources(spec, plan, bodies).items():
            files[f"variants/{number}/{path.removeprefix('src/')}"] = text
    return PythonToolchain.served(files)


def _known(spec: Spec, plan: Plan, variants: Sequence[Mapping[str, Body]]) -> dict[str, Any]:
    return {
        "package": spec.package,
        "enums": sorted(spec.enums),
        "types": {name: kind_of(parse_type(new.base)) for name, new in spec.newtypes.items()},
        "records": {
            name: [[field.name, kind_of(parse_type(field.type))] for field in model.fields]
            for name, model in spec.data_models.items()
        },
        "functions": {
            name: [[[p.name, kind_of(p.type)] for p in function.parameters], kind_of(function.result)]
            for name, (_, function) in index(plan).items()
        },
        "hints": {name: _hints(function) for name, (_, function) in index(plan).items()},
        "served": [[name for name in index(plan) if name in bodies] for bodies in variants],
    }


def _hints(function: FunctionPlan) -> dict[str, str]:
    return {parameter.name: annotation(parameter.type) for parameter in function.parameters}


def kind_of(kind: TypeRef) -> list[Any]:
    """Return a type as the program reads it: its name, and what it is made of."""
    return [kind.name, *map(kind_of, kind.args)]
