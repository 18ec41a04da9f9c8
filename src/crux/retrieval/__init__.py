"""Finding what a person has written on a claim: no model call, a few milliseconds."""

from crux.retrieval.embed import Embed, EndpointEmbed, embed_of
from crux.retrieval.grounding import Grounding, Grounds
from crux.retrieval.index import Index, Sentence
from crux.retrieval.lexical import Lexical

__all__ = [
    "Embed",
    "EndpointEmbed",
    "Grounding",
    "Grounds",
    "Index",
    "Lexical",
    "Sentence",
    "embed_of",
]
