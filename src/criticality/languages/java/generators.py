"""Arbitraries of jqwik for the types of a specification: small values that collide, bounds, named constants."""

from __future__ import annotations

from collections.abc import Sequence

from criticality.languages.base.data import fill
from criticality.languages.java.names import ident, java_file, kind, package, quoted
from criticality.languages.java.skeleton import imports
from criticality.spec.literals import Literals
from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef, parse_type
from criticality.spec.values import constraints_of, root

_FAR = 10**6
#: jqwik combines so many arbitraries at once.
_AT_ONCE = 8


def generators_source(spec: Spec, literals: Literals) -> str:
    """Return the class with an arbitrary for each named type."""
    names = [*spec.enums, *spec.newtypes, *spec.data_models]
    numbers = sorted({n + step for n in (0, *literals.numbers) for step in (-1, 0, 1)})
    texts = list(dict.fromkeys(["", *literals.examples, *literals.texts]))
    head = fill(
        "criticality.languages.java", "templates", "Generators.java",
        numbers=", ".join(f"{n}L" for n in numbers), texts=", ".join(map(quoted, texts)),
    )  # fmt: skip
    code = head + "".join(_method(spec, name) for name in names) + "}\n"
    known = ["net.jqwik.api.Arbitraries", "net.jqwik.api.Arbitrary", "net.jqwik.api.Combinators"]
    known.append("java.util.function.Supplier")
    return java_file(package(spec), code, [*imports(spec), *known])


def _method(spec: Spec, name: str) -> str:
    return f"\n    static Arbitrary<{name}> any{name}() {{\n        return {_made(spec, name)};\n    }}\n"


def _made(spec: Spec, name: str) -> str:
    if name in spec.enums:
        return f"Arbitraries.of({name}.class)"
    if name in spec.newtypes:
        return f"{arbitrary(spec, root(spec, TypeRef(name)), constraints_of(spec, name))}.map({name}::new)"
    model = spec.data_models[name]
    parts = [_field(spec, parse_type(f.type), f.constraints) for f in model.fields]
    names = [ident(f.name) for f in model.fields]
    if not model.invariants:
        return _one_by_one(f"new {name}({', '.join(names)})", parts, names)
    # Parts that do not fit together are drawn again.
    maybe = _one_by_one(f"Generators.fitting(() -> new {name}({', '.join(names)}))", parts, names)
    return f"{maybe}.filter(1000, Optional::isPresent).map(Optional::get)"


def _one_by_one(made: str, parts: list[str], names: list[str]) -> str:
    """Return a value of drawn parts; as many at once as jqwik combines."""
    if len(parts) == 1:
        return f"{parts[0]}.map({names[0]} -> {made})"
    if len(parts) <= _AT_ONCE:
        return f"Combinators.combine({', '.join(parts)}).as(({', '.join(names)}) -> {made})"
    return f"{parts[0]}.flatMap({names[0]} -> {_one_by_one(made, parts[1:], names[1:])})"


def _field(spec: Spec, type_: TypeRef, constraints: Sequence[str]) -> str:
    """Return a field's arbitrary; constraints of its own narrow the values that its type has."""
    if not constraints or type_.name not in spec.newtypes:
        return arbitrary(spec, type_, constraints)
    both = [*constraints_of(spec, type_.name), *constraints]
    return f"{arbitrary(spec, root(spec, type_), both)}.map({type_.name}::new)"


def arbitrary(spec: Spec, type_: TypeRef, constraints: Sequence[str] = ()) -> str:
    """Return the expression of an arbitrary."""
    if type_.name in spec.named_types():
        return f"Generators.any{type_.name}()"
    sub = [arbitrary(spec, arg) for arg in type_.args]
    low, high, shortest, longest = bounds(constraints)
    top = longest if longest is not None else max(5, shortest)
    sized = f".ofMinSize({shortest}).ofMaxSize({top})"
    match type_.name:
        case "Int":
            return f"Generators.number({_or(low, -_FAR)}L, {_or(high, max(_FAR, (low or 0) + _FAR))}L)"
        case "Decimal":
            cents = f"Generators.number({100 * _or(low, -_FAR)}L, {100 * _or(high, _FAR)}L)"
            return f"{cents}.map(n -> BigDecimal.valueOf(n, 2))"
        case "Float":
            return f"Arbitraries.doubles().between({_or(low, -_FAR)}, {_or(high, _FAR)})"
        case "Text" | "String":
            return f"Generators.text({shortest}, {longest if longest is not None else max(8, shortest)})"
        case "Bool":
            return "Arbitraries.of(true, false)"
        case "Bytes":
            return f"Arbitraries.bytes().list(){sized}"
        case "UUID":
            return "Arbitraries.longs().tuple2().map(two -> new java.util.UUID(two.get1(), two.get2()))"
        case "Date":
            return "Arbitraries.longs().between(0, 40000).map(java.time.LocalDate::ofEpochDay)"
        case "Timestamp":
            return "Arbitraries.longs().between(0, 4000000000L).map(java.time.Instant::ofEpochSecond)"
        case "List":
            return _list(spec, type_, sub[0], constraints, sized)
        case "Set":
            return f"{sub[0]}.set(){sized}"
        case "Option":
            return f"{sub[0]}.optional()"
        case "Map":
            return f"Arbitraries.maps({sub[0]}, {sub[1]}){sized}"
        case "Tuple":
            return f"Combinators.combine({', '.join(sub)}).as({kind(type_).partition('<')[0]}::new)"
        case _:
            return f"Arbitraries.<{kind(type_, boxed=True)}>just(null)"


def _list(spec: Spec, type_: TypeRef, item: str, constraints: Sequence[str], sized: str) -> str:
    """Draw records that differ in their unique fields; sort a sorted list after it is drawn."""
    different = f".uniqueElements({key})" if (key := unique_key(spec, type_.args[0])) else ""
    if "distinct" in constraints:
        different = ".uniqueElements()"
    found = f"{item}.list(){sized}{different}"
    return f"{found}.map(items -> Values.sortedBy(items, item -> item))" if "sorted" in constraints else found


def unique_key(spec: Spec, type_: TypeRef) -> str:
    """Return a function of what must differ between two records of a list; empty where nothing must."""
    model = spec.data_models.get(type_.name)
    unique = [field.name for field in model.fields if "unique" in field.constraints] if model else []
    parts = ", ".join(f"item.{ident(name)}()" for name in unique)
    return f"item -> List.<Object>of({parts})" if unique else ""


def sized(spec: Spec, type_: TypeRef) -> str:
    """Return the expression of a value with ``size`` elements."""
    if type_.name in spec.newtypes:
        return f"new {type_.name}({sized(spec, root(spec, type_))})"
    items = [arbitrary(spec, arg) for arg in type_.args]
    match type_.name:
        case "Text" | "String":
            return '"a".repeat((int) size)'
        case "List":
            return f"many({items[0]}, size, {unique_key(spec, type_.args[0]) or 'item -> new Object()'})"
        case "Set":
            return f"setOf(many({items[0]}, size, item -> item))"
        case _:
            pair = f"new Tuple2<>(key, one({items[1]}))"
            return f"mapOf(each(many({items[0]}, size, item -> item), key -> {pair}))"


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
