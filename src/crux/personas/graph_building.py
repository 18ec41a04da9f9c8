"""From relations read in passages to a graph: places gathered, confidence counted, the weakest left out."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from crux.personas.beliefs import (
    BeliefEdge,
    BeliefGraph,
    BeliefNode,
    BeliefType,
    BuildCounts,
    Contradiction,
    Polarity,
    density,
)
from crux.personas.extraction import Read
from crux.personas.gate import MOST_NODES
from crux.personas.merging import Concepts
from crux.polarity import content_words, opposed
from crux.results import Place

_Edge = tuple[str, str, Polarity]


def build_graph(
    persona_id: str, reads: Sequence[Read], concepts: Concepts, extracted_at: str, counts: BuildCounts
) -> BeliefGraph:
    """Return the graph of everything that was read.

    The :data:`~crux.personas.gate.MOST_NODES` strongest beliefs stay: those in the most documents, then the most
    connected, then the first read; one that would stand alone gives its place to the next.
    """
    places, types, stated = _gathered(reads, concepts)
    edges = _edges(reads, concepts)
    strongest = _strongest(places, edges)
    nodes = tuple(
        BeliefNode(
            id=belief_id(concept),
            concept=concept,
            type=types[concept].most_common(1)[0][0],
            confidence=density(len({place.item for _, place in places[concept]})),
            grounding=tuple(dict.fromkeys(chunk for chunk, _ in places[concept])),
            stated=concept in stated,
            places=_by_date([place for _, place in places[concept]]),
        )
        for concept in strongest
    )
    inside = {key: grounds for key, grounds in edges.items() if key[0] in strongest and key[1] in strongest}
    return BeliefGraph(
        persona_id=persona_id,
        nodes=nodes,
        edges=tuple(
            BeliefEdge(
                from_=belief_id(cause),
                to=belief_id(effect),
                polarity=polarity,
                confidence=density(len({place.item for _, place in grounds})),
                source_chunks=tuple(dict.fromkeys(chunk for chunk, _ in grounds)),
            )
            for (cause, effect, polarity), grounds in inside.items()
        ),
        extracted_at=extracted_at,
        contradictions=(*_opposed_relations(inside), *_opposed_beliefs(nodes)),
        counts=counts.model_copy(update={"concepts": len(places), "pruned": len(places) - len(nodes)}),
    )


def belief_id(concept: str) -> str:
    """Return an id drawn from the words, so that a belief keeps it when others come and go."""
    return "b-" + hashlib.sha256(concept.casefold().encode()).hexdigest()[:8]


def _gathered(
    reads: Sequence[Read], concepts: Concepts
) -> tuple[dict[str, list[tuple[str, Place]]], dict[str, Counter[BeliefType]], set[str]]:
    places: dict[str, list[tuple[str, Place]]] = {}
    types: dict[str, Counter[BeliefType]] = {}
    stated: set[str] = set()
    for read in reads:
        relation = read.relation
        ends: list[tuple[str, BeliefType]] = [
            (relation.cause, relation.cause_type),
            (relation.effect, relation.effect_type),
        ]
        for text, kind in ends:
            concept = concepts.home(text)
            grounds = places.setdefault(concept, [])
            if (read.chunk, read.place) not in grounds:
                grounds.append((read.chunk, read.place))
            types.setdefault(concept, Counter())[kind] += 1
            if relation.held == "stated":
                stated.add(concept)
    return places, types, stated


def _edges(reads: Sequence[Read], concepts: Concepts) -> dict[_Edge, list[tuple[str, Place]]]:
    edges: dict[_Edge, list[tuple[str, Place]]] = {}
    for read in reads:
        cause, effect = concepts.home(read.relation.cause), concepts.home(read.relation.effect)
        if cause != effect:
            edges.setdefault((cause, effect, read.relation.polarity), []).append((read.chunk, read.place))
    return edges


def _strongest(
    places: dict[str, list[tuple[str, Place]]], edges: dict[_Edge, list[tuple[str, Place]]]
) -> list[str]:
    neighbours: dict[str, set[str]] = {concept: set() for concept in places}
    for cause, effect, _ in edges:
        neighbours[cause].add(effect)
        neighbours[effect].add(cause)
    first = {concept: place for place, concept in enumerate(places)}

    def strength(concept: str) -> tuple[int, int, int]:
        documents = len({place.item for _, place in places[concept]})
        return (-documents, -len(neighbours[concept]), first[concept])

    chosen: set[str] = set()
    # Grown from the strongest along the edges: a belief comes in beside one it is tied to, while there are any.
    waiting = sorted(places, key=strength)
    while waiting and len(chosen) < MOST_NODES:
        concept = next((one for one in waiting if neighbours[one] & chosen), waiting[0])
        waiting.remove(concept)
        if neighbours[concept] & (chosen | set(waiting)):
            chosen.add(concept)
    tied = {one for one in chosen if neighbours[one] & chosen}
    return [concept for concept in places if concept in tied]


def _opposed_relations(edges: dict[_Edge, list[tuple[str, Place]]]) -> list[Contradiction]:
    return [
        Contradiction(
            kind="relation",
            first=f"{cause} supports {effect}",
            second=f"{cause} undermines {effect}",
            first_places=_by_date([place for _, place in grounds]),
            second_places=_by_date([place for _, place in edges[cause, effect, -1]]),
        )
        for (cause, effect, polarity), grounds in edges.items()
        if polarity == 1 and (cause, effect, -1) in edges
    ]


def _opposed_beliefs(nodes: Sequence[BeliefNode]) -> list[Contradiction]:
    found: list[Contradiction] = []
    for first, second in combinations(nodes, 2):
        left, right = content_words(first.concept), content_words(second.concept)
        alike = len(left & right) >= 2 and 2 * len(left & right) >= min(len(left), len(right))
        if alike and opposed(first.concept, second.concept):
            early, late = sorted((first, second), key=lambda node: (node.places[0].date or "9999", node.id))
            found.append(
                Contradiction(
                    kind="beliefs",
                    first=early.id,
                    second=late.id,
                    first_places=early.places,
                    second_places=late.places,
                )
            )
    return found


def _by_date(places: Sequence[Place]) -> tuple[Place, ...]:
    return tuple(dict.fromkeys(sorted(places, key=lambda place: (place.date or "9999", place.item, place.start))))
