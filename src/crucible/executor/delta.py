"""Has anything materially changed since the last loop? Three answers: ask a model, compare words, compare vectors.

A strategy errs towards "changed": one more loop costs money, a missed change costs the answer.
"""

from __future__ import annotations

import asyncio
import inspect
import math
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from crucible.config import CouncilRole
from crucible.openrouter.client import OpenRouterClient
from llm_runtime.messages import CallLabel, Message
from llm_runtime.prompts import Fence, load_prompt

JUDGE_MODEL = "openrouter/auto"

Vectors: TypeAlias = Sequence[Sequence[float]]
Embed: TypeAlias = "Callable[[list[str]], Vectors | Awaitable[Vectors]]"
Positions: TypeAlias = Mapping[CouncilRole, str]

_FIRST_WORD = re.compile(r"[^A-Za-z]*([A-Za-z]+)")
_WORD = re.compile(r"\w+")


class LLMJudgeDeltaStrategy:
    """A model reads both sets of positions and answers YES or NO (specification 2.4); the default.

    Args:
        client: makes the call.
        label: where in the run the judgment stands.
        seed: the fences around the positions are drawn from it.
        model: the judge.
    """

    def __init__(self, client: OpenRouterClient, label: CallLabel, seed: int, model: str = JUDGE_MODEL) -> None:
        self._client = client
        self._label = label
        self._fence = Fence(seed, label)
        self._model = model

    async def detect(self, prior: dict[CouncilRole, str] | None, current: dict[CouncilRole, str]) -> bool:
        """True unless the judgment's first word is NO.

        Raises:
            CallError: there is no judgment.
        """
        if prior is None:
            return True
        question = load_prompt("crucible.executor", "judge").render(
            prior=self._fenced("PRIOR", prior), current=self._fenced("CURRENT", current)
        )
        system = load_prompt("crucible.executor", "judge_system").render()
        judgment = await self._client.call_openrouter(
            self._model, [Message("system", system), Message("user", question)], label=self._label
        )
        first = _FIRST_WORD.match(judgment)
        return first is None or first[1].upper() != "NO"

    def _fenced(self, name: str, positions: Positions) -> str:
        return "\n\n".join(self._fence(f"{name} {role.value}", text) for role, text in positions.items())


class TextSimilarityDeltaStrategy:
    """Compares wording, and asks nobody: changed where a role's text shares too few three-word runs with before.

    Similarity is the Jaccard index of the two sets of word triples, case and punctuation ignored, from 0 to 1.
    At the default of 0.8 a text of 100 words counts as unchanged while no more than three of them differ.
    It sees words and not meaning: a paraphrase counts as a change.

    Args:
        threshold: the similarity below which a text has changed; above 0, at most 1.
    """

    def __init__(self, threshold: float = 0.8) -> None:
        self._threshold = _checked(threshold)

    async def detect(self, prior: dict[CouncilRole, str] | None, current: dict[CouncilRole, str]) -> bool:
        """True where any role's text fell below the threshold, came or went."""
        if prior is None or prior.keys() != current.keys():
            return True
        return any(_word_similarity(prior[role], text) < self._threshold for role, text in current.items())


class EmbeddingDeltaStrategy:
    """Compares vectors: changed where the cosine between a role's two texts falls below a threshold.

    Args:
        embed: texts -> one vector for each, in the same order; a coroutine function, or a plain one, which
            runs in a thread. Called once with the prior texts followed by the current ones.
        threshold: the cosine below which a text has changed; above 0, at most 1. What is right depends on
            the embedder; 0.95 suits most sentence embedders.
    """

    def __init__(self, embed: Embed, threshold: float = 0.95) -> None:
        self._embed = embed
        self._threshold = _checked(threshold)

    async def detect(self, prior: dict[CouncilRole, str] | None, current: dict[CouncilRole, str]) -> bool:
        """True where any role's vector moved too far, came or went.

        Raises:
            ValueError: the embedder gave another number of vectors, or one without length or direction.
        """
        if prior is None or prior.keys() != current.keys():
            return True
        texts = [*(prior[role] for role in current), *current.values()]
        vectors = await self._vectors(texts)
        if len(vectors) != len(texts):
            raise ValueError(f"the embedder gave {len(vectors)} vectors for {len(texts)} texts")
        half = len(current)
        return any(_cosine(vectors[i], vectors[half + i]) < self._threshold for i in range(half))

    async def _vectors(self, texts: list[str]) -> Vectors:
        if inspect.iscoroutinefunction(self._embed):
            return await self._embed(texts)
        made = await asyncio.to_thread(self._embed, texts)
        return await made if inspect.isawaitable(made) else made


def _checked(threshold: float) -> float:
    if not 0 < threshold <= 1:
        raise ValueError(f"the threshold must be above 0 and at most 1, and is {threshold}")
    return threshold


def _word_similarity(before: str, after: str) -> float:
    a, b = _triples(before), _triples(after)
    return len(a & b) / len(a | b) if a or b else 1.0


def _triples(text: str) -> set[tuple[str, ...]]:
    words = _WORD.findall(text.casefold())
    if len(words) < 3:
        return {tuple(words)} if words else set()
    return {(*first, second[1]) for first, second in pairwise(pairwise(words))}


def _cosine(a: Sequence[float], b: Sequence[float]) -> float:
    lengths = math.hypot(*a) * math.hypot(*b)
    if len(a) != len(b) or not lengths or not math.isfinite(lengths):
        raise ValueError("the embedder gave vectors that cannot be compared")
    return math.fsum(x * y for x, y in zip(a, b, strict=True)) / lengths
