"""The contract: who a person is as a debater, in the third person, from their own texts (sections 1.3, 1.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from pydantic import BaseModel, Field

from crux.budget import clip
from crux.config import ModelTable
from crux.personas.corpus import Corpus, CorpusItem, spread
from crux.quotes import sentences
from crux.requests import request
from crux.results import Place, Wire
from llm_runtime.messages import CallLabel, Request
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.tokens import estimate_tokens

ProsePart: TypeAlias = Literal["personality", "bias", "stakes", "epistemology", "time_horizon", "evidence_policy"]
PROSE: tuple[ProsePart, ...] = ("personality", "bias", "stakes", "epistemology", "time_horizon", "evidence_policy")
#: How much of the corpus a contract call is shown, in tokens (characters/4).
SAMPLE_TOKENS = 6_000
_SAMPLED_TEXTS = 10


class Prose(BaseModel):
    """The answer for one prose part."""

    text: str = Field(min_length=1, max_length=8_000)


class FlipAnswer(BaseModel):
    """The answer for the flip conditions."""

    conditions: list[str] = Field(max_length=12)


class ExcerptAnswer(BaseModel):
    """The answer for the anchor excerpts."""

    excerpts: list[str] = Field(max_length=20)


class VoiceAnswer(BaseModel):
    """The answer for the voice."""

    speech_patterns: list[str] = Field(max_length=12)
    vocabulary: list[str] = Field(max_length=40)
    forbidden_phrases: list[str] = Field(max_length=20)
    examples: list[str] = Field(max_length=8)


class FlipCondition(Wire):
    """What would change the person's mind; ``id`` is ``"F1"``, ``"F2"``, ... and can be named as a cause."""

    id: str
    text: str


class VoiceProfile(Wire):
    """How the person sounds. The two figures are counted in the corpus; the examples are verbatim."""

    speech_patterns: tuple[str, ...] = ()
    vocabulary: tuple[str, ...] = ()
    forbidden_phrases: tuple[str, ...] = ()
    examples: tuple[Place, ...] = ()
    words_per_sentence: float = 0.0
    contractions_per_100_words: float = 0.0


class PersonaContract(Wire):
    """A person as a debater.

    Args:
        dropped_quotes: excerpts and examples that stood nowhere in the corpus.
        corpus_digest: of the corpus it was written from.
    """

    persona_id: str
    name: str
    handle: str = ""
    aliases: tuple[str, ...] = ()
    personality: str
    bias: str
    stakes: str
    epistemology: str
    time_horizon: str
    evidence_policy: str
    flip_conditions: tuple[FlipCondition, ...]
    anchor_excerpts: tuple[Place, ...]
    voice: VoiceProfile
    dropped_quotes: int = 0
    corpus_digest: str = ""


def contract_request(part: str, name: str, corpus: Corpus, models: ModelTable, seed: int) -> Request:
    """The question for one part: a prose part, ``"flip"``, ``"excerpts"`` or ``"voice"``."""
    label = CallLabel("crux", f"contract_{part}", name)
    text = load_prompt("crux.personas", f"contract_{part}").render(
        frame=load_prompt("crux.personas", "contract").render(
            name=Fence(seed, label)("NAME", name), texts=Fence(seed, label)("TEXTS", sample(corpus))
        )
    )
    return request(models, "contract", label, text)


def sample(corpus: Corpus) -> str:
    """Beginnings of texts spread evenly over time, together within :data:`SAMPLE_TOKENS`."""
    chosen = spread(corpus.items, _SAMPLED_TEXTS) if len(corpus.items) <= 200 else _passages(corpus)
    share = SAMPLE_TOKENS // max(1, len(chosen)) - 24
    return "\n\n".join(f"[{item.date or 'undated'}] {item.title}\n{clip(item.text, share)}" for item in chosen)


def verbatim(quotes: Sequence[str], corpus: Corpus, most: int) -> tuple[list[Place], int]:
    """The places of the quotations that stand in the corpus, at most so many, and how many stood nowhere."""
    places = [corpus.find(quote) for quote in quotes]
    found = list(dict.fromkeys(place for place in places if place is not None))
    return found[:most], places.count(None)


def measured_voice(corpus: Corpus) -> tuple[float, float]:
    """Words a sentence, and contractions a hundred words, over all texts."""
    lengths: list[int] = []
    contractions = 0
    for item in corpus.items:
        for sentence in sentences(item.text):
            words = sentence.split()
            lengths.append(len(words))
            contractions += sum("'" in word[1:-1] or "’" in word[1:-1] for word in words)
    total = sum(lengths)
    if not total:
        return 0.0, 0.0
    return round(total / len(lengths), 1), round(100 * contractions / total, 2)


def _passages(corpus: Corpus) -> list[CorpusItem]:
    """For posts: as many, spread over time, as fill the sample."""
    fit = max(1, SAMPLE_TOKENS // (24 + max(1, _typical(corpus))))
    return spread(corpus.items, min(200, fit))


def _typical(corpus: Corpus) -> int:
    lengths = sorted(estimate_tokens(item.text) for item in corpus.items)
    return lengths[len(lengths) // 2]
