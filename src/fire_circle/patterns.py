"""From what single seats claim to the patterns of a circle (FC16 to FC19)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from fire_circle.results import (
    UNCLASSIFIED,
    DialogueRound,
    Example,
    NeutrosophicEvaluation,
    PatternClaim,
    PatternObservation,
)

LEAST_SEATS = 2
"""One seat's pattern is an opinion, whatever share of the circle it is."""

_SIMILAR = 0.4
_WORD = re.compile(r"\w{4,}")


@dataclass(frozen=True, slots=True)
class Sighting:
    """One verified pattern, seen by one seat in one round. ``key`` is its type, or its cluster."""

    key: str
    round_number: int
    model: str
    seat: int
    claim: PatternClaim
    chair: bool


def sightings(history: Iterable[DialogueRound], active_models: Collection[str] | None = None) -> list[Sighting]:
    """Return all verified patterns of the seats in ``active_models`` (of all seats without it), rounds in order.

    Within a round they are ordered by what was said, not by who said it: seats may be permuted.
    """
    claims: list[tuple[NeutrosophicEvaluation, PatternClaim]] = [
        (evaluation, claim)
        for dialogue_round in history
        for evaluation in dialogue_round.evaluations
        if active_models is None or evaluation.model in active_models
        for claim in evaluation.claims
        if claim.verified
    ]
    claims.sort(key=lambda pair: (pair[0].round_number, pair[1].description, pair[1].quote, pair[0].seat))
    clusters = _Clusters()
    return [
        Sighting(key, evaluation.round_number, evaluation.model, evaluation.seat, claim, evaluation.empty_chair)
        for evaluation, claim in claims
        for key in ([kind.value for kind in claim.types] or [clusters.key(claim.description)])
    ]


class _Clusters:
    """Unclassified descriptions, grouped by the words they share (Jaccard index of words of 4 letters or more)."""

    def __init__(self) -> None:
        self._members: list[list[frozenset[str]]] = []

    def key(self, description: str) -> str:
        words = frozenset(_WORD.findall(description.lower()))
        for number, members in enumerate(self._members, start=1):
            if any(_jaccard(words, member) >= _SIMILAR for member in members):
                members.append(words)
                return f"{UNCLASSIFIED}:{number}"
        self._members.append([words])
        return f"{UNCLASSIFIED}:{len(self._members)}"


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    together = one | other
    return len(one & other) / len(together) if together else 1.0


def extract_patterns(
    dialogue_history: Sequence[DialogueRound], active_models: Collection[str], threshold: float = 0.5
) -> list[PatternObservation]:
    """Return the patterns that enough active seats saw, most agreed first (FC19).

    Agreement is distinct active seats over active seats; it has to reach ``threshold`` (0.0 to 1.0) and two seats.
    The specification counts mentions as they are; here a mention without a verified quote counts for nothing, and
    two unclassified descriptions agree only where they say alike.
    """
    grouped: dict[str, list[Sighting]] = {}
    for sighting in sightings(dialogue_history, active_models):
        grouped.setdefault(sighting.key, []).append(sighting)
    patterns = [_observation(key, seen, dialogue_history, active_models) for key, seen in grouped.items()]
    agreed = [
        pattern
        for pattern in patterns
        if len(pattern.models_observing) >= LEAST_SEATS and pattern.model_agreement >= threshold
    ]
    return sorted(agreed, key=lambda p: (-p.model_agreement, p.observed_in_round, p.pattern_type, p.description))


def _observation(
    key: str, seen: list[Sighting], history: Sequence[DialogueRound], active_models: Collection[str]
) -> PatternObservation:
    seats = {sighting.seat: sighting.model for sighting in seen}
    last_said = {sighting.seat: sighting.round_number for sighting in seen}
    located = {(s.claim.span, s.claim.quote): s.claim for s in seen}
    examples = [Example(quote=c.quote, span=c.span) for c in located.values() if c.span is not None]
    return PatternObservation(
        pattern_type=key.partition(":")[0],
        description=seen[0].claim.description,
        model_agreement=len(seats) / len(active_models),
        examples=tuple(dict.fromkeys(example.quote for example in examples)),
        observed_in_round=seen[0].round_number,
        models_observing=tuple(seats[seat] for seat in sorted(seats)),
        located=tuple(examples),
        retracted_by=tuple(
            seats[seat] for seat in sorted(seats) if _spoke_after(seats[seat], last_said[seat], history)
        ),
    )


def _spoke_after(model: str, round_number: int, history: Sequence[DialogueRound]) -> bool:
    return any(
        evaluation.model == model
        for dialogue_round in history
        if dialogue_round.round_number > round_number
        for evaluation in dialogue_round.evaluations
    )
