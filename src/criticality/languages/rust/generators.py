"""proptest strategies for the types of a specification: values near what contracts and claims speak of."""

from __future__ import annotations

from collections.abc import Sequence

from criticality.languages.base.naming import snake
from criticality.languages.rust.expressions import quoted
from criticality.languages.rust.names import ident, member, owned
from criticality.languages.rust.witnesses import checks_of, newtype_checks
from criticality.spec.literals import Literals
from criticality.spec.spec import DataField, Spec
from criticality.spec.types import TypeRef, parse_type
from criticality.spec.values import bounds, constraints_of, in_order, root

_FAR = 10**6


def generators_source(spec: Spec, literals: Literals) -> str:
    """Return the module ``generators``: one function for each named type, over values near the literals."""
    texts = ", ".join(map(quoted, dict.fromkeys((*literals.examples, *literals.texts))))
    numbers = ", ".join(map(str, literals.numbers))
    parts = [_definition(spec, name) for name in in_order(spec) if name not in spec.errors]
    return (
        f"//! Values of the types of {spec.system.name}, drawn at random.\n#![allow(dead_code, unused_imports)]\n\n"
        f"use std::collections::{{BTreeMap, BTreeSet}};\n\nuse proptest::prelude::*;\n\n{domain_uses(spec)}\n"
        "pub use super::near::*;\n\n/// What its contracts and claims are written with.\n"
        f"pub const TEXTS: &[&str] = &[{texts}];\npub const NUMBERS: &[i64] = &[{numbers}];\n\n" + "\n".join(parts)
    )


def domain_uses(spec: Spec) -> str:
    """Return the lines that bring every type of the system into a test."""
    from criticality.languages.rust.domain import used_modules

    return "\n".join(f"use {spec.package}::{name}::*;" for name in ("domain", *used_modules(spec)))


def generator(
    spec: Spec, kind: TypeRef, constraints: Sequence[str] = (), *, prefix: str = "generators::", deep: bool = False
) -> str:
    """Return the expression of a strategy for a type; ``prefix`` is where the named ones are found."""
    if kind.name in spec.named_types():
        return f"{prefix}{snake(kind.name)}()"
    sub = [generator(spec, arg, prefix=prefix, deep=True) for arg in kind.args]
    limits = bounds(constraints)
    low = limits.low if limits.low is not None else 1 if limits.positive else -_FAR
    high = limits.high if limits.high is not None else max(_FAR, low + _FAR)
    longest = limits.longest if limits.longest is not None else limits.shortest + (3 if deep else 5)
    size = f"{limits.shortest}..={longest}"
    match kind.name:
        case "Int":
            return f"{prefix}whole({max(low, 1) if limits.positive else low}, {high})"
        case "Decimal":
            least = 1 if limits.positive and low < 1 else low * 100
            return f"{prefix}whole({least}, {high * 100}).prop_map(|cents| Decimal::new(cents, 2))"
        case "Float":
            return f"({low}.0_f64..={high}.0_f64)"
        case "Text" | "String":
            top = limits.longest if limits.longest is not None else max(8, limits.shortest)
            return f"{prefix}text({limits.shortest}, {top})"
        case "Bool":
            return "any::<bool>()"
        case "Bytes":
            return f"prop::collection::vec(any::<u8>(), {size})"
        case "UUID":
            return "any::<u128>().prop_map(Uuid)"
        case "Date":
            return "(-20_000_i64..20_000).prop_map(Date)"
        case "Timestamp":
            return "(0_i64..4_000_000_000).prop_map(Timestamp)"
        case "Unit":
            return "Just(())"
        case "List":
            return f"prop::collection::vec({sub[0]}, {size}){_listed(spec, kind, constraints, prefix)}"
        case "Set":
            return f"prop::collection::btree_set({sub[0]}, {size})"
        case "Option":
            return f"prop::option::of({sub[0]})"
        case "Map":
            return f"prop::collection::btree_map({sub[0]}, {sub[1]}, {size})"
        case "Tuple":
            return f"({', '.join(sub)},)"
        case _:
            return sub[0]


def _listed(spec: Spec, kind: TypeRef, constraints: Sequence[str], prefix: str) -> str:
    """Draw records that differ in their unique fields; sort a sorted list after it is drawn."""
    name = kind.args[0].name
    model = spec.data_models.get(name)
    keys = [ident(f.name) for f in model.fields if "unique" in f.constraints] if model else []
    access = "()" if checks_of(spec, name) else ""
    done = ""
    if keys:
        places = ", ".join(f"item.{key}{access}.to_owned()" for key in keys)
        done += f".prop_map(|items| {prefix}unique_by(items, |item| ({places},)))"
    elif "distinct" in constraints:
        done += f".prop_map(|items| {prefix}unique_by(items, |item| item.clone()))"
    return done + (".prop_map(|mut items| { items.sort(); items })" if "sorted" in constraints else "")


def _definition(spec: Spec, name: str) -> str:
    head = f"pub fn {snake(name)}() -> BoxedStrategy<{name}> {{\n    "
    if name in spec.enums:
        members = ", ".join(f"{name}::{member(m)}" for m in spec.enums[name])
        return f"{head}prop::sample::select(vec![{members}]).boxed()\n}}\n"
    if name in spec.newtypes:
        constraints = constraints_of(spec, name)
        drawn = generator(spec, root(spec, TypeRef(name)), constraints, prefix="")
        if newtype_checks(spec, name):
            return f'{head}{drawn}.prop_filter_map("{name}", |value| {name}::new(value).ok()).boxed()\n}}\n'
        return f"{head}{drawn}.prop_map({name}::new).boxed()\n}}\n"
    fields = spec.data_models[name].fields
    names = [ident(field.name) for field in fields]
    drawn, bound = _nested([_field(spec, f) for f in fields]), _nested(names)
    if checks_of(spec, name):
        made = f'prop_filter_map("{name}", |{bound}| {name}::new({", ".join(names)}).ok())'
    else:
        made = f"prop_map(|{bound}| {name} {{ {', '.join(names)} }})"
    return f"{head}{drawn}.{made}.boxed()\n}}\n"


def _nested(parts: list[str]) -> str:
    """Tuples have strategies up to ten parts; more are put inside each other."""
    if len(parts) == 1:
        return f"({parts[0]},)"
    if len(parts) <= 10:
        return f"({', '.join(parts)})"
    return f"({', '.join(parts[:9])}, {_nested(parts[9:])})"


def _field(spec: Spec, field: DataField) -> str:
    return generator(spec, parse_type(field.type), field.constraints, prefix="", deep=True)


def drawn(spec: Spec, kinds: Sequence[TypeRef]) -> str:
    """Return the strategy of several values at once."""
    return _nested([generator(spec, kind) for kind in kinds])


def bound(names: Sequence[str]) -> str:
    """Return the pattern that takes them apart."""
    return _nested([ident(name) for name in names])


def typed_pattern(kinds: Sequence[TypeRef]) -> str:
    """Their types together."""
    return _nested([owned(kind) for kind in kinds])
