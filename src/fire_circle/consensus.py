"""The verdict: the highest F of any active seat in any round, whole (sections 2.2 and 5.3; decision 2)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import sqrt

from fire_circle.results import DialogueRound, NeutrosophicEvaluation, RoundMetrics


def consensus_of(
    dialogue_history: Sequence[DialogueRound], active_models: Collection[str]
) -> NeutrosophicEvaluation:
    """The evaluation with the highest F over all rounds and active seats.

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
    """Who votes: the seats with a valid answer in the last executed round, in seat order (decision 3)."""
    if not dialogue_history:
        return ()
    return tuple(evaluation.model for evaluation in dialogue_history[-1].evaluations)


def mean(values: Sequence[float]) -> float | None:
    """``None`` of nothing."""
    return sum(values) / len(values) if values else None


def stddev(values: Sequence[float]) -> float | None:
    """The population standard deviation; ``None`` of fewer than two values (decision 10)."""
    if len(values) < 2:
        return None
    middle = sum(values) / len(values)
    return sqrt(sum((value - middle) ** 2 for value in values) / len(values))


def falsehoods(dialogue_round: DialogueRound) -> list[float]:
    """F of each evaluation of a round, in seat order."""
    return [evaluation.falsehood for evaluation in dialogue_round.evaluations]


def metrics_of(
    dialogue_round: DialogueRound, previous: DialogueRound | None, chair_influence: float
) -> RoundMetrics:
    """The statistics of one round; whatever cannot be computed is ``None``, never 0."""
    spread = dialogue_round.convergence_metric
    before = previous.convergence_metric if previous else None
    return RoundMetrics(
        round_number=dialogue_round.round_number,
        f_score_mean=mean(falsehoods(dialogue_round)),
        f_score_stddev=spread,
        convergence_delta=None if spread is None or before is None else spread - before,
        empty_chair_influence=chair_influence,
    )
