"""Random values of the types of a specification: values near what contracts and claims speak of."""

from __future__ import annotations

from collections.abc import Sequence

from criticality.languages.base.expressions.conversions import ExpressionFault
from criticality.languages.base.naming import snake
from criticality.languages.cpp.expressions import quoted
from criticality.languages.cpp.names import ident, member, owned
from criticality.languages.cpp.witnesses import checks_of
from criticality.spec.literals import Literals
from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef, parse_type
from criticality.spec.values import bounds, constraints_of, in_order, root

_FAR = 10**6


def generators_source(spec: Spec, literals: Literals) -> str:
    """Return the header ``generators.hpp``: how each named type is drawn, and how it looks."""
    texts = ", ".join(map(quoted, dict.fromkeys((*literals.examples, *literals.texts))))
    numbers = ", ".join(map(str, literals.numbers))
    names = [name for name in in_order(spec) if name not in spec.errors]
    looks = "\n".join(_look(spec, name) for name in names)
    parts = "\n".join(_definition(spec, name) for name in names)
    return (
        f"// Values of the types of {spec.system.name}, drawn at random.\n#pragma once\n\n"
        f'#include "{spec.package}/domain.hpp"\n#include "support/harness.hpp"\n#include "support/near.hpp"\n\n'
        f"namespace {spec.package} {{\n\n{looks}\n}}  // namespace {spec.package}\n\n"
        f"namespace generators {{\n\nusing namespace {spec.package};\n\n"
        f"// What its contracts and claims are written with.\n"
        f"inline const std::vector<std::string> kTexts{{{texts}}};\n"
        f"inline const std::vector<std::int64_t> kNumbers{{{numbers}}};\n\n{parts}\n}}  // namespace generators\n"
    )


def _look(spec: Spec, name: str) -> str:
    head = f"inline std::string shown(const {name}& value) {{ return "
    if name in spec.enums:
        return f"{head}std::string(text(value)); }}"
    if name in spec.newtypes:
        return f"{head}support::show(value.get()); }}"
    access = "()" if checks_of(spec, name) else ""
    fields = ' + ", '.join(
        f'{field.name}=" + support::show(value.{ident(field.name)}{access})'
        for field in spec.data_models[name].fields
    )
    return f'{head}"{name}({fields} + ")"; }}'


def generator(spec: Spec, kind: TypeRef, constraints: Sequence[str] = (), *, deep: bool = False) -> str:
    """Return the expression that draws a value of a type.

    Raises:
        ExpressionFault: there is none for such a type.
    """
    if kind.name in spec.named_types():
        return f"generators::{snake(kind.name)}()"
    sub = [generator(spec, arg, deep=True) for arg in kind.args]
    limits = bounds(constraints)
    low = limits.low if limits.low is not None else 1 if limits.positive else -_FAR
    high = limits.high if limits.high is not None else max(_FAR, low + _FAR)
    longest = limits.longest if limits.longest is not None else limits.shortest + (3 if deep else 5)
    whole = "near::whole(generators::kNumbers, {}, {})"
    size = f"{limits.shortest}, {longest}"
    match kind.name:
        case "Int":
            return whole.format(max(low, 1) if limits.positive else low, high)
        case "Decimal":
            return f"Decimal::of({whole.format(1 if limits.positive and low < 1 else low * 100, high * 100)}, 2)"
        case "Float":
            return f"(static_cast<double>({whole.format(low * 8, high * 8)}) / 8.0)"
        case "Text" | "String":
            top = limits.longest if limits.longest is not None else max(8, limits.shortest)
            return f"near::text(generators::kTexts, {limits.shortest}, {top})"
        case "Bool":
            return "(near::between(0, 1) == 1)"
        case "Bytes":
            return f"near::list([] {{ return static_cast<std::uint8_t>(near::between(0, 255)); }}, {size})"
        case "Date":
            return f"Date{{{whole.format(-20_000, 20_000)}}}"
        case "Timestamp":
            return f"Timestamp{{{whole.format(0, 4_000_000_000)}}}"
        case "UUID":
            return f"Uuid{{0, static_cast<std::uint64_t>({whole.format(0, _FAR)})}}"
        case "List":
            return _listed(spec, kind, constraints, f"near::list([] {{ return {sub[0]}; }}, {size})")
        case "Set":
            return f"values::to_set(near::list([] {{ return {sub[0]}; }}, {size}))"
        case "Map":
            pair = generator(spec, TypeRef("Tuple", kind.args), deep=True)
            return f"values::to_map(near::list([] {{ return {pair}; }}, {size}))"
        case "Option":
            return f"near::option([] {{ return {sub[0]}; }})"
        case "Tuple":
            return f"{owned(kind)}{{{', '.join(sub)}}}"
        case name:
            raise ExpressionFault(f"C++ draws no {name}")


def _listed(spec: Spec, kind: TypeRef, constraints: Sequence[str], drawn: str) -> str:
    """Draw records that differ in their unique fields; sort a sorted list after it is drawn."""
    name = kind.args[0].name
    model = spec.data_models.get(name)
    keys = [ident(f.name) for f in model.fields if "unique" in f.constraints] if model else []
    access = "()" if checks_of(spec, name) else ""
    if keys or "distinct" in constraints:
        key = ", ".join(f"item.{key}{access}" for key in keys) or "item"
        different = f"[](const {owned(kind.args[0])}& item) {{ return std::make_tuple({key}); }}"
        drawn = f"near::unique_by({drawn}, {different})"
    return f"values::sorted({drawn})" if "sorted" in constraints else drawn


def _definition(spec: Spec, name: str) -> str:
    head = f"inline {name} {snake(name)}() {{\n"
    if name in spec.enums:
        members = ", ".join(f"{name}::{member(m)}" for m in spec.enums[name])
        return f"{head}  return near::one_of(std::vector<{name}>{{{members}}});\n}}\n"
    if name in spec.newtypes:
        drawn = generator(spec, root(spec, TypeRef(name)), constraints_of(spec, name))
        return f"{head}  return {name}({drawn});\n}}\n"
    fields = spec.data_models[name].fields
    checked = checks_of(spec, name)
    drawn = [
        f"const auto {ident(f.name)} = {generator(spec, parse_type(f.type), f.constraints, deep=True)};"
        for f in fields
    ]
    given = ", ".join(ident(field.name) for field in fields)
    lines = [*drawn, f"return {name}({given});" if checked else f"return {name}{{{given}}};"]
    if checked:
        lines = ["return near::made([] {", *(f"  {line}" for line in lines), "});"]
    return head + "".join(f"  {line}\n" for line in lines) + "}\n"
