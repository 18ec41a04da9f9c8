"""COMPLEXITY: the work of a call at growing sizes, on the shape of input on which it is worst."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from criticality.judging.repair import Condition, ordered, repaired
from criticality.judging.values import Values
from criticality.spec.claims import StructuredClaim
from criticality.spec.types import TypeRef

#: The power of n that each class comes to between the largest sizes; exponential growth is not measured.
DEGREES = {"1": 0.0, "log n": 0.0, "n": 1.0, "n log n": 1.19, "n^2": 2.0, "n^3": 3.0}
_PROMISED = re.compile(r"O\((1|log n|n|n log n|n\^2|n\^3)\)")
_OF = re.compile(r" where n = (?:len\((\w+)\)|(\w+))")
_SEQUENCES = ("List", "Set", "Map", "Text", "String")
_SHAPED_AT = 64
#: Sizes, and how much more than the class's power is allowed, by what is counted.
SCALES = {"steps": ((16, 64, 128, 256, 512), 0.3), "nanoseconds": ((256, 1024, 4096, 16_384), 0.5)}
#: As many steps as an interpreter counts.
MOST_STEPS = 2_000_000
#: Work of a call with some arguments; ``None`` where it does not end.
Measure = Callable[[tuple[Any, ...]], int | None]


def promised(claim: StructuredClaim, text: str, declared: Sequence[str]) -> str:
    """Return the class that a claim on performance names, or else the contract of a function of it."""
    named = _PROMISED.search(f"{text} {claim.predicate} {claim.scope}")
    return named[1] if named else next((each for each in declared if each in DEGREES), "")


def growing(kinds: Sequence[tuple[str, TypeRef]], values: Values, clause: str = "") -> list[int]:
    """Tell which arguments n counts: what the clause says, or all sequences and texts, or the only number."""
    wanted = _OF.search(clause)
    roots = [values.root(kind).name for _, kind in kinds]
    if wanted:
        return [at for at, (name, _) in enumerate(kinds) if name == (wanted[1] or wanted[2])]
    sequences = [at for at, root in enumerate(roots) if root in _SEQUENCES]
    whole = [at for at, root in enumerate(roots) if root == "Int"]
    return sequences or (whole if len(whole) == 1 else [])


def fault(
    kinds: Sequence[tuple[str, TypeRef]],
    at: Sequence[int],
    conditions: Sequence[Condition],
    values: Values,
    measure: Measure,
    degree: float,
    counted: str,
) -> str | None:
    """Return how the work grows where it grows faster than promised; empty where it does not.

    Returns:
        ``None`` where inputs of the sizes cannot be made, or two come out at less than half: it is not measured.
    """
    sizes, more = SCALES[counted]
    shapes = _shapes(kinds, at, conditions, values)
    worst: tuple[int, Callable[[int], tuple[Any, ...] | None]] | None = None
    for shape in shapes:
        args = shape(_SHAPED_AT)
        work = None if args is None else measure(args)
        if work is not None and (worst is None or work > worst[0]):
            worst = work, shape
    if worst is None:
        return None
    points: list[tuple[int, int]] = []
    short = 0
    for size in sizes:
        args = worst[1](size)
        if args is None:
            short += 1
            continue
        work = measure(args)
        if work is None:
            return f"the work has no end at n = {size}"
        if counted == "steps" and work >= MOST_STEPS:
            break  # cut short, it would look as if the growth slowed down
        held = _size(args, at)
        short += held < size / 2
        if held > (points[-1][0] if points else 0):
            points.append((held, max(1, work)))
    if len(points) < 2 or short > 1:
        return None
    (small, few), (large, many) = points[-2:]
    power = math.log(many / few) / math.log(large / small)
    shown = ", ".join(f"n = {size}: {work}" for size, work in points)
    return f"the work grows as n^{power:.2f} ({shown})" if power > degree + more else ""


def _size(args: tuple[Any, ...], at: Sequence[int]) -> int:
    """Return what n is in truth: of several arguments the smallest."""
    return min(args[number] if isinstance(args[number], int) else len(args[number]) for number in at)


def _shapes(
    kinds: Sequence[tuple[str, TypeRef]], at: Sequence[int], conditions: Sequence[Condition], values: Values
) -> Iterator[Callable[[int], tuple[Any, ...] | None]]:
    """Yield ways to make arguments of a size: distinct, ascending, descending, equal, stepped by 1, 3, 8, 4,096."""
    for name in ("distinct", "ascending", "descending", "equal", "one 1", "one 3", "one 8", "one 4096"):

        def shape(size: int, name: str = name) -> tuple[Any, ...] | None:
            args: list[Any] = []
            for number, (_, kind) in enumerate(kinds):
                small = values.small(kind)
                made = (
                    _sized(values, kind, size, name)
                    if number in at
                    else (small[len(small) // 2] if small else None)
                )
                if made is None:
                    return None
                args.append(made)
            held = dict(zip((n for n, _ in kinds), args, strict=True))
            fitted = repaired(held, dict(kinds), conditions, values)
            return None if fitted is None else tuple(fitted.values())

        yield shape


def _sized(values: Values, kind: TypeRef, size: int, shape: str) -> Any:
    root = values.root(kind)
    match root.name:
        case "Int":
            return values.witness(kind, size)
        case "Text" | "String":
            letters = {"equal": "a", "ascending": "abc", "descending": "ba", "one 1": "01", "one 3": "aab"}
            mixed = values.draw(root, size=size) if shape == "distinct" else letters.get(shape, "a b") * size
            return values.witness(kind, mixed[:size])
        case "Map":
            keys = _items(values, root.args[0], size, "distinct")
            pool = values.small(root.args[1])
            return values.witness(kind, dict.fromkeys(keys, pool[-1])) if pool and len(keys) == size else None
        case _:
            items = _items(values, root.args[0], size, shape)
            whole = frozenset(items) if root.name == "Set" else tuple(items)
            return values.witness(kind, whole) if len(items) >= size // 2 else None


def _items(values: Values, kind: TypeRef, size: int, shape: str) -> list[Any]:
    if shape.startswith("one"):
        return values.family(kind, size, shape)
    if shape == "equal":
        return [values.draw(kind)] * size
    items: dict[str, Any] = {}
    for _ in range(4 * size):
        item = values.draw(kind)
        if item is not None:
            items.setdefault(repr(item), item)
        if len(items) >= size:
            break
    made = list(items.values())
    if shape == "distinct":
        return made
    return ordered(made) if shape == "ascending" else ordered(made)[::-1]
