"""The part of a belief graph, and the passages, that bear on a claim: what a turn is given to reason from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from crux.personas import BeliefEdge, BeliefNode, Chunk, Persona
from crux.quotes import sentences
from crux.results import Place
from crux.retrieval.embedding import Embedding, TfidfEmbedding

#: A passage that speaks of less than this share of a question does not bear on it. Found on the shipped authors,
#: whose key names questions inside and outside of what they wrote.
LEAST_COVERAGE = 0.15
_CHUNKS = 3


@dataclass(frozen=True, slots=True)
class Grounds:
    """What was found.

    Args:
        beliefs: the belief nodes nearest to the claim, best first.
        edges: the relations among them, and from them.
        chunks: the passages nearest to the claim.
        outside: nothing that the person wrote bears on the claim.
    """

    beliefs: tuple[BeliefNode, ...] = ()
    edges: tuple[BeliefEdge, ...] = ()
    chunks: tuple[Chunk, ...] = ()
    outside: bool = False


class Grounding:
    """A person's beliefs and passages, laid out for retrieval; made once a debate.

    Args:
        persona: whose.
        embedding: how; TF-IDF where nothing is said.
    """

    def __init__(self, persona: Persona, embedding: Embedding | None = None) -> None:
        self.persona = persona
        self._nodes = persona.beliefs.nodes if persona.beliefs else ()
        self._chunks = persona.corpus.chunks
        nodes = [f"{node.concept} {' '.join(place.quote for place in node.places[:3])}" for node in self._nodes]
        self.space = (embedding or TfidfEmbedding()).fit([*(chunk.text for chunk in self._chunks), *nodes])
        count = len(self._chunks)
        self._node_space = (embedding or TfidfEmbedding()).fit(nodes) if nodes else None
        self._count = count

    def grounds(self, claim: str, most: int = 6, about: Sequence[str] = ()) -> Grounds:
        """What bears on ``claim``: at most ``most`` beliefs, and the best passages.

        Args:
            claim: what beliefs and passages are sought for; a peer's words may be part of it.
            most: 1 or more.
            about: the questions at hand. Only where nothing bears on any of them is the person outside of what is
                on record; without any, the claim itself is the question.
        """
        if all(self._outside(question, most) for question in about or (claim,)):
            return Grounds(outside=True)
        near = [(place, score) for place, score in self.space.nearest(claim, _CHUNKS + most) if place < self._count]
        chunks = tuple(self._chunks[place] for place, _ in near[:_CHUNKS])
        beliefs = self._beliefs(claim, chunks, most)
        ids = {node.id for node in beliefs}
        graph = self.persona.beliefs
        edges = tuple(edge for edge in graph.edges if edge.from_ in ids) if graph else ()
        return Grounds(beliefs, edges, chunks)

    def _outside(self, question: str, most: int) -> bool:
        near = (place for place, _ in self.space.nearest(question, _CHUNKS + most) if place < self._count)
        return max((self.space.coverage(question, place) for place in near), default=0.0) < LEAST_COVERAGE

    def quotes(self, claim: str, most: int) -> list[Place]:
        """Single sentences of the corpus nearest to ``claim``, verbatim, with their places."""
        found: list[tuple[float, int, Place]] = []
        for place, _ in self.space.nearest(claim, 8 + most):
            if place >= self._count:
                continue
            chunk = self._chunks[place]
            for sentence in sentences(chunk.text):
                at = chunk.text.find(sentence)
                if 40 <= len(sentence) <= 320 and at >= 0:
                    start = chunk.start + at
                    where = self.persona.corpus.place(chunk.item, start, start + len(sentence))
                    found.append((-self.space.similarity(claim, sentence), len(found), where))
        return [place for _, _, place in sorted(found, key=lambda entry: entry[:2])[:most]]

    def nearest_beliefs(self, text: str, most: int) -> list[BeliefNode]:
        """The belief nodes nearest to a text, best first."""
        if self._node_space is None:
            return []
        return [self._nodes[place] for place, _ in self._node_space.nearest(text, most)]

    def _beliefs(self, claim: str, chunks: tuple[Chunk, ...], most: int) -> tuple[BeliefNode, ...]:
        """The nearest by their words; then those grounded in the passages that were found."""
        found = self.nearest_beliefs(claim, most)
        ids = {chunk.id for chunk in chunks}
        found += [node for node in self._nodes if node not in found and ids & set(node.grounding)]
        return tuple(found[:most])
