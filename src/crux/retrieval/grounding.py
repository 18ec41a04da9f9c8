"""The part of a belief graph, and the passages, that bear on a claim: what a turn is given to reason from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from crux.personas import BeliefEdge, BeliefNode, Chunk, Persona
from crux.quotes import opens_quoted, sentences
from crux.results import Place
from crux.retrieval.embedding import Embedding, TfidfEmbedding

#: A passage that speaks of less than this share of a question does not bear on it. Found on the shipped authors,
#: whose key names questions inside and outside of what they wrote.
LEAST_COVERAGE = 0.15
_CHUNKS = 3
_SENTENCES_FROM, _SENTENCES = 4, 3
#: Likeness of a sentence, times its passage's, from which a turn is shown it; below, words are shared by chance.
LEAST_LIKENESS = 0.04
#: Passages that are looked at before a person is said to have written nothing on a question.
_LOOKED_AT = 9
#: Rows of one belief may well be the nearest of all; so many are looked at for each belief that is wanted.
_ROWS_A_BELIEF = 12


@dataclass(frozen=True, slots=True)
class Grounds:
    """What was found.

    Args:
        beliefs: the belief nodes nearest to the claim, best first.
        edges: the relations among them, and from them.
        chunks: the passages nearest to the claim.
        places: by belief, the quotations it rests on, those nearest to the claim first.
        sentences: single sentences of the passages, nearest to the claim first.
        outside: nothing that the person wrote bears on the claim.
    """

    beliefs: tuple[BeliefNode, ...] = ()
    edges: tuple[BeliefEdge, ...] = ()
    chunks: tuple[Chunk, ...] = ()
    places: dict[str, tuple[Place, ...]] = field(default_factory=dict[str, tuple[Place, ...]])
    sentences: tuple[Place, ...] = ()
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
        self.space = (embedding or TfidfEmbedding()).fit([chunk.text for chunk in self._chunks])
        # A belief is found by its words or by any quotation it rests on, whichever is nearer.
        rows = [(place, text) for place, node in enumerate(self._nodes) for text in _wordings(node)]
        self._node_of_row = [place for place, _ in rows]
        self._node_space = (embedding or TfidfEmbedding()).fit([text for _, text in rows]) if rows else None

    def grounds(self, claim: str, most: int = 6, about: Sequence[str] = ()) -> Grounds:
        """Return what bears on ``claim``: at most ``most`` beliefs, and the best passages.

        Args:
            claim: what beliefs and passages are sought for; a peer's words may be part of it.
            most: 1 or more.
            about: the questions at hand. Only where nothing bears on any of them is the person outside of what is
                on record; without any, the claim itself is the question.
        """
        if all(self._outside(question) for question in about or (claim,)):
            return Grounds(outside=True)
        near = self.space.nearest(claim, _SENTENCES_FROM)
        chunks = tuple(self._chunks[place] for place, _ in near[:_CHUNKS])
        beliefs = self._beliefs(claim, chunks, most)
        ids = {node.id for node in beliefs}
        graph = self.persona.beliefs
        edges = tuple(edge for edge in graph.edges if edge.from_ in ids) if graph else ()
        places = {node.id: self.nearest_places(claim, node) for node in beliefs}
        return Grounds(
            beliefs, edges, chunks, places, tuple(self._sentences(claim, near, _SENTENCES, LEAST_LIKENESS))
        )

    def quotes(self, claim: str, most: int) -> list[Place]:
        """Return single sentences of the corpus nearest to ``claim``, verbatim, with their places."""
        return self._sentences(claim, self.space.nearest(claim, 8 + most), most)

    def nearest_beliefs(self, text: str, most: int) -> list[BeliefNode]:
        """Return the belief nodes nearest to a text, best first."""
        if self._node_space is None:
            return []
        rows = self._node_space.nearest(text, _ROWS_A_BELIEF * most)
        beliefs = dict.fromkeys(self._node_of_row[row] for row, _ in rows)
        return [self._nodes[place] for place in list(beliefs)[:most]]

    def nearest_places(self, text: str, node: BeliefNode) -> tuple[Place, ...]:
        """Return the quotations that a belief rests on, nearest to a text first."""
        return tuple(sorted(node.places, key=lambda place: -self.space.similarity(text, place.quote)))

    def _outside(self, question: str) -> bool:
        near = self.space.nearest(question, _LOOKED_AT)
        return max((self.space.coverage(question, place) for place, _ in near), default=0.0) < LEAST_COVERAGE

    def _sentences(
        self, claim: str, near: Sequence[tuple[int, float]], most: int, least: float = 0.0
    ) -> list[Place]:
        """Rank sentences by their own likeness and their passage's; those in quotation marks are left out."""
        found: list[tuple[float, int, Chunk, str]] = []
        for row, likeness in near:
            chunk = self._chunks[row]
            for sentence in sentences(chunk.text):
                if 40 <= len(sentence) <= 320:
                    score = likeness * self.space.similarity(claim, sentence)
                    if score >= least:
                        found.append((-score, len(found), chunk, sentence))
        places: list[Place] = []
        for _, _, chunk, sentence in sorted(found, key=lambda entry: entry[:2]):
            at = chunk.text.find(sentence)
            if at < 0 or opens_quoted(chunk.text, at):
                continue
            start = chunk.start + at
            places.append(self.persona.corpus.place(chunk.item, start, start + len(sentence)))
            if len(places) == most:
                break
        return places

    def _beliefs(self, claim: str, chunks: tuple[Chunk, ...], most: int) -> tuple[BeliefNode, ...]:
        """Return the nearest by their words; then those grounded in the passages that were found."""
        found = self.nearest_beliefs(claim, most)
        ids = {chunk.id for chunk in chunks}
        found += [node for node in self._nodes if node not in found and ids & set(node.grounding)]
        return tuple(found[:most])


def _wordings(node: BeliefNode) -> list[str]:
    return [node.concept, *(f"{node.concept} {place.quote}" for place in node.places)]
