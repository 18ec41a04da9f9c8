"""What every language needs to know of a specification's values: what they are made of, and within what bounds."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache

from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef, parse_type
from llm_runtime.structs import Struct


class Bounds(Struct):
    """What constraints say of a number, and of a length.

    Args:
        low, high: inclusive; ``positive`` is kept apart for numbers with a point.
        shortest, longest: of a text or collection.
    """

    low: int | None = None
    high: int | None = None
    shortest: int = 0
    longest: int | None = None
    positive: bool = False


@lru_cache(maxsize=512)
def bounds(constraints: tuple[str, ...]) -> Bounds:
    """Return the bounds that constraints come to together."""
    named = [(name, int(rest.rstrip(")") or 0)) for name, _, rest in (c.partition("(") for c in constraints)]

    def told(*names: str) -> list[int]:
        return [number for name, number in named if name in names]

    shortest = [*told("min_length"), *(1 for name, _ in named if name == "non_empty")]
    low, high, longest = told("min", "non_negative"), told("max"), told("max_length")
    return Bounds(
        max(low, default=None), min(high, default=None), max(shortest, default=0), min(longest, default=None),
        "positive" in constraints,
    )  # fmt: skip


def in_order(spec: Spec) -> list[str]:
    """Named types so that a newtype stands after those it is made from, and records come last."""
    order: list[str] = [*spec.enums, *spec.errors]
    waiting = dict(spec.newtypes)
    while waiting:
        ready = [n for n, new in waiting.items() if not set(parse_type(new.base).names()) & (waiting.keys() - {n})]
        order += ready
        for name in ready:
            del waiting[name]
    return [*order, *spec.data_models]


def fields_of(spec: Spec, name: str) -> list[tuple[str, TypeRef]]:
    """Return a record's fields with their types."""
    return [(f.name, parse_type(f.type)) for f in spec.data_models[name].fields]


def types_needed(spec: Spec, kinds: Sequence[TypeRef]) -> list[str]:
    """Return the named types that types are made of, in order."""
    names = reached(spec, (name for kind in kinds for name in kind.names()))
    return [name for name in in_order(spec) if name in names]


def reached(spec: Spec, names: Iterable[str], seen: Collection[str] = ()) -> set[str]:
    """Return the named types among names and all that they are made of.

    Args:
        seen: named types that are in the result too, and are not looked into.
    """
    known, result = spec.named_types(), set(seen)
    queue = list(names)
    while queue:
        name = queue.pop()
        if name not in known or name in result:
            continue
        result.add(name)
        if name in spec.newtypes:
            queue += parse_type(spec.newtypes[name].base).names()
        elif name in spec.data_models:
            queue += [n for field in spec.data_models[name].fields for n in parse_type(field.type).names()]
    return result


def root(spec: Spec, kind: TypeRef) -> TypeRef:
    """Return what a type comes down to through newtypes."""
    while kind.name in spec.newtypes:
        kind = parse_type(spec.newtypes[kind.name].base)
    return kind


def constraints_of(spec: Spec, name: str) -> list[str]:
    """Return the constraints of a newtype and of those below it."""
    constraints: list[str] = []
    while name in spec.newtypes:
        constraints += spec.newtypes[name].constraints
        name = spec.newtypes[name].base.partition("<")[0].strip()
    return constraints


def every_type(spec: Spec) -> Iterator[TypeRef]:
    """Yield every type that the specification writes down, outermost first."""
    for new in spec.newtypes.values():
        yield parse_type(new.base)
    for model in spec.data_models.values():
        yield from (parse_type(field.type) for field in model.fields)


def signature_types(spec: Spec) -> Iterator[TypeRef]:
    """Yield every type in the signatures of the interfaces."""
    for _, _, parameters, result in spec.methods():
        yield from (*(p.type for p in parameters), result)
