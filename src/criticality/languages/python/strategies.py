"""Hypothesis strategies for the types of a specification: small values that collide, and each bound's edges."""

from __future__ import annotations

from criticality.languages.python.domain import conditions
from criticality.spec.literals import Literals
from criticality.spec.spec import DataField, Spec
from criticality.spec.types import TypeRef, parse_type

__all__ = ["strategies_source", "strategy"]
_FAR = 10**6


def strategy(spec: Spec, kind: TypeRef, constraints: tuple[str, ...] = (), *, prefix: str = "strategies.") -> str:
    """Return the expression of a strategy for a type; ``prefix`` is where the named ones are found."""
    if kind.name in spec.named_types():
        return f"{prefix}{function_name(kind.name)}()"
    sub = [strategy(spec, arg, prefix=prefix) for arg in kind.args]
    low, high, shortest, longest = _bounds(constraints)
    match kind.name:
        case "Int":
            return f"{prefix}NEAR.whole({_shown(low, high)})"
        case "Decimal":
            bounds = f"min_value={_or(low, -_FAR)}, max_value={_or(high, _FAR)}"
            positive = ".filter(lambda value: value > 0)" if "positive" in constraints else ""
            return f"st.decimals({bounds}, places=2){positive}"
        case "Float":
            return f"st.floats(min_value={_or(low, -_FAR)}, max_value={_or(high, _FAR)}, allow_nan=False)"
        case "Text" | "String":
            return f"{prefix}NEAR.text({_shown(shortest, longest)})"
        case "Bool":
            return "st.booleans()"
        case "Bytes":
            return f"st.binary(min_size={shortest}, max_size={_or(longest, 16)})"
        case "UUID":
            return "st.uuids()"
        case "Date":
            return "st.dates()"
        case "Timestamp":
            return "st.datetimes()"
        case "Unit":
            return "st.none()"
        case "List":
            few = 6 if prefix else 3 if kind.args[0].name in spec.data_models else 4
            return _list(spec, kind, sub[0], constraints, shortest, _or(longest, max(few, shortest + 2)))
        case "Set":
            return f"st.frozensets({sub[0]}, min_size={shortest}, max_size={_or(longest, shortest + 5)})"
        case "Option":
            return f"st.one_of(st.none(), {sub[0]})"
        case "Map":
            return (
                f"st.dictionaries({sub[0]}, {sub[1]}, min_size={shortest}, max_size={_or(longest, shortest + 5)})"
            )
        case "Tuple":
            return f"st.tuples({', '.join(sub)})"
        case _:
            return sub[0]


def _shown(low: int | None, high: int | None) -> str:
    """Bounds as arguments; what is not bounded is left out."""
    if high is None:
        return "" if low is None else f"{low}"
    return f"{low}, {high}"


def _list(spec: Spec, kind: TypeRef, item: str, constraints: tuple[str, ...], shortest: int, longest: int) -> str:
    """Draw records that differ in their unique fields; sort a sorted list after it is drawn."""
    model = spec.data_models.get(kind.args[0].name)
    keys = [field.name for field in model.fields if "unique" in field.constraints] if model else []
    unique = ""
    if keys:
        unique = f", unique_by=lambda item: ({', '.join(f'item.{key}' for key in keys)},)"
    elif "distinct" in constraints:
        unique = ", unique=True"
    drawn = f"st.lists({item}, min_size={shortest}, max_size={longest}{unique})"
    return f"{drawn}.map(sorted).map(tuple)" if "sorted" in constraints else f"{drawn}.map(tuple)"


def _bounds(constraints: tuple[str, ...]) -> tuple[int | None, int | None, int, int | None]:
    low: int | None = None
    high: int | None = None
    shortest, longest = 0, None
    for constraint in constraints:
        name, _, rest = constraint.partition("(")
        number = int(rest.rstrip(")")) if rest else 0
        match name:
            case "non_negative":
                low = max(low or 0, 0)
            case "positive":
                low = max(low or 1, 1)
            case "min":
                low = number if low is None else max(low, number)
            case "max":
                high = number if high is None else min(high, number)
            case "non_empty":
                shortest = max(shortest, 1)
            case "min_length":
                shortest = max(shortest, number)
            case "max_length":
                longest = number if longest is None else min(longest, number)
            case _:
                continue
    return low, high, shortest, longest


def _or(value: int | None, otherwise: int) -> int:
    return otherwise if value is None else value


def function_name(name: str) -> str:
    """``AccountId`` -> ``account_id``."""
    return "".join(f"_{c.lower()}" if c.isupper() and i else c.lower() for i, c in enumerate(name))


def strategies_source(spec: Spec, literals: Literals) -> str:
    """Return the module ``strategies``: one function for each named type, over values near the literals."""
    parts = [_definition(spec, name) for name in spec.named_types()]
    names = ", ".join(sorted(spec.named_types())) or ""
    imports = f"from {spec.package}.domain import {names}\n" if names else ""
    head = f'"""Values of the types of {spec.system.name}, drawn at random."""'
    near = f"#: What its contracts and claims are written with.\n{_near(literals)}\n"
    return (
        f"{head}\n\nfrom __future__ import annotations\n\nfrom functools import cache\nfrom typing import Any\n\n"
        f"from hypothesis import strategies as st\nfrom near import Near, fitting\n\n{imports}\n{near}\n\n"
        + "\n\n".join(parts)
    )


def _near(literals: Literals) -> str:
    fields = {"examples": literals.examples, "texts": literals.texts, "numbers": literals.numbers}
    return f"NEAR = Near({', '.join(f'{name}={value!r}' for name, value in fields.items() if value)})"


def _definition(spec: Spec, name: str) -> str:
    header = f"@cache\ndef {function_name(name)}() -> st.SearchStrategy[Any]:\n    return "
    if name in spec.enums:
        return f"{header}st.sampled_from({name})\n"
    if name in spec.errors:
        return f"{header}st.builds({name})\n"
    if name in spec.newtypes:
        return f"{header}{_drawn(spec, name)}.map({name})\n"
    model = spec.data_models[name]
    fields = ", ".join(f"{field.name}={_field(spec, field)}" for field in model.fields)
    return f"{header}{'fitting(' if model.invariants else 'st.builds('}{name}, {fields})\n"


def _drawn(spec: Spec, name: str) -> str:
    """Return a newtype's values before they are wrapped: its own constraints and those of the newtypes below it."""
    constraints: list[str] = []
    base = parse_type(name)
    while base.name in spec.newtypes:
        constraints += spec.newtypes[base.name].constraints
        base = parse_type(spec.newtypes[base.name].base)
    return strategy(spec, base, tuple(constraints), prefix="")


def _field(spec: Spec, field: DataField) -> str:
    kind = parse_type(field.type)
    if not field.constraints or kind.name not in spec.newtypes:
        return strategy(spec, kind, tuple(field.constraints), prefix="")
    tests = [c for c in field.constraints if c not in ("unique", "immutable")]
    if not tests:
        return strategy(spec, kind, prefix="")
    wanted = " and ".join(text for text, _ in conditions(tests, "value"))
    return f"{strategy(spec, kind, prefix='')}.filter(lambda value: {wanted})"
