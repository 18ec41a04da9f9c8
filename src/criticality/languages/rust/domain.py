"""The types of a specification in Rust: enums, one error type, newtypes as witnesses, records.

A witness of a newtype has a private field and a constructor that checks: level ``distinction``.
A record whose fields or invariants say something is made by its constructor alone, too.
"""

from __future__ import annotations

from criticality.languages.base.brackets import bare, negated
from criticality.languages.base.data import read_text
from criticality.languages.base.expressions import Scope, condition
from criticality.languages.base.naming import snake
from criticality.languages.rust.expressions import Renderer, quoted
from criticality.languages.rust.names import SCALAR_MODULES, borrowed, has_float, ident, is_copied, member, owned
from criticality.languages.rust.witnesses import checks_of, field_checks, newtype_checks
from criticality.spec.predicates import parse_predicate
from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef, parse_type
from criticality.spec.values import every_type, in_order, root


def domain_source(spec: Spec) -> str:
    """Return the whole module ``domain``."""
    parts = [type_source(spec, name) for name in in_order(spec) if name not in spec.errors]
    parts += [errors_source(spec)] if spec.errors else []
    if has_checks(spec):
        parts.append(read_text("criticality.languages.rust", "templates", "invalid.rs"))
    body = "\n".join(parts)
    uses = [f"use crate::{line};" for line in _own_modules(spec, body)]
    collections = [name for name in ("BTreeMap", "BTreeSet") if f"{name}<" in body or f"{name}:" in body]
    if collections:
        uses.append(f"use std::collections::{{{', '.join(collections)}}};")
    uses += ["use std::fmt;"] if "fmt::" in body else []
    head = f"//! The types of {spec.system.name}, with what must hold of every value of them.\n"
    return "\n".join([head, *uses, *([""] if uses else []), body])


def _own_modules(spec: Spec, body: str) -> list[str]:
    modules = {module for module in used_modules(spec) if module}
    lines = ["decimal::Decimal"] if "decimal" in modules else []
    scalars = [name for name in ("Date", "Timestamp", "Uuid") if f"{name}" in body]
    if "scalars" in modules and scalars:
        lines.append(f"scalars::{{{', '.join(scalars)}}}")
    return lines + (["values"] if "values::" in body else [])


def used_modules(spec: Spec) -> list[str]:
    """Modules of ours that the types of a specification need."""
    names = {name for kind in every_type(spec) for name in kind.names()}
    names |= {name for _, _, params, _ in spec.methods() for p in params for name in p.type.names()}
    names |= {name for _, _, _, result in spec.methods() for name in result.names()}
    return sorted({SCALAR_MODULES[name] for name in names if name in SCALAR_MODULES})


def has_checks(spec: Spec) -> bool:
    """Tell whether some value can be refused."""
    return any(newtype_checks(spec, name) for name in spec.newtypes) or any(
        checks_of(spec, name) for name in spec.data_models
    )


def type_source(spec: Spec, name: str) -> str:
    """Return the definition of one named type; of an error, that of all errors."""
    if name in spec.enums:
        return _enum(name, spec.enums[name])
    if name in spec.errors:
        return errors_source(spec)
    return _witness(spec, name) if name in spec.newtypes else _record(spec, name)


def _sentence(text: str) -> str:
    flat = " ".join(text.split())
    return flat if flat.endswith(".") else f"{flat}."


def _enum(name: str, members: list[str]) -> str:
    listed = "".join(f"    {member(m)},\n" for m in members)
    texts = "".join(f"            Self::{member(m)} => {quoted(m)},\n" for m in members)
    every = ", ".join(f"Self::{member(m)}" for m in members)
    return (
        f"/// One of the values below.\n#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]\n"
        f"pub enum {name} {{\n{listed}}}\n\nimpl {name} {{\n"
        f"    /// Every value.\n    pub const ALL: [Self; {len(members)}] = [{every}];\n\n"
        f"    /// As the specification spells it.\n    pub fn text(self) -> &'static str {{\n"
        f"        match self {{\n{texts}        }}\n    }}\n}}\n"
    )


def errors_source(spec: Spec) -> str:
    """Return the one error type: a variant for each error of the specification."""
    listed = "".join(f"    /// {_sentence(words or name)}\n    {name},\n" for name, words in spec.errors.items())
    texts = "".join(
        f"            Self::{name} => {quoted(_sentence(words or name))},\n" for name, words in spec.errors.items()
    )
    return (
        "/// What can go wrong.\n#[derive(Debug, Clone, Copy, PartialEq, Eq)]\n"
        f"pub enum Error {{\n{listed}}}\n\n"
        "impl fmt::Display for Error {\n    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {\n"
        f"        f.write_str(match self {{\n{texts}        }})\n    }}\n}}\n\n"
        "impl std::error::Error for Error {}\n"
    )


def _derives(spec: Spec, name: str) -> str:
    kind = TypeRef(name)
    copied = ["Copy"] if is_copied(spec, kind) else []
    total = [] if has_float(spec, kind) else ["Eq"]
    order = ["PartialOrd"] if has_float(spec, kind) else ["PartialOrd", "Ord", "Hash"]
    return f"#[derive({', '.join(['Debug', 'Clone', *copied, 'PartialEq', *total, *order])})]"


def _witness(spec: Spec, name: str) -> str:
    new, kind = spec.newtypes[name], root(spec, TypeRef(name))
    checks = newtype_checks(spec, name)
    invariants = (
        f" INVARIANT: {', '.join(words for _, words in checks)} (witnessed by its constructor)." if checks else ""
    )
    tests = "".join(
        f'        if {condition} {{\n            return Err(Invalid("{name}: {words}"));\n        }}\n'
        for condition, words in checks
    )
    result, made = ("Result<Self, Invalid>", "Ok(Self(value))") if checks else ("Self", "Self(value)")
    doc = "/// Checks the invariant." if checks else "/// The name alone tells it apart."
    lent = borrowed(spec, kind)
    value = "self.0" if is_copied(spec, kind) else "&self.0"
    return (
        f"/// {_sentence(new.description or name)}{invariants}\n{_derives(spec, name)}\n"
        f"pub struct {name}({owned(kind)});\n\n"
        f"impl {name} {{\n    {doc}\n    pub fn new(value: {owned(kind)}) -> {result} {{\n"
        f"{tests}        {made}\n    }}\n\n"
        f"    /// The value itself.\n    pub fn get(&self) -> {lent} {{\n        {value}\n    }}\n}}\n"
    )


def _record(spec: Spec, name: str) -> str:
    model = spec.data_models[name]
    checked = checks_of(spec, name)
    fields = [(ident(field.name), parse_type(field.type)) for field in model.fields]
    visible = "" if checked else "pub "
    listed = "".join(f"    {visible}{field}: {owned(kind)},\n" for field, kind in fields)
    checks = [*field_checks(spec, name), *_invariants(spec, name)] if checked else []
    invariants = "".join(f"\n/// INVARIANT: {words}" for _, words in checks)
    head = f"/// {_sentence(model.description or name)}{invariants}\n{_derives(spec, name)}\n"
    head += f"pub struct {name} {{\n{listed}}}\n"
    if not checked:
        return head
    params = ", ".join(f"{field}: {owned(kind)}" for field, kind in fields)
    tests = "".join(
        f"        if {condition} {{\n            return Err(Invalid({quoted(words)}));\n        }}\n"
        for condition, words in checks
    )
    getters = "".join(
        f"\n    /// Its field `{snake(field)}`.\n    pub fn {field}(&self) -> {borrowed(spec, kind)} {{\n"
        f"        {'' if is_copied(spec, kind) else '&'}self.{field}\n    }}\n"
        for field, kind in fields
    )
    names = ", ".join(field for field, _ in fields)
    return (
        f"{head}\nimpl {name} {{\n    /// Checks the invariants.\n"
        f"    pub fn new({params}) -> Result<Self, Invalid> {{\n"
        f"{tests}        Ok(Self {{ {names} }})\n    }}\n{getters}}}\n"
    )


def _invariants(spec: Spec, name: str) -> list[tuple[str, str]]:
    """When the fields of a record, as variables, break an invariant, and which."""
    model = spec.data_models[name]
    fields = {field.name: parse_type(field.type) for field in model.fields}
    renderer = Renderer(spec)
    return [
        (bare(negated(renderer.render(condition(code, Scope(spec, fields))))), f"{name}: {text}")
        for text, code in ((text, parse_predicate(text, known=fields).code) for text in model.invariants)
    ]
