"""Generators of rapid for the types of a specification: small values that collide, bounds, named constants."""

from __future__ import annotations

from collections.abc import Sequence

from criticality.languages.base.data import read_text
from criticality.languages.base.naming import pascal
from criticality.languages.go.names import constructor, ident, kind, member, module, package, quoted, with_imports
from criticality.languages.go.witnesses import checked
from criticality.spec.literals import Literals
from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef, parse_type
from criticality.spec.values import constraints_of, root

_FAR = 10**6
_SINCE = "func(n int) time.Time {{ return time.Unix({}, 0).UTC() }}"


def generators_source(spec: Spec, literals: Literals) -> str:
    """Return the file with a generator for each named type."""
    names = [*spec.enums, *spec.newtypes, *spec.data_models]
    parts = [_near(literals), *(_function(spec, name) for name in names)]
    others = {"domain": f"{module(spec)}/domain", "rapid": "pgregory.net/rapid"}
    return with_imports(f"package {package(spec)}\n", "\n".join(parts), others=others)


def _near(literals: Literals) -> str:
    """Return the constants that contracts and claims are written with, and generators that come back to them."""
    numbers = sorted({n + step for n in (0, *literals.numbers) for step in (-1, 0, 1)})
    texts = list(dict.fromkeys(["", *literals.examples, *literals.texts]))
    return (
        f"var nearNumbers = []int{{{', '.join(map(str, numbers))}}}\n\n"
        f"var nearTexts = []string{{{', '.join(map(quoted, texts))}}}\n\n"
        + read_text("criticality.languages.go", "templates", "near.go")
    )


def _function(spec: Spec, name: str) -> str:
    type_ = kind(spec, TypeRef(name))
    lead = f"func any{name}() *rapid.Generator[{type_}] {{\n"
    if name in spec.enums:
        members = ", ".join(f"domain.{member(name, m)}" for m in spec.enums[name])
        return f"{lead}\treturn rapid.SampledFrom([]{type_}{{{members}}})\n}}\n"
    if name in spec.newtypes:
        constraints = constraints_of(spec, name)
        inner = generator(spec, root(spec, TypeRef(name)), constraints)
        made = f"domain.{constructor(name)}(value)"
        made = f"must({made})" if constraints else made
        step = f"func(value {kind(spec, root(spec, TypeRef(name)))}) {type_} {{ return {made} }}"
        return f"{lead}\treturn rapid.Map({inner}, {step})\n}}\n"
    return _record(spec, name, type_, lead)


def _record(spec: Spec, name: str, type_: str, lead: str) -> str:
    model = spec.data_models[name]
    draws = [
        f"{_field_generator(spec, parse_type(f.type), f.constraints)}.Draw(t, {quoted(f.name)})"
        for f in model.fields
    ]
    if checked(spec, name):
        inside = f"domain.{constructor(name)}({', '.join(draws)})"
        made = f"drawn(t, func() ({type_}, error) {{ return {inside} }})"
    else:
        made = f"{type_}{{{', '.join(f'{pascal(f.name)}: {d}' for f, d in zip(model.fields, draws, strict=True))}}}"
    return f"{lead}\treturn rapid.Custom(func(t *rapid.T) {type_} {{\n\t\treturn {made}\n\t}})\n}}\n"


def _field_generator(spec: Spec, type_: TypeRef, constraints: Sequence[str]) -> str:
    """Return a field's generator; constraints of its own narrow the values that its type has."""
    if not constraints or type_.name not in spec.newtypes:
        return generator(spec, type_, constraints)
    both = [*constraints_of(spec, type_.name), *constraints]
    base = root(spec, type_)
    made = f"domain.{constructor(type_.name)}(value)"
    made = f"must({made})" if constraints_of(spec, type_.name) else made
    step = f"func(value {kind(spec, base)}) {kind(spec, type_)} {{ return {made} }}"
    return f"rapid.Map({generator(spec, base, both)}, {step})"


def generator(spec: Spec, type_: TypeRef, constraints: Sequence[str] = ()) -> str:
    """Return the expression of a generator."""
    if type_.name in spec.named_types():
        return f"any{type_.name}()"
    sub = [generator(spec, arg) for arg in type_.args]
    low, high, shortest, longest = bounds(constraints)
    written = kind(spec, type_)
    match type_.name:
        case "Int":
            return f"anyNumber({_or(low, -_FAR)}, {_or(high, max(_FAR, (low or 0) + _FAR))})"
        case "Decimal":
            whole = f"anyNumber({100 * _or(low, -_FAR)}, {100 * _or(high, _FAR)})"
            step = "func(n int) domain.Decimal { return domain.DecimalOf(n).Quo(domain.DecimalOf(100)) }"
            return f"rapid.Map({whole}, {step})"
        case "Float":
            return f"rapid.Float64Range({_or(low, -_FAR)}, {_or(high, _FAR)})"
        case "Text" | "String":
            return f"anyText({shortest}, {_or(longest, max(8, shortest))})"
        case "Bool":
            return "rapid.Bool()"
        case "Bytes":
            return f"rapid.SliceOfN(rapid.Byte(), {shortest}, {_or(longest, max(16, shortest))})"
        case "UUID":
            return 'rapid.StringMatching("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}")'
        case "Date":
            return f"rapid.Map(rapid.IntRange(0, 40000), {_SINCE.format('int64(n)*86400')})"
        case "Timestamp":
            return f"rapid.Map(rapid.IntRange(0, 4000000000), {_SINCE.format('int64(n)')})"
        case "Unit":
            return "rapid.Just(struct{}{})"
        case "List":
            return _list(spec, type_, constraints, shortest, _or(longest, max(5, shortest)))
        case "Set":
            item, top = kind(spec, type_.args[0]), _or(longest, max(5, shortest))
            distinct = f"rapid.SliceOfNDistinct({sub[0]}, {shortest}, {top}, rapid.ID[{item}])"
            return f"rapid.Map({distinct}, setOf[{item}])"
        case "Option":
            return f"rapid.Ptr({sub[0]}, true)"
        case "Map":
            return f"rapid.MapOfN({sub[0]}, {sub[1]}, {shortest}, {_or(longest, max(5, shortest))})"
        case "Tuple":
            draws = ", ".join(f'Item{n}: {s}.Draw(t, "{n}")' for n, s in enumerate(sub, start=1))
            return f"rapid.Custom(func(t *rapid.T) {written} {{ return {written}{{{draws}}} }})"
        case _:
            return sub[0]


def _list(spec: Spec, type_: TypeRef, constraints: Sequence[str], shortest: int, longest: int) -> str:
    """Draw records that differ in their unique fields; sort a sorted list after it is drawn."""
    item, inner = kind(spec, type_.args[0]), generator(spec, type_.args[0])
    key = unique_key(spec, type_.args[0])
    if "distinct" in constraints:
        key = f"func(item {item}) string {{ return shown(item) }}"
    found = (
        f"rapid.SliceOfNDistinct({inner}, {shortest}, {longest}, {key})"
        if key
        else f"rapid.SliceOfN({inner}, {shortest}, {longest})"
    )
    if "sorted" in constraints:
        return f"rapid.Map({found}, func(items []{item}) []{item} {{ return sortedBy(items, itself) }})"
    return found


def unique_key(spec: Spec, type_: TypeRef) -> str:
    """Return what must differ between two records of a list, as text; empty where nothing must."""
    model = spec.data_models.get(type_.name)
    unique = [field.name for field in model.fields if "unique" in field.constraints] if model else []
    if not unique:
        return ""
    call = "()" if checked(spec, type_.name) else ""
    parts = ' + "|" + '.join(f"shown(item.{pascal(name)}{call})" for name in unique)
    return f"func(item {kind(spec, type_)}) string {{ return {parts} }}"


def sized(spec: Spec, type_: TypeRef) -> str:
    """Return the expression of a value with ``size`` elements."""
    if type_.name in spec.newtypes:
        made = f"domain.{constructor(type_.name)}({sized(spec, root(spec, type_))})"
        return f"must({made})" if constraints_of(spec, type_.name) else made
    items = [generator(spec, arg) for arg in type_.args]
    match type_.name:
        case "Text" | "String":
            return 'strings.Repeat("a", size)'
        case "List":
            item, key = kind(spec, type_.args[0]), unique_key(spec, type_.args[0])
            if key:
                return f"many({items[0]}, size, func(_ int, item {item}) string {{ return ({key})(item) }})"
            return f"many({items[0]}, size, func(seed int, _ {item}) int {{ return seed }})"
        case "Set":
            return f"setOf({_keys(spec, type_, items[0])})"
        case _:
            key, whole = kind(spec, type_.args[0]), kind(spec, type_)
            body = f"made[key] = {items[1]}.Example(1); return made"
            step = f"func(made {whole}, key {key}) {whole} {{ {body} }}"
            return f"folded({_keys(spec, type_, items[0])}, {whole}{{}}, {step})"


def _keys(spec: Spec, type_: TypeRef, items: str) -> str:
    return f"many({items}, size, func(_ int, item {kind(spec, type_.args[0])}) string {{ return shown(item) }})"


def bounds(constraints: Sequence[str]) -> tuple[int | None, int | None, int, int | None]:
    """Least and greatest number, shortest and longest length."""
    low: int | None = None
    high: int | None = None
    shortest, longest = 0, None
    for constraint in constraints:
        name, _, rest = constraint.partition("(")
        number = int(rest.rstrip(")")) if rest else 0
        match name:
            case "non_negative" | "positive" | "min":
                least = {"non_negative": 0, "positive": 1}.get(name, number)
                low = least if low is None else max(low, least)
            case "max":
                high = number if high is None else min(high, number)
            case "non_empty" | "min_length":
                shortest = max(shortest, number or 1)
            case "max_length":
                longest = number if longest is None else min(longest, number)
            case _:
                continue
    return low, high, shortest, longest


def _or(value: int | None, other: int) -> int:
    return other if value is None else value


def draw(spec: Spec, name: str, type_: TypeRef) -> str:
    """Return a statement that draws a variable."""
    return f"{ident(name)} := {generator(spec, type_)}.Draw(t, {quoted(name)})"
