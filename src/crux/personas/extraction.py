"""Reading one passage for causal beliefs: extraction, never invention."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from crux.config import ModelTable
from crux.personas.beliefs import BeliefType, Polarity
from crux.personas.corpus import Chunk, CorpusItem
from crux.quotes import find_quote
from crux.requests import request
from crux.results import Place
from llm_runtime.messages import CallLabel, Request
from llm_runtime.prompts import Fence, load_prompt

Held: TypeAlias = Literal["stated", "implied"]
#: Relationships that one passage may give: more are noise, and merging compares every concept with every other.
MOST_RELATIONS = 12
_MAX_CONCEPT = 160


# The docstrings of answer models are part of the JSON schema that a model gets: to change one breaks recordings.
class Relation(BaseModel):
    """One causal belief as the model read it; ``held`` is all it may say about strength (decision 17)."""

    model_config = ConfigDict(frozen=True)

    cause: str = Field(min_length=3, max_length=600)
    cause_type: BeliefType
    effect: str = Field(min_length=3, max_length=600)
    effect_type: BeliefType
    polarity: Polarity
    held: Held
    quote: str = Field(description="words of the passage, copied exactly, that show it")


class Relations(BaseModel):
    """The answer for one passage."""

    relationships: list[Relation] = Field(max_length=40)


class Read(BaseModel):
    """A relation with its place in the corpus."""

    model_config = ConfigDict(frozen=True)

    relation: Relation
    chunk: str
    place: Place


def extraction_request(chunk: Chunk, item: CorpusItem, author: str, models: ModelTable, seed: int) -> Request:
    """Return the question about one passage. The passage's id is in its label, so no other can change it."""
    label = CallLabel("crux", "extraction", chunk.id)
    fence = Fence(seed, label)
    head = f"title: {item.title or 'untitled'}\ndate: {item.date or 'unknown'}\nauthor: {author}"
    text = load_prompt("crux.personas", "extraction").render(
        source=fence("SOURCE", head), passage=fence("PASSAGE", chunk.text)
    )
    return request(models, "extraction", label, text)


def placed(answer: Relations, chunk: Chunk, item: CorpusItem) -> tuple[list[Read], int]:
    """Return the first relations whose quotation really stands in the passage, and how many had none."""
    reads: list[Read] = []
    relations = answer.relationships[:MOST_RELATIONS]
    for relation in relations:
        span = find_quote(relation.quote, chunk.text)
        if span is None or relation.cause.strip().casefold() == relation.effect.strip().casefold():
            continue
        start, end = chunk.start + span[0], chunk.start + span[1]
        place = Place(
            item=item.id,
            start=start,
            end=end,
            quote=item.text[start:end],
            title=item.title,
            date=item.date,
            url=item.url,
        )
        short = relation.model_copy(
            update={"cause": concept(relation.cause), "effect": concept(relation.effect), "quote": place.quote}
        )
        reads.append(Read(relation=short, chunk=chunk.id, place=place))
    return reads, len(relations) - len(reads)


def concept(text: str) -> str:
    """Return a concept's words on one line, without a full stop, at most 160 characters."""
    return " ".join(text.split()).rstrip(".;,")[:_MAX_CONCEPT]
