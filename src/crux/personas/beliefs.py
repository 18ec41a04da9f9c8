"""What a person holds and why, each belief tied to its places in the texts (CX16, CX17, CX18)."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal, TypeAlias

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from crux.extras import library
from crux.results import Place, Wire

BeliefType: TypeAlias = Literal["factual_claim", "inference", "core_value", "assumption"]
Polarity: TypeAlias = Literal[1, -1]


class BeliefNode(Wire):
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


class BeliefEdge(Wire):
    """``from_`` supports (1) or undermines (-1) ``to``; on the wire the keys are ``from`` and ``to``."""

    model_config = ConfigDict(alias_generator=lambda name: to_camel(name.rstrip("_")))

    from_: str
    to: str
    polarity: Polarity
    confidence: float
    source_chunks: tuple[str, ...]


class Contradiction(Wire):
    """Two things that cannot both be held, each dated; interesting, not an error (CX17).

    ``kind`` says whether two beliefs oppose each other, or one relation was read with both polarities.
    """

    kind: Literal["beliefs", "relation"]
    first: str
    second: str
    first_places: tuple[Place, ...]
    second_places: tuple[Place, ...]


class BuildCounts(Wire):
    """What became of what was read."""

    chunks: int = 0
    relations: int = 0
    unquoted: int = 0
    unreadable: int = 0
    concepts: int = 0
    merged: int = 0
    vetoed: int = 0
    pruned: int = 0


class BeliefGraph(Wire):
    """One universal graph a person, filtered per topic at retrieval (CX18). ``extracted_at`` is ISO 8601."""

    persona_id: str
    nodes: tuple[BeliefNode, ...]
    edges: tuple[BeliefEdge, ...]
    extracted_at: str
    contradictions: tuple[Contradiction, ...] = ()
    counts: BuildCounts = Field(default_factory=BuildCounts)

    @cached_property
    def by_id(self) -> dict[str, BeliefNode]:
        """Nodes by id."""
        return {node.id: node for node in self.nodes}

    @cached_property
    def digraph(self) -> Any:
        """The graph as networkx has it, for whatever needs an algorithm.

        Raises:
            MissingExtraError: networkx is not installed.
        """
        graph = _networkx().DiGraph()
        graph.add_nodes_from(node.id for node in self.nodes)
        graph.add_edges_from((edge.from_, edge.to, {"polarity": edge.polarity}) for edge in self.edges)
        return graph

    def dependents(self, node: str) -> tuple[str, ...]:
        """Return what rests on a belief: all that is reached along supporting edges, in graph order."""
        edges = [(edge.from_, edge.to) for edge in self.edges if edge.polarity == 1]
        supporting = _networkx().DiGraph(edges)
        if node not in supporting:
            return ()
        reached = _networkx().descendants(supporting, node)
        return tuple(other.id for other in self.nodes if other.id in reached)

    def largest_component(self) -> frozenset[str]:
        """Return the most nodes that hang together, direction aside; the first of several equal ones."""
        components: list[set[str]] = list(_networkx().weakly_connected_components(self.digraph))
        return frozenset(max(components, key=len)) if components else frozenset()


def density(documents: int) -> float:
    """Return confidence by the number n of distinct documents: 1 - (1/2)(2/3)^(n-1), to 3 places; 0 for none.

    The curve through two points of the specification: one passage 0.5, five 0.9.
    """
    return round(1 - 0.5 * (2 / 3) ** (documents - 1), 3) if documents > 0 else 0.0


def _networkx() -> Any:
    return library("networkx", "a belief graph")
