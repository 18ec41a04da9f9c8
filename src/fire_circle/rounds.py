"""The plan of a dialogue: how many rounds, what each is, when it ends (FC9, FC10)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from fire_circle.config import CircleSize, FireCircleConfig
from fire_circle.seats import Seat
from llm_runtime.structs import Struct

Phase: TypeAlias = Literal["baseline", "discussion", "synthesis"]

DIVERGENT = 0.3
"""A LARGE circle whose third round has a larger stddev(F) than this talks once more."""


class RoundPlan(Struct):
    """One round that is about to begin."""

    number: int
    of: int
    phase: Phase
    seats: tuple[Seat, ...]
    chair: Seat | None

    @property
    def standing(self) -> str:
        """What a judge is told about the rounds to come."""
        if self.number == self.of:
            return "This is the last round: there is no later chance to refine your assessment."
        if self.number == 3:
            return "It is the last round unless the circle still disagrees; answer as if it were."
        return "Another round may follow."


def phase_of(number: int) -> Phase:
    """Return baseline for round 1, discussion for round 2, synthesis for each later one."""
    if number == 1:
        return "baseline"
    return "discussion" if number == 2 else "synthesis"


def most_rounds(config: FireCircleConfig) -> int:
    """Return how many rounds there can be: a fourth only in a LARGE circle."""
    return min(config.max_rounds, 4 if config.size is CircleSize.LARGE else 3)


def goes_on(number: int, spread: float | None, config: FireCircleConfig) -> bool:
    """Tell whether a round follows round ``number`` by the plan; see :func:`converged` for the early stop."""
    if number >= most_rounds(config):
        return False
    return number < 3 or (spread is not None and spread > DIVERGENT)


def certain(number: int, falsehoods: Sequence[float], config: FireCircleConfig) -> bool:
    """Tell whether round 1 says enough by itself: every seat answered, and all on one side of what is in doubt."""
    if config.certain is None or number > 1 or len(falsehoods) < len(config.models):
        return False
    low, high = config.certain
    return max(falsehoods) < low or min(falsehoods) >= high


def converged(number: int, spread: float | None, config: FireCircleConfig) -> bool:
    """Tell whether the seats agree closely enough to stop: not before round 2, not with a single evaluation."""
    return number >= 2 and spread is not None and spread < config.early_stop_convergence
