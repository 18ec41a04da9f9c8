"""From what single seats claim to the patterns of a circle (FC16 to FC19)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from fire_circle.results import (
    UNCLASSIFIED,
    DialogueRound,
    Example,
    NeutrosophicEvaluation,
    PatternClaim,
    PatternObservation,
    Place,
    evaluations_of,
)
from fire_circle.security import most_named
from llm_runtime.grouping import grouped
from llm_runtime.structs import Struct

LEAST_SEATS = 2
"""One seat's pattern is an opinion, whatever share of the circle it is."""


class Sighting(Struct):
    """One verified pattern, seen by one seat in one round. ``key`` is its type, or the place that it is about."""

    key: str
    round_number: int
    model: str
    seat: int
    claim: PatternClaim


class _Said(Struct):
    evaluation: NeutrosophicEvaluation
    claim: PatternClaim
    #: Claims that share a stretch of text, directly or through others, are about one place.
    place: int


def sightings(history: Iterable[DialogueRound], active_models: Collection[str] | None = None) -> list[Sighting]:
    """Return all verified patterns of the seats in ``active_models`` (of all seats without it), rounds in order.

    A kind that two seats name is a pattern, and whoever quotes the same place is with them, whatever they call it.
    Other claims agree where they quote the same place. Within a round they are ordered by what was said, not by who
    said it: seats may be permuted.
    """
    statements = _said(history, active_models)
    named = grouped((kind, entry.evaluation.seat) for entry in statements for kind in _kinds(entry.claim))
    agreed = {kind for kind, seats in named.items() if len(set(seats)) >= LEAST_SEATS}
    places = {place: [name] for place, name in _names_of_places(statements).items()}
    places |= grouped((entry.place, kind) for entry in statements for kind in _kinds(entry.claim) if kind in agreed)
    return [
        Sighting(key, entry.evaluation.round_number, entry.evaluation.model, entry.evaluation.seat, entry.claim)
        for entry in statements
        for key in [kind for kind in _kinds(entry.claim) if kind in agreed] or places[entry.place][:1]
    ]


def _kinds(claim: PatternClaim) -> list[str]:
    """Return the keys of the kinds that a claim names: a kind of attack where it names none of the eight."""
    return [kind.value for kind in claim.types] or [f"{UNCLASSIFIED}:{kind.value}" for kind in claim.security]


def _said(history: Iterable[DialogueRound], active_models: Collection[str] | None) -> list[_Said]:
    said = (e for e in evaluations_of(history) if active_models is None or e.model in active_models)
    claims = [(evaluation, claim) for evaluation in said for claim in evaluation.claims if claim.verified]
    claims.sort(key=lambda pair: (pair[0].round_number, pair[1].description, pair[1].quote, pair[0].seat))
    places = _shared_places([claim for _, claim in claims])
    return [_Said(e, claim, place) for (e, claim), place in zip(claims, places, strict=True)]


def _shared_places(claims: Sequence[PatternClaim]) -> list[int]:
    """Return the number of each claim's place: equal for claims whose stretches of text overlap."""
    parent = list(range(len(claims)))

    def root(number: int) -> int:
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    last: dict[Place, tuple[int, int]] = {}
    for layer, start, end, number in sorted(_stretches(claims)):
        reach, before = last.get(layer, (0, number))
        if start < reach:
            parent[root(number)] = root(before)
        if end > reach or start >= reach:
            last[layer] = end, number
    return [root(number) for number in range(len(claims))]


def _stretches(claims: Sequence[PatternClaim]) -> Iterator[tuple[Place, int, int, int]]:
    for number, claim in enumerate(claims):
        for span in (claim.span, *claim.also):
            if span is not None:
                yield span.layer, span.start, span.end, number


def _names_of_places(statements: Sequence[_Said]) -> dict[int, str]:
    """Return each place's key: the kind that most claims about it name, and a number."""
    types = grouped((entry.place, entry.claim.types) for entry in statements)
    kinds = {place: [kind.value for each in named for kind in each] for place, named in types.items()}
    return {
        place: f"{min(named, key=lambda kind: (-named.count(kind), kind)) if named else UNCLASSIFIED}:{number}"
        for number, (place, named) in enumerate(kinds.items(), start=1)
    }


def extract_patterns(
    dialogue_history: Sequence[DialogueRound], active_models: Collection[str], threshold: float = 0.5
) -> list[PatternObservation]:
    """Return the patterns that enough active seats saw, most agreed first (FC19).

    Agreement is distinct active seats over active seats; it has to reach ``threshold`` (0.0 to 1.0) and two seats.
    The specification counts mentions as they are; here a mention without a verified quote counts for nothing.
    """
    by_key = grouped((sighting.key, sighting) for sighting in sightings(dialogue_history, active_models))
    patterns = [_observation(key, seen, dialogue_history, active_models) for key, seen in by_key.items()]
    sure = (one for one in patterns if one.model_agreement >= threshold)
    agreed = [one for one in sure if len(one.models_observing) >= LEAST_SEATS]
    return sorted(agreed, key=lambda p: (-p.model_agreement, p.observed_in_round, p.pattern_type, p.description))


def _observation(
    key: str, seen: list[Sighting], history: Sequence[DialogueRound], active_models: Collection[str]
) -> PatternObservation:
    seats = {sighting.seat: sighting.model for sighting in seen}
    last_said = {sighting.seat: sighting.round_number for sighting in seen}
    located = {(s.claim.span, s.claim.quote): s.claim for s in seen}
    examples = [Example(quote=c.quote, span=c.span) for c in located.values() if c.span is not None]
    retracted = [seat for seat in sorted(seats) if _spoke_after(seats[seat], last_said[seat], history)]
    return PatternObservation(
        pattern_type=key.partition(":")[0],
        description=seen[0].claim.description,
        model_agreement=len(seats) / len(active_models),
        examples=tuple(dict.fromkeys(example.quote for example in examples)),
        observed_in_round=seen[0].round_number,
        models_observing=tuple(seats[seat] for seat in sorted(seats)),
        located=tuple(examples),
        retracted_by=tuple(seats[seat] for seat in retracted),
        security=most_named(kind for sighting in seen for kind in sighting.claim.security),
    )


def _spoke_after(model: str, round_number: int, history: Sequence[DialogueRound]) -> bool:
    later = evaluations_of(held for held in history if held.round_number > round_number)
    return any(evaluation.model == model for evaluation in later)
