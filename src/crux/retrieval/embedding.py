"""One protocol for embeddings, and TF-IDF, the default (decision 19).

TF-IDF found the known replies of the test corpus as well as a sentence model did, in a two-hundredth of the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from crux.extras import library

#: A whole essay as a query is cut to its most telling words: the rest costs time and finds nothing.
MOST_TERMS = 400


class Space(Protocol):
    """Texts laid out so that the nearest to another text can be found."""

    def nearest(self, query: str, most: int) -> list[tuple[int, float]]:
        """Places of the nearest texts with their cosine similarity, 0 to 1, best first; equal ones in order."""
        ...

    def similarity(self, first: str, second: str) -> float:
        """Cosine similarity of two texts, 0 to 1."""
        ...

    def coverage(self, query: str, place: int) -> float:
        """How much of what the query is about the text at ``place`` speaks of, 0 to 1; one word is chance: 0."""
        ...


class Embedding(Protocol):
    """A way to lay texts out; ``name`` tells it from others."""

    name: str

    def fit(self, texts: Sequence[str]) -> Space:
        """Lay out ``texts``."""
        ...


class TfidfEmbedding:
    """Words weighted by how rare they are, with sublinear counts and English stop words.

    Raises, when fitted:
        MissingExtraError: scikit-learn is not installed.
    """

    name = "tfidf"

    def fit(self, texts: Sequence[str]) -> Space:
        return _TfidfSpace(texts)


class _TfidfSpace:
    """An inverted index: a query touches the postings of its own words and nothing else."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._np = library("numpy", "retrieval")
        text = library("sklearn.feature_extraction.text", "retrieval")
        self._size = len(texts)
        self._vectorizer: Any = text.TfidfVectorizer(
            stop_words="english", sublinear_tf=True, dtype=self._np.float32
        )
        try:
            rows: Any = self._vectorizer.fit_transform(texts)
        except ValueError:  # nothing but stop words
            self._vectorizer.fit(["empty"])
            rows = self._vectorizer.transform(texts)
        columns = rows.tocsc()
        self._starts: list[int] = columns.indptr.tolist()
        self._places: Any = columns.indices
        self._weights: Any = columns.data
        self._rows: Any = rows
        self._rarest = float(self._vectorizer.idf_.max())

    def nearest(self, query: str, most: int) -> list[tuple[int, float]]:
        np = self._np
        scores = np.zeros(self._size, dtype=np.float32)
        for term, weight in self._terms(query):
            start, end = self._starts[term], self._starts[term + 1]
            scores[self._places[start:end]] += weight * self._weights[start:end]
        most = min(most, self._size)
        if not most:
            return []
        # All that tie with the last place are sorted too, so that equal scores come in order of place.
        edge = np.partition(scores, self._size - most)[self._size - most]
        candidates = np.flatnonzero(scores >= max(edge, np.float32(1e-9)))
        order = candidates[np.lexsort((candidates, -scores[candidates]))][:most]
        return [(int(place), float(scores[place])) for place in order]

    def similarity(self, first: str, second: str) -> float:
        vectors = self._vectorizer.transform([first, second])
        return float((vectors[0] @ vectors[1].T).sum())

    def coverage(self, query: str, place: int) -> float:
        """Inverse document frequency of the query's words that the text has, over that of all of them.

        Words that stand in no text count as the rarest: they are what the query is about all the same. A text that
        shares one word of several has it by chance.
        """
        analyse = self._vectorizer.build_analyzer()
        words = set(analyse(query))
        known = self._vectorizer.vocabulary_
        row = self._rows[place]
        present = set(row.indices.tolist())
        weight = {
            word: float(self._vectorizer.idf_[known[word]]) if word in known else self._rarest for word in words
        }
        shared = [weight[word] for word in words if known.get(word) in present]
        return sum(shared) / sum(weight.values()) if len(shared) >= min(2, max(1, len(words))) else 0.0

    def _terms(self, query: str) -> list[tuple[int, float]]:
        row = self._vectorizer.transform([query])
        terms = list(zip(row.indices.tolist(), row.data.tolist(), strict=True))
        if len(terms) > MOST_TERMS:
            terms = sorted(terms, key=lambda term: (-term[1], term[0]))[:MOST_TERMS]
        return sorted(terms)
