"""The types of a specification in C++: enums, errors as exceptions, newtypes as witnesses, records.

A witness of a newtype has a private value and an explicit constructor that checks: level
``distinction``. A record whose fields or invariants say something is made by its constructor alone, too.
"""

from __future__ import annotations

from criticality.languages.base.brackets import bare, negated
from criticality.languages.base.expressions import Scope, condition
from criticality.languages.cpp.expressions import Renderer, quoted
from criticality.languages.cpp.names import SCALAR_HEADERS, ident, member, owned, parameter
from criticality.languages.cpp.witnesses import checks_of, field_checks, newtype_checks
from criticality.spec.predicates import parse_predicate
from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef, parse_type
from criticality.spec.values import every_type, in_order, root

_STANDARD = (
    "compare", "cstdint", "map", "optional", "set", "stdexcept", "string", "string_view", "tuple", "utility",
    "vector",
)  # fmt: skip


def domain_source(spec: Spec) -> str:
    """Return the header ``domain.hpp``."""
    parts = "\n".join(type_source(spec, name) for name in in_order(spec))
    own = [f'#include "{spec.package}/{name}.hpp"' for name in used_headers(spec)]
    own += [f'#include "{spec.package}/values.hpp"'] if "values::" in parts else []
    return "\n".join(
        [
            f"// The types of {spec.system.name}, with what must hold of every value of them.",
            "#pragma once",
            "",
            *(f"#include <{name}>" for name in _STANDARD),
            "",
            *own,
            *([""] if own else []),
            f"namespace {spec.package} {{",
            "",
            "// A value that would break what must hold of its type.",
            "class Invalid : public std::invalid_argument {",
            " public:",
            "  using std::invalid_argument::invalid_argument;",
            "};",
            "",
            parts,
            f"}}  // namespace {spec.package}",
            "",
        ]
    )


def used_headers(spec: Spec) -> list[str]:
    """Headers of ours that the types of a specification need."""
    names = {name for kind in every_type(spec) for name in kind.names()}
    for _, _, params, result in spec.methods():
        names |= {name for kind in (*(p.type for p in params), result) for name in kind.names()}
    return sorted({SCALAR_HEADERS[name] for name in names if name in SCALAR_HEADERS})


def type_source(spec: Spec, name: str) -> str:
    """Return the definition of one named type."""
    if name in spec.enums:
        return _enum(name, spec.enums[name])
    if name in spec.errors:
        words = _sentence(spec.errors[name] or name)
        return (
            f"// {words}\nclass {name} : public std::runtime_error {{\n public:\n"
            f"  {name}() : std::runtime_error({quoted(f'{name}: {words}')}) {{}}\n}};\n"
        )
    return _witness(spec, name) if name in spec.newtypes else _record(spec, name)


def _sentence(text: str) -> str:
    flat = " ".join(text.split())
    return flat if flat.endswith(".") else f"{flat}."


def _enum(name: str, members: list[str]) -> str:
    cases = "".join(f"    case {name}::{member(m)}: return {quoted(m)};\n" for m in members)
    return (
        f"// One of the values below.\nenum class {name} {{ {', '.join(map(member, members))} }};\n\n"
        f"// As the specification spells it.\ninline std::string_view text({name} value) {{\n  switch (value) {{\n"
        f'{cases}  }}\n  return "";\n}}\n'
    )


def _throwing(checks: list[tuple[str, str]]) -> str:
    return "".join(f"    if ({fault}) throw Invalid({quoted(words)});\n" for fault, words in checks)


def _witness(spec: Spec, name: str) -> str:
    new, kind = spec.newtypes[name], root(spec, TypeRef(name))
    checks = newtype_checks(spec, name)
    invariant = f" INVARIANT: {', '.join(words for _, words in checks)}." if checks else ""
    body = f"{{\n{_throwing([(fault, f'{name}: {words}') for fault, words in checks])}  }}" if checks else "{}"
    held = "value_(value)" if parameter(kind) == owned(kind) else "value_(std::move(value))"
    return (
        f"// {_sentence(new.description or name)}{invariant}\nclass {name} {{\n public:\n"
        f"  explicit {name}({owned(kind)} value) : {held} {body}\n\n"
        f"  [[nodiscard]] {parameter(kind)} get() const {{ return value_; }}\n\n"
        f"  auto operator<=>(const {name}&) const = default;\n\n private:\n  {owned(kind)} value_;\n}};\n"
    )


def _record(spec: Spec, name: str) -> str:
    model = spec.data_models[name]
    fields = [(ident(field.name), parse_type(field.type)) for field in model.fields]
    head = f"// {_sentence(model.description or name)}\n"
    if not checks_of(spec, name):
        listed = "".join(f"  {owned(kind)} {field};\n" for field, kind in fields)
        return f"{head}struct {name} {{\n{listed}\n  auto operator<=>(const {name}&) const = default;\n}};\n"
    checks = [*field_checks(spec, name), *_invariants(spec, name)]
    doc = "".join(f"// INVARIANT: {words}\n" for _, words in checks)
    params = ", ".join(f"{parameter(kind)} {field}" for field, kind in fields)
    held = ", ".join(f"{field}_({field})" for field, _ in fields)
    getters = "".join(
        f"  [[nodiscard]] {parameter(kind)} {field}() const {{ return {field}_; }}\n" for field, kind in fields
    )
    listed = "".join(f"  {owned(kind)} {field}_;\n" for field, kind in fields)
    return (
        f"{head}{doc}class {name} {{\n public:\n  {name}({params})\n      : {held} {{\n{_throwing(checks)}  }}\n\n"
        f"{getters}\n  auto operator<=>(const {name}&) const = default;\n\n private:\n{listed}}};\n"
    )


def _invariants(spec: Spec, name: str) -> list[tuple[str, str]]:
    """When the parameters of a record's constructor break an invariant, and which."""
    model = spec.data_models[name]
    fields = {field.name: parse_type(field.type) for field in model.fields}
    renderer = Renderer(spec)
    return [
        (bare(negated(renderer.render(condition(code, Scope(spec, fields))))), f"{name}: {text}")
        for text, code in ((text, parse_predicate(text, known=fields).code) for text in model.invariants)
    ]
