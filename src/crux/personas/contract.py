"""The contract: who a person is as a debater, in the third person, from their own texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias

from pydantic import BaseModel, Field

from crux.behaviour import BEHAVIOUR
from crux.book import OWN, ClaimBook
from crux.budget import fitting
from crux.config import ModelTable
from crux.personas.corpus import Chunk, Corpus, spread
from crux.quotes import folded, sentences
from crux.requests import entry_line, request
from crux.results import CamelModel, Place
from llm_runtime.messages import CallLabel, Request
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.tokens import estimate_tokens

ProsePart: TypeAlias = Literal["personality", "bias", "stakes", "epistemology", "time_horizon", "evidence_policy"]
PROSE: tuple[ProsePart, ...] = ("personality", "bias", "stakes", "epistemology", "time_horizon", "evidence_policy")
#: What a contract call is shown, in tokens (characters/4): samples of the texts, and claims read in all of them.
SAMPLE_TOKENS, CLAIM_TOKENS = 4_000, 2_500
#: Words in quotation marks, double or single; an apostrophe within a word opens and closes nothing.
_QUOTED = re.compile(r"[“\"]([^“”\"]{3,400})[”\"]|(?<!\w)[‘']([^‘’']{3,400})[’'](?!\w)")


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


class FlipCondition(CamelModel):
    """What would change the person's mind; ``id`` is ``"F1"``, ``"F2"``, ... and can be named as a cause."""

    id: str
    text: str


class VoiceProfile(CamelModel):
    """How the person sounds. The two figures are counted in the corpus; the examples are verbatim."""

    speech_patterns: tuple[str, ...] = ()
    vocabulary: tuple[str, ...] = ()
    forbidden_phrases: tuple[str, ...] = ()
    examples: tuple[Place, ...] = ()
    words_per_sentence: float = 0.0
    contractions_per_100_words: float = 0.0


class PersonaContract(CamelModel):
    """A person as a debater.

    Args:
        dropped_quotes: excerpts, examples and quotations in the prose that stood nowhere in the corpus; the last
            lost their marks for it.
        corpus_digest: of the corpus it was written from.
        invented: nobody who lives or lived; a model may say on its card what no text of its author says.
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
    invented: bool = Field(default=False, exclude_if=lambda invented: not invented)


def contract_request(part: str, name: str, corpus: Corpus, book: ClaimBook, models: ModelTable, seed: int) -> Request:
    """Return the question for one part: a prose part, ``"flip"``, ``"excerpts"`` or ``"voice"``."""
    label = CallLabel("crux", f"contract_{part}", name)
    fence = Fence(seed, label)
    frame = load_prompt("crux.personas", "contract").render(
        name=fence("NAME", name),
        claims=fence("CLAIMS", _claims(book, name) or "none was read"),
        texts=fence("TEXTS", sample(corpus)),
    )
    return request(models, "contract", label, load_prompt("crux.personas", f"contract_{part}").render(frame=frame))


def _claims(book: ClaimBook, name: str) -> str:
    """Return what the author takes a stance to, in all the texts, those met most first, each with a sentence."""
    lines: list[str] = []
    for signed in book.signed_by(name):
        entry = {"claim": signed.words(), "wrote": signed.places[-1].quote}
        date = signed.places[-1].date
        if BEHAVIOUR.before(5):
            mention = next(one for one in book.by_claim[signed.claim.id] if one.author == name and one.stance in OWN)
            entry = {"claim": signed.claim.text, "stance": mention.stance, "wrote": mention.place.quote}
            date = mention.place.date
        if date:
            entry["date"] = date
        lines.append(entry_line(**entry))
    return "\n".join(fitting(lines, CLAIM_TOKENS))


def sample(corpus: Corpus) -> str:
    """Pick passages spread evenly over all texts, the first and the last among them, within :data:`SAMPLE_TOKENS`.

    Not the beginnings of texts: an essay says what it is about there, and how its author argues further on.
    """
    chunks = corpus.chunks
    if not chunks:
        return ""
    most = max(1, SAMPLE_TOKENS // (sum(estimate_tokens(chunk.text) for chunk in chunks) // len(chunks) + 1))
    text = _shown(corpus, spread(chunks, most))
    while most > 1 and estimate_tokens(text) > SAMPLE_TOKENS:
        most -= 1
        text = _shown(corpus, spread(chunks, most))
    return text


def _shown(corpus: Corpus, chunks: Sequence[Chunk]) -> str:
    """Return passages under the heads of their texts, with a mark where something between two is left out."""
    parts: list[str] = []
    before: Chunk | None = None
    for chunk in chunks:
        item = corpus.by_id[chunk.item]
        if before is None or before.item != chunk.item:
            parts.append(f"[{item.date or 'undated'}] {item.title}\n{chunk.text}")
        else:
            parts.append(f"[...]\n\n{chunk.text}" if item.text[before.end : chunk.start].strip() else chunk.text)
        before = chunk
    return "\n\n".join(parts)


def verbatim(quotes: Sequence[str], corpus: Corpus, most: int) -> tuple[list[Place], int]:
    """Return the places of the quotations that stand in the corpus, at most so many, and how many stood nowhere."""
    places = [corpus.find(quote) for quote in quotes]
    return list(dict.fromkeys(place for place in places if place is not None))[:most], places.count(None)


def unquoted(text: str, corpus: Corpus) -> tuple[str, int]:
    """Take the marks from quotations in prose that stand nowhere in the corpus; return the prose, and how many."""
    lost = 0

    def checked(match: re.Match[str]) -> str:
        nonlocal lost
        words = next(group for group in match.groups() if group)
        wanted = folded(words).strip(" .,;:").casefold()
        if any(wanted in folded(item.text).casefold() for item in corpus.items):
            return match[0]
        lost += 1
        return words

    return _QUOTED.sub(checked, text), lost


def measured_voice(corpus: Corpus) -> dict[str, float]:
    """Count words a sentence, and contractions a hundred words, over all texts: two fields of a voice."""
    lengths: list[int] = []
    contractions = 0
    for item in corpus.items:
        for sentence in sentences(item.text):
            words = sentence.split()
            lengths.append(len(words))
            contractions += sum("'" in word[1:-1] or "’" in word[1:-1] for word in words)
    if not (total := sum(lengths)):
        return {}
    each, hundred = round(total / len(lengths), 1), round(100 * contractions / total, 2)
    return {"words_per_sentence": each, "contractions_per_100_words": hundred}
