"""Finding what a person has written on a claim: no model call, a few milliseconds."""

from crux.retrieval.dense import DenseEmbedding, VectorCache, sentence_model
from crux.retrieval.embedding import Embedding, Space, TfidfEmbedding
from crux.retrieval.grounding import Grounding, Grounds

__all__ = [
    "DenseEmbedding",
    "Embedding",
    "Grounding",
    "Grounds",
    "Space",
    "TfidfEmbedding",
    "VectorCache",
    "sentence_model",
]
