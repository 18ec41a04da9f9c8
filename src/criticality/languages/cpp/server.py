"""A C++ program that serves bodies: how a function forwards, how types stand on the wire, what there is to call."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from criticality.language import Plan, Tree
from criticality.languages.base.data import texts
from criticality.languages.cpp.domain import used_headers
from criticality.languages.cpp.names import ident, member, owned
from criticality.languages.cpp.witnesses import checks_of
from criticality.lattice_plan import FunctionPlan
from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef, parse_type
from criticality.spec.values import in_order, root


def forward(name: str, function: FunctionPlan, held: list[FunctionPlan]) -> str:
    """Return statements that call the body of the variant that is served, and note the call."""
    arguments = ", ".join(p.name for p in function.parameters)
    bodies = ", ".join(f"&{one.name}" for one in held)
    called = held[0].name if len(held) == 1 else f"std::array{{{bodies}}}[serving::variant]"
    lent = "".join(f", {p.name}" for p in function.parameters)
    return f"return serving::traced({json.dumps(name)}, [&] {{ return {called}({arguments}); }}{lent});"


def program(spec: Spec, plan: Plan) -> Tree:
    """Return the server, and one source with everything: types on the wire, modules, what there is to call."""
    own = used_headers(spec)
    lines = [
        f'#include "{spec.package}/domain.hpp"', '#include "serving/serving.hpp"',
        *(f'#include "serving/{name}_wire.hpp"' for name in own), "namespace serving {",
        *(line for name in in_order(spec) if name not in spec.errors for line in _type(spec, name)),
        "}", *(f'#include "../src/{module.name}.cpp"' for module in plan),
        "static void dispatch(std::string_view name, bool timed, serving::Reader& in, serving::Writer& out) {",
        *(line for module in plan for f in module.functions for line in _call(spec, module.name, f)),
        '  throw serving::Unfit("there is no such function");', "}",
        "int main(int argc, char** argv) { return serving::serve(argc, argv, dispatch); }", "",
    ]  # fmt: skip
    files = texts("criticality.languages.cpp", "serving").items()
    return {f"include/serving/{name}": text for name, text in files} | {"serve/main.cpp": "\n".join(lines)}


def _owned(spec: Spec, kind: TypeRef) -> str:
    """Return a type with the namespace of those that the specification defines."""
    names = "|".join(spec.named_types())
    return re.sub(rf"(?<!:)\b({names})\b", rf"{spec.package}::\1", owned(kind)) if names else owned(kind)


def _type(spec: Spec, name: str) -> Iterator[str]:
    whole = f"{spec.package}::{name}"
    if name in spec.newtypes:
        base = _owned(spec, root(spec, TypeRef(name)))
        yield f"template <> struct Wire<{whole}> : Newtype<{whole}, {base}> {{}};"
        return
    yield f"template <> struct Wire<{whole}> {{"
    yield f"  static {whole} read(Reader& in) {{"
    if name in spec.enums:
        members = ", ".join(f"{whole}::{member(m)}" for m in spec.enums[name])
        yield f"    const auto found = get<std::string>(in); for (const auto one : {{{members}}})"
        yield f"      if ({spec.package}::text(one) == found) return one;"
        yield "    throw Unfit(found);"
        writes = [f"out.text({spec.package}::text(value));"]
    else:
        model, call = spec.data_models[name], "()" if checks_of(spec, name) else ""
        kinds = [_owned(spec, parse_type(f.type)) for f in model.fields]
        yield f"    in.items({len(kinds)}); return {whole}{{{', '.join(f'get<{kind}>(in)' for kind in kinds)}}};"
        writes = [
            f"put<{kind}>(out, value.{ident(f.name)}{call});" for kind, f in zip(kinds, model.fields, strict=True)
        ]
        writes.insert(0, f"out.list({len(kinds)});")
    yield "  }"
    yield f"  static void write(Writer& out, const {whole}& value) {{ {' '.join(writes)} }}\n}};"


def _call(spec: Spec, module: str, function: FunctionPlan) -> Iterator[str]:
    yield f"  if (name == {json.dumps(f'{module}.{function.name}')}) {{"
    yield f"    in.items({len(function.parameters)});"
    for place, param in enumerate(function.parameters):
        yield f"    const auto a{place} = serving::get<{_owned(spec, param.type)}>(in);"
    arguments = ", ".join(f"a{place}" for place in range(len(function.parameters)))
    called = f"{spec.package}::{module}::{function.name}({arguments})"
    yield f"    return serving::answer(out, timed, [&] {{ return {called}; }});"
    yield "  }"
