"""The passages and sentences of one person that bear on a question: by words, and by meaning with a model."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path

from crux.personas.corpus import Chunk, Corpus
from crux.quotes import opens_quoted, spans
from crux.results import Place
from crux.retrieval.embed import Embed, Rows
from crux.retrieval.lexical import Lexical
from llm_runtime.structs import Struct

#: Reciprocal rank fusion (Cormack et al. 2009): 1 / (60 + rank), summed over the rankings.
_RRF = 60
#: A smaller corpus is laid out faster than it is read from disk.
_WORTH_KEEPING = 2_000
_PASSAGES = 30
#: Letters and digits of what is worth showing as a sentence; shorter pieces are headings and cries.
_LEAST, _LEAST_IN_GRAMS, _MOST = 15, 6, 600


class Hit(Struct):
    """A passage that bears on a question; ``score`` is above 0, and compares within one answer only."""

    chunk: Chunk
    score: float


class Sentence(Struct):
    """A sentence that bears on a question.

    Args:
        place: where it stands, verbatim.
        around: the sentence with those before and after it.
        score: as of a :class:`Hit`.
    """

    place: Place
    around: Place
    score: float


class Index:
    """One person's texts laid out.

    Args:
        corpus: the texts.
        folder: where the index of a large corpus, and all vectors, are kept; None keeps them in memory.
        embed: a model that knows meaning; None finds by words alone.

    Raises:
        MissingExtraError: the extra ``debate`` is not installed.
        StoreUnwritable: the index cannot be kept.
    """

    def __init__(self, corpus: Corpus, folder: Path | None = None, embed: Embed | None = None) -> None:
        self.corpus = corpus
        self.lexical = _opened(corpus, folder)
        self._embed, self._folder = embed, folder
        self._quoted = {item.id: item.quoted for item in corpus.items if item.quoted}

    async def passages(self, query: str, most: int = _PASSAGES) -> list[Hit]:
        """Return the passages nearest to a query, best first."""
        chunks = self.corpus.chunks
        if self._embed is None:
            return [Hit(chunks[place], score) for place, score in self.lexical.nearest(query, most)]
        words = [place for place, _ in self.lexical.nearest(query, 4 * most)]
        fused = _fused([words, *await self._by_meaning(query, 4 * most)])
        return [Hit(chunks[place], score) for place, score in fused[:most]]

    async def sentences(self, query: str, most: int = 8) -> list[Sentence]:
        """Return the sentences nearest to a query, best first; what the author gives as another's is left out."""
        hits = await self.passages(query)
        least = _LEAST if self.lexical.stemmed else _LEAST_IN_GRAMS
        spots = [
            (rank, hit.chunk, *spot)
            for rank, hit in enumerate(hits)
            for spot in _worth_showing(hit.chunk.text, self.lexical.language, least)
        ]
        best = hits[0].score if hits else 1.0
        alike = self.lexical.bearing(query, [spot[-1] for spot in spots])
        bearing = [
            score * (0.5 + 0.5 * hits[rank].score / best) for score, (rank, *_) in zip(alike, spots, strict=True)
        ]
        order = sorted((place for place, score in enumerate(bearing) if score > 0), key=lambda at: -bearing[at])
        scores = dict(enumerate(bearing))
        if self._embed is not None:
            like = await self._rows[1].likeness(query)
            places = {key: place for place, key in enumerate(self._sentences)}
            meant = sorted(range(len(spots)), key=lambda at: -like[places[spots[at][1].id, spots[at][2]]])
            fused = _fused([order, meant])
            order, scores = [place for place, _ in fused], dict(fused)
        return self._own([(spots[place], scores[place]) for place in order], most)

    def _own(self, ranked: Sequence[tuple[tuple[int, Chunk, int, int, str], float]], most: int) -> list[Sentence]:
        sentences: list[Sentence] = []
        for (_, chunk, start, end, _), score in ranked:
            if opens_quoted(chunk.text, start) or self._others(chunk, start, end):
                continue
            whole = spans(chunk.text, self.lexical.language)
            at = whole.index((start, end))
            first, last = whole[max(0, at - 1)][0], whole[min(len(whole) - 1, at + 1)][1]
            place = self.corpus.place(chunk.item, chunk.start + start, chunk.start + end)
            around = self.corpus.place(chunk.item, chunk.start + first, chunk.start + last)
            sentences.append(Sentence(place, around, score))
            if len(sentences) == most:
                break
        return sentences

    def _others(self, chunk: Chunk, start: int, end: int) -> bool:
        """Tell whether a sentence stands in a block that the source marks as somebody else's words."""
        first, last = chunk.start + start, chunk.start + end
        return any(begin < last and first < stop for begin, stop in self._quoted.get(chunk.item, ()))

    @cached_property
    def _sentences(self) -> dict[tuple[str, int], str]:
        """Every sentence by passage and start, in order."""
        chunks, language = self.corpus.chunks, self.lexical.language
        return {(one.id, start): one.text[start:end] for one in chunks for start, end in spans(one.text, language)}

    @cached_property
    def _rows(self) -> tuple[Rows, Rows]:
        assert self._embed is not None
        whole = [chunk.text for chunk in self.corpus.chunks]
        return (Rows(self._embed, whole, self._folder), Rows(self._embed, list(self._sentences.values()), self._folder))

    async def _by_meaning(self, query: str, most: int) -> list[list[int]]:
        """Return two rankings of passages: by the whole, and by the best of their sentences."""
        if not self.corpus.chunks:
            return []
        whole = await self._rows[0].likeness(query)
        best: dict[str, float] = {}
        for (chunk, _), like in zip(self._sentences, await self._rows[1].likeness(query), strict=True):
            best[chunk] = max(best.get(chunk, -1.0), float(like))
        chunks = self.corpus.chunks
        by_sentence = sorted(range(len(chunks)), key=lambda place: -best.get(chunks[place].id, -1.0))
        return [sorted(range(len(chunks)), key=lambda place: -float(whole[place]))[:most], by_sentence[:most]]


def _opened(corpus: Corpus, folder: Path | None) -> Lexical:
    """Return the index of the passages, each with its title: that is where an essay says what it is about."""
    own = None
    if folder is not None and len(corpus.chunks) >= _WORTH_KEEPING:
        own = folder / hashlib.sha256(f"1 {corpus.digest}".encode()).hexdigest()[:32]
        if index := Lexical.open(own):
            return index
    texts = tuple(f"{corpus.by_id[chunk.item].title}\n{chunk.text}" for chunk in corpus.chunks)
    if len(texts) < _WORTH_KEEPING:
        return laid_out(texts)
    index = Lexical.of(texts)
    if own is not None:
        index.save(own)
    return index


@lru_cache(maxsize=8)
def laid_out(texts: tuple[str, ...], language: str = "") -> Lexical:
    """Lay texts out once for the debates that one process holds of the same persons."""
    return Lexical.of(texts, language)


@lru_cache(maxsize=4096)
def _worth_showing(text: str, language: str, least: int) -> list[tuple[int, int, str]]:
    """Return where the sentences of a passage begin and end, with their words; no headings, cries, endless ones."""
    whole = [(start, end, text[start:end]) for start, end in spans(text, language) if end - start <= _MOST]
    return [spot for spot in whole if sum(map(str.isalnum, spot[-1])) >= least]


def _fused(rankings: Sequence[Sequence[int]]) -> list[tuple[int, float]]:
    """Return the union of rankings with their summed reciprocal ranks, best first, ties in order."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, place in enumerate(ranking):
            scores[place] = scores.get(place, 0.0) + 1 / (_RRF + 1 + rank)
    return sorted(scores.items(), key=lambda entry: (-entry[1], entry[0]))
