"""Embeddings by a sentence model or over an API, with their vectors cached by content (CX19)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from crux.extras import library
from crux.retrieval.embedding import Space, TfidfEmbedding
from llm_runtime.errors import StoreUnwritable

Encode: TypeAlias = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""Texts to vectors of one length. Whoever supplies it pays for it; it is called only for what is not cached."""


class VectorCache:
    """Vectors in a folder, one file each, named by the digest of embedding and text.

    Args:
        root: the folder; None keeps the vectors in memory.
    """

    def __init__(self, root: Path | None = None) -> None:
        self._root = root
        self._kept: dict[str, Any] = {}

    def vectors(self, name: str, texts: Sequence[str], encode: Encode) -> Any:
        """Return one row a text; only texts that were never seen are encoded, each once.

        Raises:
            ValueError: ``encode`` gave another number of vectors than texts.
            StoreUnwritable: the disk is full, or fails.
        """
        np = library("numpy", "retrieval")
        keys = [hashlib.sha256(f"{name}\0{text}".encode()).hexdigest() for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if self._find(key) is None}
        if missing:
            fresh = encode(list(missing.values()))
            if len(fresh) != len(missing):
                raise ValueError(f"{name} gave {len(fresh)} vectors for {len(missing)} texts")
            for key, vector in zip(missing, fresh, strict=True):
                self._keep(key, np.asarray(vector, dtype=np.float32))
        return np.stack([self._kept[key] for key in keys]) if keys else np.zeros((0, 1), dtype=np.float32)

    def _find(self, key: str) -> Any:
        np = library("numpy", "retrieval")
        if key not in self._kept and self._root is not None:
            path = self._root / f"{key}.npy"
            if path.is_file():
                try:
                    self._kept[key] = np.load(path, allow_pickle=False)
                except (ValueError, OSError, EOFError):
                    return None
        return self._kept.get(key)

    def _keep(self, key: str, vector: Any) -> None:
        np = library("numpy", "retrieval")
        self._kept[key] = vector
        if self._root is None:
            return
        try:
            self._root.mkdir(parents=True, exist_ok=True)
            part = self._root / f".{key}.npy"
            np.save(part, vector, allow_pickle=False)
            part.replace(self._root / f"{key}.npy")
        except OSError as fault:
            raise StoreUnwritable(f"a vector cannot be cached: {fault.strerror}") from None


class DenseEmbedding:
    """Any function from texts to vectors.

    Args:
        name: of the model; part of the cache's key.
        encode: the function.
        cache: where vectors are kept.
    """

    def __init__(self, name: str, encode: Encode, cache: VectorCache | None = None) -> None:
        self.name = name
        self._encode = encode
        self._cache = cache or VectorCache()

    def fit(self, texts: Sequence[str]) -> Space:
        return _DenseSpace(self, texts)

    def rows(self, texts: Sequence[str]) -> Any:
        """Return unit vectors, one a text."""
        np = library("numpy", "retrieval")
        vectors = self._cache.vectors(self.name, texts, self._encode)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / np.where(norms == 0, 1, norms)


class _DenseSpace:
    def __init__(self, embedding: DenseEmbedding, texts: Sequence[str]) -> None:
        self._embedding = embedding
        self._rows = embedding.rows(texts)
        # What a text is about is a question of words, whatever the vectors say: see coverage().
        self._words = TfidfEmbedding().fit(texts)

    def nearest(self, query: str, most: int) -> list[tuple[int, float]]:
        np = library("numpy", "retrieval")
        if not len(self._rows):
            return []
        scores = self._rows @ self._embedding.rows([query])[0]
        order = np.lexsort((np.arange(len(scores)), -scores))[:most]
        return [(int(place), max(0.0, float(scores[place]))) for place in order]

    def similarity(self, first: str, second: str) -> float:
        rows = self._embedding.rows([first, second])
        return max(0.0, float(rows[0] @ rows[1]))

    def coverage(self, query: str, place: int) -> float:
        return self._words.coverage(query, place)


def sentence_model(name: str = "all-MiniLM-L6-v2", cache: VectorCache | None = None) -> DenseEmbedding:
    """Return a model of the sentence-transformers library, loaded when first used.

    Raises:
        MissingExtraError: the library is not installed; it is no part of Assay.
    """
    feature = "a sentence model (besides: pip install sentence-transformers)"
    model = library("sentence_transformers", feature).SentenceTransformer(name)

    def encode(texts: Sequence[str]) -> Sequence[Sequence[float]]:
        return model.encode(list(texts))

    return DenseEmbedding(name, encode, cache)
