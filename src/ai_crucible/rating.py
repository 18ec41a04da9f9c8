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
from collections.abc import Iterable
from importlib import import_module
from math import log
from typing import Any, Literal, TypeAlias

from llm_runtime.structs import Struct

np: Any = import_module("numpy")
Spread: TypeAlias = Literal["all pass", "none pass", ""]
_Array: TypeAlias = Any
"""Of numpy, whose types say little."""
_CENTRE = 1500.0
_STEP = 400.0 / log(10.0)
"""Points on the scale for each unit of log odds."""
_SPREADS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
"""Standard deviations of tasks' levels, in log odds."""
_LOOSE = 1.0 / 10.0**2
"""Precision of the models' levels: next to nothing is assumed of them."""
_SWEEPS = 60
_GRID = np.linspace(-6.0, 6.0, 81)
_TAILS = (0.025, 0.5, 0.975)
_NORMAL = np.polynomial.hermite_e.hermegauss(5)
"""Five points and weights that stand for a normal distribution (Gauss and Hermite)."""


class Rating(Struct):
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


class _Fit(Struct):
    """Where tasks may lie against the models' mean, under one spread of tasks.

    ``places`` and ``masses`` have a row a task; ``evidence`` is how much the attempts speak for the spread.
    """

    places: _Array
    masses: _Array
    evidence: float


def ratings(attempts: Iterable[tuple[str, str, bool]]) -> dict[str, Rating]:
    """Rate tasks.

    Args:
        attempts: task, model and whether it passed, for every graded attempt.

    Returns:
        By task, those that were attempted.
    """
    counts = Counter(attempts)
    tasks, models = (sorted({key[part] for key in counts}) for part in (0, 1))
    if not tasks:
        return {}
    passed, failed = (
        np.array([[counts[str(task), str(model), good] for model in models] for task in tasks], float)
        for good in (True, False)
    )
    fits = [_fit(passed, failed, 1.0 / spread**2) for spread in _SPREADS]
    best = max(fit.evidence for fit in fits)
    places = np.hstack([fit.places for fit in fits])
    masses = np.hstack([fit.masses * np.exp(fit.evidence - best) for fit in fits])
    rated: dict[str, Rating] = {}
    for task, place, mass, won, lost in zip(tasks, places, masses, passed.sum(1), failed.sum(1), strict=True):
        order = np.argsort(place)
        sums = np.cumsum(mass[order])
        ends = np.searchsorted(sums, np.array(_TAILS) * sums[-1])
        low, value, high = (_CENTRE + _STEP * float(place[order[end]]) for end in ends)
        spread: Spread = "" if won and lost else "all pass" if won else "none pass"
        rated[str(task)] = Rating(value, low, high, int(won + lost), spread)
    return rated


def _fit(passed: _Array, failed: _Array, precision: float) -> _Fit:
    """Find the mode of the posterior by Newton's method, and where each task may lie about it."""
    tries = passed + failed
    tasks = np.zeros(len(passed))
    models = np.zeros(passed.shape[1])
    weight, own, schur = tries, tasks, tries
    for _ in range(_SWEEPS):
        chance = 1.0 / (1.0 + np.exp(tasks[:, None] - models))
        surplus, weight = passed - tries * chance, tries * chance * (1.0 - chance)
        slope, own = -precision * tasks - surplus.sum(1), precision + weight.sum(1)
        schur = np.diag(_LOOSE + weight.sum(0)) - weight.T @ (weight / own[:, None])
        step = np.linalg.solve(schur, surplus.sum(0) - _LOOSE * models + weight.T @ (slope / own))
        move = (slope + weight @ step) / own
        farthest = max(np.abs(step).max(), np.abs(move).max())
        # A step of more than a few log odds overshoots where the curve is flat.
        reach = 1.0 if farthest < 3.0 else 3.0 / farthest
        tasks, models = tasks + reach * move, models + reach * step
        if farthest < 1e-8:
            break
    # The models' own uncertainty moves a task against their mean; the rest is the task's own, on a grid.
    moves = weight / own[:, None] - 1.0 / len(models)
    sway = np.sqrt(np.einsum("tm,mn,tn->t", moves, np.linalg.inv(schur), moves))
    grid = tasks[:, None] + _GRID / np.sqrt(own)[:, None]
    heights = _log_chance(passed, failed, grid, models) - precision * grid**2 / 2
    masses = np.exp(heights - heights.max(1, keepdims=True))
    masses /= masses.sum(1, keepdims=True)
    places = grid[:, :, None] - models.mean() + sway[:, None, None] * _NORMAL[0]
    likely = _log_chance(passed, failed, tasks[:, None], models).sum()
    volume = np.log(own).sum() + np.linalg.slogdet(schur)[1]
    prior = len(tasks) * log(precision) - precision * (tasks**2).sum() - _LOOSE * (models**2).sum()
    flat = (masses[:, :, None] * _NORMAL[1]).reshape(len(tasks), -1)
    return _Fit(places.reshape(len(tasks), -1), flat, float(likely + (prior - volume) / 2))


def _log_chance(passed: _Array, failed: _Array, grid: _Array, models: _Array) -> _Array:
    """Return how likely a task's attempts are, at each of its places on the grid."""
    apart = grid[:, :, None] - models
    return -(passed[:, None] * np.logaddexp(0, apart) + failed[:, None] * np.logaddexp(0, -apart)).sum(2)
