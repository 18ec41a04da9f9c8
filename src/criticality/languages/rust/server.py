"""A Rust program that serves bodies: how a function forwards, how types stand on the wire, what can be called."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from criticality.language import Plan, Tree
from criticality.languages.base.data import read_text
from criticality.languages.rust.names import ident, is_lent, owned
from criticality.languages.rust.witnesses import checks_of
from criticality.lattice_plan import FunctionPlan
from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef
from criticality.spec.values import root


def forward(name: str, function: FunctionPlan, held: list[FunctionPlan]) -> str:
    """Return statements that call the body of the variant that is served, and note the call."""
    arguments = [p.name for p in function.parameters]
    bodies = ", ".join(one.name for one in held)
    called = bodies if len(held) == 1 else f"[{bodies}][crate::serving::variant()]"
    lent = ", ".join(f"&{argument}" for argument in arguments)
    return f"crate::serving::traced({json.dumps(name)}, &[{lent}], || {called}({', '.join(arguments)}))"


def program(spec: Spec, plan: Plan, modules: Sequence[str]) -> Tree:
    """Return the server, and the root of the crate, which says which types and functions there are."""
    ours = ["serving", "wire", *(["moments"] if "scalars" in modules else [])]
    calls = [line for module in plan for f in module.functions for line in _call(module.name, f)]
    lines = [
        *(f"pub mod {name};" for name in sorted([*modules, *ours])), "use domain::*;",
        "use wire::{Made, Put, Reader, Take, enumeration, list, newtype, record, text};",
        "use std::collections::{BTreeMap, BTreeSet};", *_scalars(modules), *_types(spec),
        "fn dispatch(name: &str, timed: bool, from: &mut Reader, out: &mut Vec<u8>) -> Result<(), String> {",
        "    match name {", *calls, "        _ => return Err(name.to_string()),", "    }", "    Ok(())", "}",
        "fn main() { serving::serve(dispatch) }", "",
    ]  # fmt: skip
    files = {f"src/{name}.rs": read_text("criticality.languages.rust", "serving", f"{name}.rs") for name in ours}
    return files | {"src/main.rs": "\n".join(lines)}


def _scalars(modules: Sequence[str]) -> Iterator[str]:
    if "scalars" in modules:
        yield "use scalars::*;"
    if "decimal" in modules:
        yield "use decimal::Decimal;"
        yield "wire::written!(Decimal, wire::DECIMAL, str::parse::<Decimal>, Decimal::to_string);"
        yield "use wire::extension;"


def _types(spec: Spec) -> Iterator[str]:
    yield from (f"enumeration!({name});" for name in spec.enums)
    yield from (f"newtype!({name}, {owned(root(spec, TypeRef(name)))});" for name in spec.newtypes)
    for name, model in spec.data_models.items():
        fields, checked = [ident(f.name) for f in model.fields], checks_of(spec, name)
        read = ", ".join(f"value.{field}()" if checked else f"&value.{field}" for field in fields)
        made = f"{name}::new({', '.join(fields)})" if checked else f"{name} {{ {', '.join(fields)} }}"
        read = read.replace("&value", "value")
        yield f"record!({name}, {len(fields)}, {' '.join(fields)}, |value| {read}; {made});"


def _call(module: str, function: FunctionPlan) -> Iterator[str]:
    yield f"        {json.dumps(f'{module}.{function.name}')} => {{"
    yield f"            from.items({len(function.parameters)})?;"
    for place, param in enumerate(function.parameters):
        yield f"            let a{place}: {owned(param.type)} = Take::take(from)?;"
    arguments = ", ".join(f"{'&' * is_lent(p.type)}a{place}" for place, p in enumerate(function.parameters))
    yield f"            serving::answer(out, timed, || {module}::{function.name}({arguments}));"
    yield "        }"
