"""How hard tasks are, from attempts: a rating of each task and each model on one scale (Rasch's model).

The chance that a model passes a task is logistic in the difference of their ratings; 1500 is the mean of the models
that tried. A prior holds tasks that all or none pass to finite ratings; their intervals are wide, and they are
marked. Source: G. Rasch, 'Probabilistic Models for Some Intelligence and Attainment Tests', 1960, on the scale of
Elo's ratings for chess.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from math import exp, log, sqrt
from typing import Literal, TypeAlias

Spread: TypeAlias = Literal["all pass", "none pass", ""]
_CENTRE = 1500.0
_STEP = 400.0 / log(10.0)
"""Points on the scale for each unit of log odds."""
_PRIOR = 1.0 / 2.0**2
"""Precision of the prior, in log odds."""
_SWEEPS = 60
_TWO_SIDED = 1.959964


@dataclass(frozen=True, slots=True)
class Rating:
    """A task's difficulty.

    Args:
        value: points; 1500 is a task that a middling one of the models passes half of the time.
        low: lower end of the 95% interval.
        high: upper end.
        attempts: graded ones that it rests on.
        spread: ``all pass`` or ``none pass`` where attempts tell nothing apart, else empty.
    """

    value: float
    low: float
    high: float
    attempts: int
    spread: Spread


def ratings(attempts: Iterable[tuple[str, str, bool]]) -> dict[str, Rating]:
    """Rate tasks.

    Args:
        attempts: task, model and whether it passed, for every graded attempt.

    Returns:
        By task, those that were attempted.
    """
    counts = Counter(attempts)
    pairs = sorted({(task, model) for task, model, _ in counts})
    names = sorted({("task", task) for task, _ in pairs} | {("model", model) for _, model in pairs})
    place = {name: number for number, name in enumerate(names)}
    cells = [
        (place["task", task], place["model", model], counts[task, model, True], counts[task, model, False])
        for task, model in pairs
    ]
    levels = [0.0] * len(names)
    for _ in range(_SWEEPS):
        slope, curve = _slopes(cells, levels)
        inverse = _inverse(curve)
        steps = [sum(a * b for a, b in zip(row, slope, strict=True)) for row in inverse]
        levels = [level + step for level, step in zip(levels, steps, strict=True)]
        if max(map(abs, steps), default=0.0) < 1e-9:
            break
    variances = _inverse(_slopes(cells, levels)[1])
    share = -1.0 / max(1, sum(kind == "model" for kind, _ in names))
    rated: dict[str, Rating] = {}
    for kind, name in names:
        if kind == "model":
            continue
        # Against the models' mean: where the whole scale lies, attempts cannot tell.
        weights = [share if whose == "model" else float(which == name) for whose, which in names]
        value = _CENTRE + _STEP * sum(a * b for a, b in zip(weights, levels, strict=True))
        spreads = (
            a * sum(b * c for b, c in zip(weights, row, strict=True))
            for a, row in zip(weights, variances, strict=True)
        )
        reach = _STEP * _TWO_SIDED * sqrt(sum(spreads))
        passed = sum(count for (task, _, good), count in counts.items() if task == name and good)
        total = sum(count for (task, _, _), count in counts.items() if task == name)
        spread: Spread = "all pass" if passed == total else "" if passed else "none pass"
        rated[name] = Rating(value, value - reach, value + reach, total, spread)
    return rated


def _slopes(cells: list[tuple[int, int, int, int]], levels: list[float]) -> tuple[list[float], list[list[float]]]:
    """Return the gradient of the log posterior, and its curvature turned about."""
    size = len(levels)
    slope = [-_PRIOR * level for level in levels]
    curve = [[_PRIOR * (row == column) for column in range(size)] for row in range(size)]
    for task, model, passed, failed in cells:
        chance = 1.0 / (1.0 + exp(levels[task] - levels[model]))
        surplus = passed - (passed + failed) * chance
        weight = (passed + failed) * chance * (1.0 - chance)
        slope[model] += surplus
        slope[task] -= surplus
        curve[task][task] += weight
        curve[model][model] += weight
        curve[task][model] -= weight
        curve[model][task] -= weight
    return slope, curve


def _inverse(matrix: list[list[float]]) -> list[list[float]]:
    """Invert a positive definite matrix, by elimination."""
    size = len(matrix)
    rows = [[*row, *(float(place == number) for place in range(size))] for number, row in enumerate(matrix)]
    for pivot in range(size):
        head = rows[pivot][pivot]
        rows[pivot] = [value / head for value in rows[pivot]]
        for number in range(size):
            factor = rows[number][pivot]
            if number != pivot and factor:
                rows[number] = [a - factor * b for a, b in zip(rows[number], rows[pivot], strict=True)]
    return [row[size:] for row in rows]
