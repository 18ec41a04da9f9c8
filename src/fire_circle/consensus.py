"""The verdict: the highest F of any active seat in any round, whole (FC2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from math import sqrt

from fire_circle.results import (
    ALARM,
    ANSWERED,
    Abstention,
    DialogueRound,
    FailureRecord,
    HistoryClaim,
    HistoryStatus,
    NeutrosophicEvaluation,
    RoundMetrics,
    evaluations_of,
)


def consensus_of(dialogue_history: Sequence[DialogueRound], active_models: Collection[str]) -> NeutrosophicEvaluation:
    """Return the evaluation with the highest F over all rounds and the seats in ``active_models`` (FC2).

    Ties go to the latest round, then to seat order. The whole evaluation is returned, never a mixture of several.

    Raises:
        ValueError: nobody votes.
    """
    voting = [evaluation for evaluation in evaluations_of(dialogue_history) if evaluation.model in active_models]
    if not voting:
        raise ValueError("no active seat has an evaluation: there is no consensus")
    return max(voting, key=lambda e: (e.falsehood, e.round_number, -e.seat))


def active_models_of(dialogue_history: Sequence[DialogueRound]) -> tuple[str, ...]:
    """Return the seats with a valid answer in the last executed round, in seat order (FC3)."""
    if not dialogue_history:
        return ()
    return tuple(evaluation.model for evaluation in dialogue_history[-1].evaluations)


def voting_models(
    dialogue_history: Sequence[DialogueRound], failures: Iterable[FailureRecord], abstentions: Iterable[Abstention]
) -> frozenset[str]:
    """Return whose evaluations count: the active seats, and those that answered later, but without a score (FC3).

    A refusal or an abstention takes nothing back. A seat that no longer answers has no vote, as specified.
    """
    silent = {failure.model for failure in failures if failure.kind in ANSWERED}
    return frozenset(active_models_of(dialogue_history)) | silent | {entry.model for entry in abstentions}


def silenced_alarms(
    dialogue_history: Sequence[DialogueRound], failures: Iterable[FailureRecord], abstentions: Iterable[Abstention]
) -> dict[str, str]:
    """Return the seats that raised the alarm and fell silent, each with what happened, in a few words."""
    alarms = {e.model: e for e in evaluations_of(dialogue_history) if max(e.falsehood, e.given_up or 0.0) >= ALARM}
    ends = {e.model: f"abstained in round {e.round}" for e in abstentions}
    ends |= {failure.model: f"{failure.kind} in round {failure.round}" for failure in failures}
    last = active_models_of(dialogue_history)
    silenced = {model: ends[model] for model in alarms if model not in last and model in ends}
    for model, entry in alarms.items():
        if model in last and entry.given_up is not None and entry.falsehood < ALARM:
            silenced[model] = f"F {entry.falsehood:g} when asked whether it meant {entry.given_up:g}"
    return silenced


_GRAVE: tuple[HistoryStatus, ...] = ("unverifiable", "possible", "unsupported", "impossible")


def history_claims(evaluations: Iterable[NeutrosophicEvaluation]) -> tuple[HistoryClaim, ...]:
    """Return the claims about earlier turns that seats named, in order; of those about one place what most say.

    Where as many say one thing as another, the graver one holds.
    """
    places: list[list[HistoryClaim]] = []
    named = (claim for evaluation in evaluations for claim in evaluation.history)
    for claim in sorted(named, key=lambda c: (c.span.layer, c.span.start, c.span.end)):
        before = places[-1] if places else []
        if any(one.span.layer == claim.span.layer and claim.span.start < one.span.end for one in before):
            before.append(claim)
        else:
            places.append([claim])
    held: list[HistoryClaim] = []
    for said in places:
        counted = Counter(claim.status for claim in said)
        held.append(max(said, key=lambda c: (counted[c.status], _GRAVE.index(c.status))))
    return tuple(held)


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


def metrics_of(dialogue_round: DialogueRound, previous: DialogueRound | None, chair_influence: float) -> RoundMetrics:
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
