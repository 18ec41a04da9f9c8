"""The verdict: the highest F of any active seat in any round, whole (FC2)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import sqrt

from fire_circle.results import DialogueRound, NeutrosophicEvaluation, RoundMetrics


def consensus_of(
    dialogue_history: Sequence[DialogueRound], active_models: Collection[str]
) -> NeutrosophicEvaluation:
    """Return the evaluation with the highest F over all rounds and active seats (FC2).

    Ties go to the latest round, then to seat order. The whole evaluation is returned, never a mixture of several.

    Raises:
        ValueError: nobody votes.
    """
    voting = [
        evaluation
        for dialogue_round in dialogue_history
        for evaluation in dialogue_round.evaluations
        if evaluation.model in active_models
    ]
    if not voting:
        raise ValueError("no active seat has an evaluation: there is no consensus")
    return max(voting, key=lambda e: (e.falsehood, e.round_number, -e.seat))


def active_models_of(dialogue_history: Sequence[DialogueRound]) -> tuple[str, ...]:
    """Return who votes: the seats with a valid answer in the last executed round, in seat order (FC3)."""
    if not dialogue_history:
        return ()
    return tuple(evaluation.model for evaluation in dialogue_history[-1].evaluations)


def mean(values: Sequence[float]) -> float | None:
    """Return the arithmetic mean; ``None`` of nothing."""
    return sum(values) / len(values) if values else None


def stddev(values: Sequence[float]) -> float | None:
    """Return the population standard deviation; ``None`` of fewer than two values (FC10)."""
    if len(values) < 2:
        return None
    middle = sum(values) / len(values)
    return sqrt(sum((value - middle) ** 2 for value in values) / len(values))


def falsehoods(dialogue_round: DialogueRound) -> list[float]:
    """Return F of each evaluation of a round, in seat order."""
    return [evaluation.falsehood for evaluation in dialogue_round.evaluations]


def metrics_of(
    dialogue_round: DialogueRound, previous: DialogueRound | None, chair_influence: float
) -> RoundMetrics:
    """Return the statistics of one round; whatever cannot be computed is ``None``, never 0."""
    spread = dialogue_round.convergence_metric
    before = previous.convergence_metric if previous else None
    return RoundMetrics(
        round_number=dialogue_round.round_number,
        f_score_mean=mean(falsehoods(dialogue_round)),
        f_score_stddev=spread,
        convergence_delta=None if spread is None or before is None else spread - before,
        empty_chair_influence=chair_influence,
    )
