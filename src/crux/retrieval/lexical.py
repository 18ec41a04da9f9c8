"""Passages by their words: BM25 over stems and grams, kept on disk for a corpus that is large."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from math import log, sqrt
from pathlib import Path
from typing import Any

from crux.extras import library
from crux.retrieval.tokens import FEATURE, Tokenizer, language_of
from llm_runtime.errors import StoreUnwritable
from llm_runtime.files import saying

#: Robertson's k1 and b, as tuned for passages of this length (Lin et al. 2021, "Pyserini").
K1, B = 0.9, 0.4
_NOTE = "index.json"
#: Of fewer texts nobody can tell which words are rare; they are weighed as if there were so many.
_LEAST_TEXTS = 50


class Lexical:
    """Texts laid out so that those nearest to a question can be found.

    Args:
        terms: how a text is cut into terms.
        model: the fitted index of the library.
        size: how many texts.
    """

    def __init__(self, terms: Tokenizer, model: Any, size: int) -> None:
        # How often each term stands in a text, in the order in which they come.
        self._counts = lru_cache(maxsize=20_000)(self._counted)
        self._vector = lru_cache(maxsize=20_000)(self._unit)
        self._terms = terms
        self.language = terms.language
        self.stemmed = terms.stemmed
        self.size = size
        self._model = model
        self._vocabulary: dict[str, int] = model.vocab_dict
        self._starts: Any = model.scores["indptr"]
        self._places: Any = model.scores["indices"]
        self._weights: Any = model.scores["data"]
        self._scores: Callable[[str], Any] = lru_cache(maxsize=8)(self._scored)

    @classmethod
    def of(cls, texts: Sequence[str], language: str = "") -> Lexical:
        """Lay texts out.

        Raises:
            MissingExtraError: the extra ``debate`` is not installed.
        """
        terms = Tokenizer(language or language_of(texts))
        model = library("bm25s", FEATURE).BM25(k1=K1, b=B)
        model.index([terms(text) for text in texts] or [["^"]], show_progress=False)
        return cls(terms, model, len(texts))

    @classmethod
    def open(cls, folder: Path) -> Lexical | None:
        """Return what was saved in a folder; None where nothing whole is there."""
        try:
            note = json.loads((folder / _NOTE).read_text(encoding="utf-8"))
            model = library("bm25s", FEATURE).BM25.load(str(folder), mmap=True)
            return cls(Tokenizer(note["language"]), model, note["size"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def save(self, folder: Path) -> None:
        """Keep it in a folder; the note that makes it whole is written last.

        Raises:
            StoreUnwritable: the disk is full, or fails.
        """
        with saying("an index cannot be kept", StoreUnwritable):
            folder.mkdir(parents=True, exist_ok=True)
            self._model.save(str(folder), show_progress=False)
            (folder / _NOTE).write_text(json.dumps({"language": self.language, "size": self.size}), encoding="utf-8")

    def nearest(self, query: str, most: int) -> list[tuple[int, float]]:
        """Return places of the nearest texts with their scores, best first, equal ones in order."""
        np = library("numpy", FEATURE)
        most = min(most, self.size)
        if most < 1:
            return []
        scores = self._scores(query)
        # All that tie with the last place are sorted too, so that equal scores come in order of place.
        edge = np.partition(scores, self.size - most)[self.size - most]
        places = np.flatnonzero((scores >= edge) & (scores > 0))
        order = places[np.lexsort((places, -scores[places]))][:most]
        return list(zip(order.tolist(), scores[order].tolist(), strict=True))

    def _scored(self, query: str) -> Any:
        """Return every text's score; summed in the order of the terms, so that equal corpora give equal answers."""
        scores = library("numpy", FEATURE).zeros(self.size)
        for term in sorted(self._counts(query)):
            if (place := self._vocabulary.get(term)) is not None:
                start, end = self._starts[place], self._starts[place + 1]
                scores[self._places[start:end]] += self._weights[start:end]
        return scores

    def weight(self, term: str, texts: int = 0) -> float:
        """Return the inverse document frequency of a term, among ``texts`` at least; the rarest stands nowhere."""
        place = self._vocabulary.get(term)
        count = int(self._starts[place + 1] - self._starts[place]) if place is not None else 0
        return log(1 + (max(self.size, texts) - count + 0.5) / (count + 0.5))

    def bearing(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return how much of a question's terms each text has, by weight, 0 to 1; repeats count a little more."""
        wanted = {term: self.weight(term) for term in sorted(self._counts(query))}
        total = sum(wanted.values()) or 1.0
        has = wanted.__contains__
        return [
            sum([wanted[term] * counts[term] * (1 + K1) / (counts[term] + K1) for term in filter(has, counts)]) / total
            for counts in map(self._counts, texts)
        ]

    def coverage(self, query: str, text: str) -> float:
        """Return how much of a question's subject a text speaks of, 0 to 1; one term of several is chance: 0.

        It is the weight of the terms that the text has, times that of the terms that any text has, each as a
        share of the whole: a question of words that nobody here ever wrote is about something else.
        """
        wanted = sorted(self._counts(query))
        shared = self._counts(text).keys() & wanted
        if len(shared) < min(2, max(1, len(wanted))):
            return 0.0
        weights = {term: self.weight(term, _LEAST_TEXTS) for term in wanted}
        known = sum(weight for term, weight in weights.items() if term in self._vocabulary)
        return sum(weight for term, weight in weights.items() if term in shared) * known / sum(weights.values()) ** 2

    def likeness(self, first: str, second: str) -> float:
        """Return the cosine of two texts over their weighted terms, counted sublinearly; 0 to 1."""
        left, right = self._vector(first), self._vector(second)
        return sum(weight * right[term] for term, weight in left.items() if term in right)

    def _counted(self, text: str) -> Counter[str]:
        return Counter(self._terms(text))

    def _unit(self, text: str) -> dict[str, float]:
        weights = {term: (1 + log(count)) * self.weight(term) for term, count in sorted(self._counts(text).items())}
        length = sqrt(sum(weight * weight for weight in weights.values())) or 1.0
        return {term: weight / length for term, weight in weights.items()}
