"""Has anything materially changed since the last loop? Two answers: ask a model, or compare words.

A strategy errs towards "changed": one more loop costs money, a missed change costs the answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import TypeAlias

from crucible.config import CouncilRole
from crucible.openrouter.client import OpenRouterClient
from llm_runtime.messages import CallLabel, Message
from llm_runtime.prompts import Fence, load_prompt

JUDGE_MODEL = "openrouter/auto"

Positions: TypeAlias = Mapping[CouncilRole, str]

#: What a model thinks aloud before it answers is no answer.
_FIRST_WORD = re.compile(r"\s*+(?:<think>.*?</think>)?+[^A-Za-z]*+([A-Za-z]+)", re.DOTALL)
_WORD = re.compile(r"\w+")


class LLMJudgeDeltaStrategy:
    """A model reads both sets of positions and answers YES or NO; the default.

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
        """Return True unless the judgment's first word is NO.

        Raises:
            CallError: there is no judgment.
        """
        if prior is None:
            return True
        before, now = self._fenced("PRIOR", prior), self._fenced("CURRENT", current)
        question = load_prompt("crucible.executor", "judge").render(prior=before, current=now)
        system = load_prompt("crucible.executor", "judge_system").render()
        asked = [Message("system", system), Message("user", question)]
        first = _FIRST_WORD.match(await self._client.call_openrouter(self._model, asked, label=self._label))
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
        if not 0 < threshold <= 1:
            raise ValueError(f"the threshold must be above 0 and at most 1, and is {threshold}")
        self._threshold = threshold

    async def detect(self, prior: dict[CouncilRole, str] | None, current: dict[CouncilRole, str]) -> bool:
        """Return True where any role's text fell below the threshold, came or went."""
        if prior is None or prior.keys() != current.keys():
            return True
        return any(_word_similarity(prior[role], text) < self._threshold for role, text in current.items())


def _word_similarity(before: str, after: str) -> float:
    a, b = _triples(before), _triples(after)
    return len(a & b) / len(a | b) if a or b else 1.0


def _triples(text: str) -> set[tuple[str, ...]]:
    words = _WORD.findall(text.casefold())
    if len(words) < 3:
        return {tuple(words)} if words else set()
    return {(*first, second[1]) for first, second in pairwise(pairwise(words))}
