"""How specific a text is, by how rare its words are among the debaters' own passages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log

from crux.retrieval.tokens import Tokenizer, language_of


class Rarity:
    """Inverse document frequency, idf(w) = ln((1 + N) / (1 + df(w))) + 1 (Spärck Jones 1972, smoothed).

    Args:
        passages: N of them, in one language; words are stemmed as in :mod:`crux.retrieval.tokens`.
    """

    def __init__(self, passages: Sequence[str]) -> None:
        self._terms = Tokenizer(language_of(passages))
        self._frequency: Counter[str] = Counter()
        self._count = 0
        for passage in passages:
            self._count += 1
            self._frequency.update(set(self._terms(passage)))

    def specificity(self, text: str) -> float | None:
        """Return the mean idf of a text's words, 1 and up; None for a text without any."""
        words = set(self._terms(text))
        if not words:
            return None
        return sum(log((1 + self._count) / (1 + self._frequency[word])) + 1 for word in words) / len(words)
