"""The part of a belief graph, and the sentences, that bear on a claim: what a turn is given to reason from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from pathlib import Path

from crux.personas.beliefs import BeliefEdge, BeliefNode
from crux.personas.corpus import Chunk
from crux.personas.persona import Persona
from crux.results import Place
from crux.retrieval.embed import Embed
from crux.retrieval.index import Index, Sentence, laid_out
from llm_runtime.structs import Struct

#: A passage that speaks of less than this much of a question does not bear on it. Of 46 questions on what
#: Hamilton, Madison and "Brutus" wrote it takes one to be outside. To find too much outside is the worse error.
LEAST_COVERAGE = 0.0875
#: The same where terms are grams, for most of a question's grams lie across two words and stand nowhere else.
LEAST_COVERAGE_IN_GRAMS = 0.02
_CHUNKS = 3
_SENTENCES = 8
#: Passages that are looked at before a person is said to have written nothing on a question.
_LOOKED_AT = 9
#: Rows of one belief may well be the nearest of all; so many are looked at for each belief that is wanted.
_ROWS_A_BELIEF = 12


class Grounds(Struct):
    """What was found.

    Args:
        beliefs: the belief nodes nearest to the claim, best first.
        edges: the relations among them, and from them.
        chunks: the passages nearest to the claim.
        places: by belief, the quotations it rests on, those nearest to the claim first.
        sentences: single sentences of the texts, nearest to the claim first.
        outside: nothing that the person wrote bears on the claim.
    """

    beliefs: tuple[BeliefNode, ...] = ()
    edges: tuple[BeliefEdge, ...] = ()
    chunks: tuple[Chunk, ...] = ()
    places: dict[str, tuple[Place, ...]] = field(default_factory=dict[str, tuple[Place, ...]])
    sentences: tuple[Sentence, ...] = ()
    outside: bool = False


class Grounding:
    """A person's beliefs and passages, laid out for retrieval; made once a debate.

    Args:
        persona: whose.
        folder: where the index of a large corpus is kept; None keeps it in memory.
        embed: a model that knows meaning; None finds by words alone.
    """

    def __init__(self, persona: Persona, folder: Path | None = None, embed: Embed | None = None) -> None:
        self.persona = persona
        self.index = Index(persona.corpus, folder, embed)
        self._nodes = persona.beliefs.nodes if persona.beliefs else ()
        # A belief is found by its words or by any quotation it rests on, whichever is nearer.
        rows = [(place, text) for place, node in enumerate(self._nodes) for text in _wordings(node)]
        self._node_of_row = [place for place, _ in rows]
        self._rows = laid_out(tuple(text for _, text in rows), self.index.lexical.language) if rows else None

    async def grounds(self, claim: str, most: int = 6, about: Sequence[str] = ()) -> Grounds:
        """Return what bears on ``claim``: at most ``most`` beliefs, and the best passages.

        Args:
            claim: what beliefs and passages are sought for; a peer's words may be part of it.
            most: 1 or more.
            about: the questions at hand. Only where nothing bears on any of them is the person outside of what is
                on record; without any, the claim itself is the question.
        """
        if all(self.outside(question) for question in about or (claim,)):
            return Grounds(outside=True)
        chunks = tuple(hit.chunk for hit in await self.index.passages(claim, _CHUNKS))
        beliefs = self._beliefs(claim, chunks, most)
        ids = {node.id for node in beliefs}
        graph = self.persona.beliefs
        edges = tuple(edge for edge in graph.edges if edge.from_ in ids) if graph else ()
        places = {node.id: self.nearest_places(claim, node) for node in beliefs}
        return Grounds(beliefs, edges, chunks, places, tuple(await self.index.sentences(claim, _SENTENCES)))

    async def quotes(self, claim: str, most: int) -> list[Place]:
        """Return single sentences of the corpus nearest to ``claim``, verbatim, with their places."""
        return [sentence.place for sentence in await self.index.sentences(claim, most)]

    def likeness(self, first: str, second: str) -> float:
        """Return how alike two texts are in their words, 0 to 1."""
        return self.index.lexical.likeness(first, second)

    def nearest_beliefs(self, text: str, most: int) -> list[BeliefNode]:
        """Return the belief nodes nearest to a text, best first."""
        if self._rows is None:
            return []
        beliefs = dict.fromkeys(self._node_of_row[row] for row, _ in self._rows.nearest(text, _ROWS_A_BELIEF * most))
        return [self._nodes[place] for place in list(beliefs)[:most]]

    def nearest_places(self, text: str, node: BeliefNode) -> tuple[Place, ...]:
        """Return the quotations that a belief rests on, nearest to a text first."""
        return tuple(sorted(node.places, key=lambda place: -self.likeness(text, place.quote)))

    def outside(self, question: str) -> bool:
        """Tell whether nothing that the person wrote bears on a question."""
        lexical, chunks = self.index.lexical, self.index.corpus.chunks
        least = LEAST_COVERAGE if lexical.stemmed else LEAST_COVERAGE_IN_GRAMS
        near = lexical.nearest(question, _LOOKED_AT)
        return max((lexical.coverage(question, chunks[at].text) for at, _ in near), default=0.0) < least

    def _beliefs(self, claim: str, chunks: tuple[Chunk, ...], most: int) -> tuple[BeliefNode, ...]:
        """Return the nearest by their words; then those grounded in the passages that were found."""
        nodes = self.nearest_beliefs(claim, most)
        ids = {chunk.id for chunk in chunks}
        near = {node.id for node in nodes}
        nodes += [node for node in self._nodes if node.id not in near and not ids.isdisjoint(node.grounding)]
        return tuple(nodes[:most])


def _wordings(node: BeliefNode) -> list[str]:
    return [node.concept, *(f"{node.concept} {place.quote}" for place in node.places)]
