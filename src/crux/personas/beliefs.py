"""What a person holds and why, each belief tied to its places in the texts: a claim book as a debate uses it.

CX16, CX17, CX18.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Literal, TypeAlias

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from crux.book import ClaimBook, ClaimKind, reached
from crux.personas.corpus import Corpus
from crux.results import CamelModel, Place

BeliefType: TypeAlias = Literal["factual_claim", "inference", "core_value", "assumption"]
Polarity: TypeAlias = Literal[1, -1]
#: Builds of before kept these. Who has none counts as zero: jobs of batches are named after what they are about.
_COUNTS: dict[str, int] = dict.fromkeys(
    ("chunks", "relations", "unquoted", "unreadable", "concepts", "merged", "vetoed", "pruned"), 0
)
_TYPES: dict[ClaimKind, BeliefType] = {"fact": "factual_claim", "value": "core_value", "assumption": "assumption"}


class BeliefNode(CamelModel):
    """A belief.

    Args:
        confidence: how densely the corpus holds it, by :func:`density`; 0 to 1, computed and never asked for.
        grounding: ids of corpus chunks.
        stated: said outright at least once, not only implied.
        places: the quotations it was read from, oldest first.
    """

    id: str
    concept: str
    type: BeliefType
    confidence: float
    grounding: tuple[str, ...]
    stated: bool = True
    places: tuple[Place, ...] = ()

    @property
    def documents(self) -> tuple[str, ...]:
        """The distinct texts it stands in."""
        return tuple(dict.fromkeys(place.item for place in self.places))


class BeliefEdge(CamelModel):
    """``from_`` supports (1) or undermines (-1) ``to``; on the wire the keys are ``from`` and ``to``."""

    model_config = ConfigDict(alias_generator=lambda name: to_camel(name.rstrip("_")))

    from_: str
    to: str
    polarity: Polarity
    confidence: float
    source_chunks: tuple[str, ...]


class Contradiction(CamelModel):
    """Two things that cannot both be held, each dated; interesting, not an error (CX17).

    ``kind`` says whether two beliefs oppose each other, or one relation was read with both polarities.
    """

    kind: Literal["beliefs", "relation"]
    first: str
    second: str
    first_places: tuple[Place, ...]
    second_places: tuple[Place, ...]


class BeliefGraph(CamelModel):
    """One universal graph a person, filtered per topic at retrieval (CX18).

    Args:
        extracted_at: ISO 8601.
        counts: figures that older builds kept.
    """

    persona_id: str
    nodes: tuple[BeliefNode, ...]
    edges: tuple[BeliefEdge, ...]
    extracted_at: str
    contradictions: tuple[Contradiction, ...] = ()
    counts: dict[str, int] = Field(default_factory=lambda: dict(_COUNTS))

    @cached_property
    def by_id(self) -> dict[str, BeliefNode]:
        """Nodes by id."""
        return {node.id: node for node in self.nodes}

    def dependents(self, node: str) -> tuple[str, ...]:
        """Return what rests on a belief: all that is reached along supporting edges, in graph order."""
        resting = set(reached(node, [(edge.from_, edge.to) for edge in self.edges if edge.polarity == 1]))
        return tuple(other.id for other in self.nodes if other.id in resting)


def density(documents: int) -> float:
    """Return confidence by the number n of distinct documents: 1 - (1/2)(2/3)^(n-1), to 3 places; 0 for none.

    The curve through two points of the specification: one passage 0.5, five 0.9.
    """
    return round(1 - 0.5 * (2 / 3) ** (documents - 1), 3) if documents > 0 else 0.0


def believed(key: str, concept: str, kind: BeliefType, places: tuple[Place, ...], corpus: Corpus) -> BeliefNode:
    """Return a belief of which the texts are known: the more there are, the surer it is."""
    sure = density(len({place.item for place in places}))
    grounding = tuple(dict.fromkeys(one for place in places if (one := corpus.passage_of(place))))
    return BeliefNode(id=key, concept=concept, type=kind, confidence=sure, grounding=grounding, places=places)


def graph_of(book: ClaimBook, author: str, corpus: Corpus, persona_id: str, extracted_at: str) -> BeliefGraph:
    """Return what an author holds or denies in a book now; a claim that is denied becomes its denial.

    Args:
        author: as the book names the person.
        persona_id: the person's slug.
        extracted_at: ISO 8601.
    """
    nodes: dict[str, BeliefNode] = {}
    contradictions: list[Contradiction] = []
    for signed in book.signed_by(author):
        key, places = signed.claim.id, signed.places
        own, against = (tuple(book.places(key, author, stance)) for stance in ("holds", "denies"))
        if own and against:
            both = Contradiction(kind="beliefs", first=key, second=key, first_places=own, second_places=against)
            contradictions.append(both)
        if signed.stance not in ("holds", "denies"):
            continue
        nodes[key] = believed(key, signed.words(), _TYPES.get(signed.claim.kind, "inference"), places, corpus)
    held, edges = tuple(nodes.values()), tuple(_edges(book, nodes))
    return BeliefGraph(
        persona_id=persona_id, nodes=held, edges=edges, extracted_at=extracted_at, contradictions=tuple(contradictions)
    )


def _edges(book: ClaimBook, nodes: Mapping[str, BeliefNode]) -> Iterator[BeliefEdge]:
    for one in (one for one in book.standing_relations if one.from_ in nodes and one.to in nodes):
        sign: Polarity = -1 if one.kind in ("undermines", "contradicts") else 1
        sure, source = density(len(nodes[one.from_].documents)), nodes[one.from_].grounding
        yield BeliefEdge(from_=one.from_, to=one.to, polarity=sign, confidence=sure, source_chunks=source)
