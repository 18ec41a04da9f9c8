"""COMPLEXITY: the work of a call at growing sizes, on the shape of input on which it is worst."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from criticality.judging.clauses import Condition
from criticality.judging.sequences import WAYS
from criticality.judging.shapes import SEQUENCES, size_of
from criticality.judging.values import Values
from criticality.spec.claims import StructuredClaim
from criticality.spec.types import Param

#: The power of n that each class comes to between the largest sizes; exponential growth is not measured.
DEGREES = {"1": 0.0, "log n": 0.0, "n": 1.0, "n log n": 1.19, "n^2": 2.0, "n^3": 3.0}
_PROMISED = re.compile(r"O\((1|log n|n|n log n|n\^2|n\^3)\)")
_OF = re.compile(r" where n = (?:len\((\w+)\)|(\w+))")
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


def growing(params: Sequence[Param], values: Values, clause: str = "") -> list[int]:
    """Tell which arguments n counts: what the clause says, or all sequences and texts, or the only number."""
    wanted = _OF.search(clause)
    roots = [values.root(p.type).name for p in params]
    if wanted:
        return [at for at, p in enumerate(params) if p.name == (wanted[1] or wanted[2])]
    sequences = [at for at, root in enumerate(roots) if root in SEQUENCES]
    whole = [at for at, root in enumerate(roots) if root == "Int"]
    return sequences or (whole if len(whole) == 1 else [])


def fault(
    params: Sequence[Param],
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
    names = [params[number].name for number in at]
    shaped = ((way, values.grown(params, conditions, names, way, _SHAPED_AT)) for way in WAYS)
    works = {way: work for way, args in shaped if args is not None and (work := measure(args)) is not None}
    if not works:
        return None
    worst = max(works, key=works.__getitem__)
    points: list[tuple[int, int]] = []
    short = 0
    for size in sizes:
        args = values.grown(params, conditions, names, worst, size)
        if args is None:
            short += 1
            continue
        work = measure(args)
        if work is None:
            return f"the work has no end at n = {size}"
        if counted == "steps" and work >= MOST_STEPS:
            break  # cut short, it would look as if the growth slowed down
        held = min(size_of(args[number]) for number in at)
        short += held < size / 2
        if held > (points[-1][0] if points else 0):
            points.append((held, max(1, work)))
    if len(points) < 2 or short > 1:
        return None
    (small, few), (large, many) = points[-2:]
    power = math.log(many / few) / math.log(large / small)
    shown = ", ".join(f"n = {size}: {work}" for size, work in points)
    return f"the work grows as n^{power:.2f} ({shown})" if power > degree + more else ""
