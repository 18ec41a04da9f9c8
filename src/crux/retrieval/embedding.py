"""One protocol for embeddings, and TF-IDF, the default (CX19).

TF-IDF found the known replies of the test corpus as well as a sentence model did, in a two-hundredth of the time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from math import log, sqrt
from typing import Any, Protocol

from crux.extras import library

#: A whole essay as a query is cut to its most telling words: the rest costs time and finds nothing.
MOST_TERMS = 400
#: Postings that one query may touch. A corpus of a thousand passages has no more for any query; in a hundred times
#: as many, what is left out are the commonest words, which weigh the least.
MOST_POSTINGS = 75_000
_MOST_REMEMBERED = 20_000


class Space(Protocol):
    """Texts laid out so that the nearest to another text can be found."""

    def nearest(self, query: str, most: int) -> list[tuple[int, float]]:
        """Return places of the nearest texts with cosine similarity, 0 to 1, best first; equal ones in order."""
        ...

    def similarity(self, first: str, second: str) -> float:
        """Return the cosine similarity of two texts, 0 to 1."""
        ...

    def coverage(self, query: str, place: int) -> float:
        """Return how much of the query's subject the text at ``place`` speaks of, 0 to 1; one word is chance: 0."""
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


def singular(word: str) -> str:
    """Return a word without its plural ending: the S-stemmer of Harman, "How effective is suffixing?" (1991).

    Essays speak of republics where a question speaks of a republic; stronger stemming joins what differs.
    """
    if len(word) < 4 or word[-1] != "s" or word.endswith(("us", "ss")):
        return word
    if word.endswith("ies"):
        return word if word.endswith(("eies", "aies")) else f"{word[:-3]}y"
    return word[:-1]


class _TfidfSpace:
    """An inverted index: a query touches the postings of its own words and nothing else.

    The library fits and weighs the texts; a query is weighed here, by the same formula (1 + ln(count), times idf,
    to unit length), because the library's own way takes a millisecond of checks for a line of text.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._np = library("numpy", "retrieval")
        text = library("sklearn.feature_extraction.text", "retrieval")
        plain = text.TfidfVectorizer(stop_words="english").build_analyzer()
        self._words_of: Callable[[str], list[str]] = lambda whole: [singular(word) for word in plain(whole)]
        vectorizer = text.TfidfVectorizer(analyzer=self._words_of, sublinear_tf=True, dtype=self._np.float32)
        self._size = len(texts)
        try:
            rows = vectorizer.fit_transform(texts)
        except ValueError:  # nothing but stop words, or nothing at all
            vectorizer.fit(["placeholder"])
            rows = vectorizer.transform(texts) if texts else vectorizer.transform([""])
        columns = rows.tocsc()
        self._starts: list[int] = columns.indptr.tolist()
        self._places: Any = columns.indices
        self._weights: Any = columns.data
        self._row_starts: list[int] = rows.indptr.tolist()
        self._row_terms: Any = rows.indices
        self._vocabulary: dict[str, int] = {word: int(term) for word, term in vectorizer.vocabulary_.items()}
        self._idf: list[float] = vectorizer.idf_.tolist()
        self._rarest = max(self._idf)
        self._vectors: dict[str, dict[int, float]] = {}

    def nearest(self, query: str, most: int) -> list[tuple[int, float]]:
        np = self._np
        most = min(most, self._size)
        if most < 1:
            return []
        scores = np.zeros(self._size, dtype=np.float32)
        for term, weight in self._terms(query):
            start, end = self._starts[term], self._starts[term + 1]
            scores[self._places[start:end]] += weight * self._weights[start:end]
        # All that tie with the last place are sorted too, so that equal scores come in order of place.
        edge = np.partition(scores, self._size - most)[self._size - most]
        candidates = np.flatnonzero(scores >= max(edge, np.float32(1e-9)))
        order = candidates[np.lexsort((candidates, -scores[candidates]))][:most]
        return list(zip(order.tolist(), scores[order].tolist(), strict=True))

    def similarity(self, first: str, second: str) -> float:
        left, right = self._vector(first), self._vector(second)
        return sum(weight * right[term] for term, weight in left.items() if term in right)

    def coverage(self, query: str, place: int) -> float:
        """Return the inverse document frequency of the query's words that the text has, over that of all of them.

        Words that stand in no text count as the rarest: they are what the query is about all the same. A text that
        shares one word of several has it by chance.
        """
        words = sorted(set(self._words_of(query)))
        present = set(self._row_terms[self._row_starts[place] : self._row_starts[place + 1]].tolist())
        known = [self._vocabulary.get(word) for word in words]
        shared = [self._idf[term] for term in known if term is not None and term in present]
        total = sum(self._rarest if term is None else self._idf[term] for term in known)
        return sum(shared) / total if len(shared) >= min(2, max(1, len(words))) else 0.0

    def _terms(self, query: str) -> list[tuple[int, float]]:
        """Return the query's weightiest words that fit into the bounds, in order of the vocabulary."""
        kept: list[tuple[int, float]] = []
        left = MOST_POSTINGS
        for term, weight in sorted(self._vector(query).items(), key=lambda term: (-term[1], term[0]))[:MOST_TERMS]:
            left -= self._starts[term + 1] - self._starts[term]
            if left < 0 and kept:
                break
            kept.append((term, weight))
        return sorted(kept)

    def _vector(self, text: str) -> dict[int, float]:
        """Return the text's unit vector; remembered, since a corpus's sentences are asked for again and again."""
        if (known := self._vectors.get(text)) is not None:
            return known
        counts = Counter(self._vocabulary[word] for word in self._words_of(text) if word in self._vocabulary)
        weights = {term: (1 + log(count)) * self._idf[term] for term, count in sorted(counts.items())}
        length = sqrt(sum(weight * weight for weight in weights.values())) or 1.0
        if len(self._vectors) >= _MOST_REMEMBERED:
            self._vectors.clear()
        vector = self._vectors[text] = {term: weight / length for term, weight in weights.items()}
        return vector
