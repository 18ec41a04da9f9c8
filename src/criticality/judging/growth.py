"""COMPLEXITY: the work of a call at growing sizes, on the shape of input on which it is worst."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from criticality.judging.sequences import WAYS
from criticality.judging.shapes import SEQUENCES, size_of
from criticality.judging.values import Values
from criticality.spec.claims import StructuredClaim
from criticality.spec.types import Param

#: The power of n that each class comes to between the largest sizes; exponential growth is not measured.
DEGREES = {"1": 0.0, "log n": 0.0, "n": 1.0, "n log n": 1.19, "n^2": 2.0, "n^3": 3.0}
_PROMISED = re.compile(r"O\((1|log n|n|n log n|n\^2|n\^3)\)")
_OF = re.compile(r" where n = (?:len\((\w+)\)|(\w+))")
#: Ways of an input that are followed to the largest size: those in which the work grows most.
_STEEPEST = 2
#: As many steps as an interpreter counts.
MOST_STEPS = 2_000_000
#: Sizes, how much more than the class's power is allowed, and the work that is cut short, by what is counted.
SCALES = {
    "steps": ((16, 64, 256, 512), 0.3, float(MOST_STEPS)),
    "nanoseconds": ((64, 256, 1024, 4096, 16_384), 0.5, math.inf),
}
#: Work of a call with some arguments: 0 where it ends in an error, ``None`` where it does not end.
Measure = Callable[[tuple[Any, ...]], int | None]
#: Arguments of a size, by how items follow each other in them; ``None`` where there are none.
Grown = Callable[[str, int], tuple[Any, ...] | None]


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


def fault(at: Sequence[int], grown: Grown, measure: Measure, degree: float, counted: str) -> str | None:
    """Return how the work grows where it grows faster than promised on inputs of any kind; empty where on none.

    Each way in which items may follow each other is looked at between two sizes. Those in which the work grows most,
    and the one in which it is most, are followed to the largest.

    Args:
        at: which arguments n counts.

    Returns:
        ``None`` where inputs of the sizes cannot be made, or two come out at less than half: it is not measured.
    """
    most, more, cut = SCALES[counted]
    sizes = [size >> (degree >= 2) for size in most]
    look = partial(_points, at, grown, measure, cut)
    looked = {way: points for way in WAYS if (points := look(way, sizes[1:3]))}
    followed = sorted(looked, key=lambda way: _power(looked[way], cut))[-_STEEPEST:]
    followed += sorted(looked, key=lambda way: looked[way][-1][1])[-1:]
    found = [_grown(look(way, sizes), cut, len(sizes)) for way in dict.fromkeys(followed)]
    power, shown = max((one for one in found if one is not None), default=(None, ""))
    if power is None:
        return None
    return f"the work grows as n^{power:.2f} ({shown})" if power > degree + more else ""


def _points(
    at: Sequence[int], grown: Grown, measure: Measure, cut: float, way: str, sizes: Sequence[int]
) -> list[tuple[int, float]]:
    """Return what inputs of some sizes really held, and the work that they took; without end it is the last."""
    points: list[tuple[int, float]] = [(0, 0.0)]
    for size in sizes:
        args = grown(way, size)
        work = 0 if args is None else measure(args)
        if args is None or work == 0:
            continue
        held = min(size_of(args[number]) for number in at)
        if held > points[-1][0]:
            points.append((held, work or math.inf))
        if (work or math.inf) >= cut:
            break
    return points[1:]


def _grown(points: Sequence[tuple[int, float]], cut: float, sizes: int) -> tuple[float, str] | None:
    """Return the power of n by which the work grows at last, and how; ``None`` where too few sizes were measured."""
    # Cut short, it would look as if the growth slowed down.
    whole = [(size, work) for size, work in points if not cut <= work < math.inf]
    if len(whole) < 2 or (whole == list(points) and len(points) < sizes - 1):
        return None
    shown = ", ".join(f"n = {size}: {work}" for size, work in points).replace("inf", "no end")
    return min(_power(whole[-2:], cut), _power(whole[-3:], cut)), shown


def _power(points: Sequence[tuple[int, float]], cut: float) -> float:
    """Return the power of n by which the work grows from the first of some sizes to the last; of one -1, or no end."""
    (small, few), (large, many) = points[0], points[-1]
    if large == small:
        return math.inf if many >= cut else -1.0
    return math.log(many / few) / math.log(large / small)
