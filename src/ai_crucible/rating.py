"""How hard tasks are, from attempts: a rating of each task against the models that tried it (Rasch's model).

The chance that a model passes a task is logistic in the difference of their ratings; 1500 is the mean of the models
that tried. How far tasks lie apart is not assumed: each of several spreads is fitted, and weighs as much as the
attempts speak for it. So the interval of a task that all or none pass is as wide as what the others tell of it,
and such tasks are marked. Tasks and models meet only in attempts, so a fit costs tasks x models squared.
Sources: G. Rasch, 'Probabilistic Models for Some Intelligence and Attainment Tests', 1960, on the scale of Elo's
ratings for chess; L. Tierney and J. Kadane, JASA 81 (1986), for the weights (Laplace's approximation).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import exp, log, log1p, sqrt
from typing import Literal, TypeAlias

Spread: TypeAlias = Literal["all pass", "none pass", ""]
_CENTRE = 1500.0
_STEP = 400.0 / log(10.0)
"""Points on the scale for each unit of log odds."""
_SPREADS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
"""Standard deviations of tasks' levels, in log odds."""
_LOOSE = 1.0 / 10.0**2
"""Precision of the models' levels: next to nothing is assumed of them."""
_SWEEPS = 60
_GRID = 81
_TAILS = (0.025, 0.5, 0.975)

_Cell: TypeAlias = tuple[int, int, int]
"""A model's place, its attempts that passed, and those that did not."""


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


@dataclass(frozen=True, slots=True)
class _Fit:
    """The most likely levels under one spread of tasks, and how much the attempts speak for that spread."""

    precision: float
    tasks: list[float]
    models: list[float]
    covariance: list[list[float]]
    """Of the models' levels, with the tasks' own uncertainty in it."""
    evidence: float


def ratings(attempts: Iterable[tuple[str, str, bool]]) -> dict[str, Rating]:
    """Rate tasks.

    Args:
        attempts: task, model and whether it passed, for every graded attempt.

    Returns:
        By task, those that were attempted.
    """
    counts = Counter(attempts)
    models = {name: place for place, name in enumerate(sorted({model for _, model, _ in counts}))}
    table: dict[str, list[_Cell]] = {}
    for task, model in sorted({(task, model) for task, model, _ in counts}):
        cell = models[model], counts[task, model, True], counts[task, model, False]
        table.setdefault(task, []).append(cell)
    cells = list(table.values())
    fits = [_fit(cells, len(models), spread) for spread in _SPREADS] if cells else []
    best = max((fit.evidence for fit in fits), default=0.0)
    weights = [exp(fit.evidence - best) for fit in fits]
    rated: dict[str, Rating] = {}
    for place, (task, own) in enumerate(table.items()):
        passed, failed = sum(cell[1] for cell in own), sum(cell[2] for cell in own)
        low, value, high = _quantiles(own, place, fits, weights)
        spread: Spread = "" if passed and failed else "all pass" if passed else "none pass"
        rated[task] = Rating(value, low, high, passed + failed, spread)
    return rated


def _fit(cells: Sequence[list[_Cell]], models: int, spread: float) -> _Fit:
    """Find the mode of the posterior by Newton's method, and Laplace's approximation of the evidence there."""
    precision = 1.0 / spread**2
    tasks, levels = [0.0] * len(cells), [0.0] * models
    for _ in range(_SWEEPS):
        pull, slopes, diagonal, ties, schur = _curvature(cells, tasks, levels, precision)
        right = list(pull)
        for slope, own, row in zip(slopes, diagonal, ties, strict=True):
            for model, weight in row:
                right[model] += weight * slope / own
        steps = [sum(a * b for a, b in zip(line, right, strict=True)) for line in _inverse(schur)[0]]
        moves = [
            (slope + sum(weight * steps[model] for model, weight in row)) / own
            for slope, own, row in zip(slopes, diagonal, ties, strict=True)
        ]
        # A step of more than a few log odds overshoots where the curve is flat.
        reach = min(1.0, 3.0 / max(1e-12, *map(abs, steps), *map(abs, moves)))
        levels = [level + reach * step for level, step in zip(levels, steps, strict=True)]
        tasks = [level + reach * move for level, move in zip(tasks, moves, strict=True)]
        if max(map(abs, (*steps, *moves))) < 1e-8:
            break
    _, _, diagonal, _, schur = _curvature(cells, tasks, levels, precision)
    covariance, volume = _inverse(schur)
    likely = sum(_log_chance(own, task, levels) for own, task in zip(cells, tasks, strict=True))
    prior = sum(log(precision) - precision * task**2 for task in tasks) - _LOOSE * sum(v * v for v in levels)
    return _Fit(precision, tasks, levels, covariance, likely + (prior - sum(map(log, diagonal)) - volume) / 2)


def _curvature(
    cells: Sequence[list[_Cell]], tasks: list[float], levels: list[float], precision: float
) -> tuple[list[float], list[float], list[float], list[list[tuple[int, float]]], list[list[float]]]:
    """Return slopes of models and tasks, the tasks' curvature, what ties them to models, and the models' share."""
    pull = [-_LOOSE * level for level in levels]
    slopes, diagonal = [-precision * task for task in tasks], [precision] * len(tasks)
    ties: list[list[tuple[int, float]]] = []
    schur = [[_LOOSE * (row == column) for column in range(len(levels))] for row in range(len(levels))]
    for place, own in enumerate(cells):
        row: list[tuple[int, float]] = []
        for model, passed, failed in own:
            chance = _chance(levels[model] - tasks[place])
            surplus, weight = passed - (passed + failed) * chance, (passed + failed) * chance * (1.0 - chance)
            pull[model] += surplus
            slopes[place] -= surplus
            diagonal[place] += weight
            schur[model][model] += weight
            row.append((model, weight))
        for model, weight in row:
            for other, beside in row:
                schur[model][other] -= weight * beside / diagonal[place]
        ties.append(row)
    return pull, slopes, diagonal, ties, schur


def _quantiles(own: list[_Cell], place: int, fits: list[_Fit], weights: list[float]) -> tuple[float, ...]:
    """Return the tails and the median of a task's rating, over all fits and all levels of the models."""
    masses: list[tuple[float, float]] = []
    for fit, weight in zip(fits, weights, strict=True):
        if weight < 1e-6:
            continue
        middle = sum(fit.models) / len(fit.models)
        width = sqrt(1.0 / (fit.precision + _information(own, fit, place)))
        points = [fit.tasks[place] + width * 6.0 * (2.0 * step / (_GRID - 1) - 1.0) for step in range(_GRID)]
        heights = [_log_chance(own, x, fit.models) - fit.precision * x * x / 2 for x in points]
        top = max(heights)
        shares = [exp(height - top) for height in heights]
        scale = weight / sum(shares)
        for off, part in _about(_sway(own, fit, place)):
            masses += [(x - middle + off, share * scale * part) for x, share in zip(points, shares, strict=True)]
    masses.sort()
    sums = list(accumulate(mass for _, mass in masses))
    found = (next(i for i, total in enumerate(sums) if total >= tail * sums[-1]) for tail in _TAILS)
    return tuple(_CENTRE + _STEP * masses[i][0] for i in found)


def _information(own: list[_Cell], fit: _Fit, place: int) -> float:
    chances = ((_chance(fit.models[model] - fit.tasks[place]), n + m) for model, n, m in own)
    return sum(tries * chance * (1.0 - chance) for chance, tries in chances)


def _sway(own: list[_Cell], fit: _Fit, place: int) -> float:
    """Return how far the models' own uncertainty moves the task against their mean, a standard deviation."""
    whole = fit.precision + _information(own, fit, place)
    moves = [-1.0 / len(fit.models)] * len(fit.models)
    for model, passed, failed in own:
        chance = _chance(fit.models[model] - fit.tasks[place])
        moves[model] += (passed + failed) * chance * (1.0 - chance) / whole
    rows = (
        (a, sum(b * c for b, c in zip(moves, line, strict=True)))
        for a, line in zip(moves, fit.covariance, strict=True)
    )
    return sqrt(max(0.0, sum(a * b for a, b in rows)))


def _about(deviation: float) -> list[tuple[float, float]]:
    """Return five points and weights that stand for a normal distribution (Gauss and Hermite)."""
    near, far = deviation * 1.3556261799742657, deviation * 2.8569700138728056
    return [
        (0.0, 8 / 15),
        *((s * near, 0.2220759220056126) for s in (-1, 1)),
        *((s * far, 0.0112574113277207) for s in (-1, 1)),
    ]


def _log_chance(own: list[_Cell], task: float, levels: list[float]) -> float:
    return -sum(
        passed * _softplus(task - levels[model]) + failed * _softplus(levels[model] - task)
        for model, passed, failed in own
    )


def _softplus(x: float) -> float:
    return max(x, 0.0) + log1p(exp(-abs(x)))


def _chance(x: float) -> float:
    return exp(-_softplus(-x))


def _inverse(matrix: list[list[float]]) -> tuple[list[list[float]], float]:
    """Invert a positive definite matrix by elimination; beside it the logarithm of its determinant."""
    size, volume = len(matrix), 0.0
    rows = [[*row, *(float(place == number) for place in range(size))] for number, row in enumerate(matrix)]
    for pivot in range(size):
        head = rows[pivot][pivot]
        volume += log(head)
        rows[pivot] = [value / head for value in rows[pivot]]
        for number in range(size):
            factor = rows[number][pivot]
            if number != pivot and factor:
                rows[number] = [a - factor * b for a, b in zip(rows[number], rows[pivot], strict=True)]
    return [row[size:] for row in rows], volume
