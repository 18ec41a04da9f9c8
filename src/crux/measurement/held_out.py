"""Held-out fidelity: can a stance be told from the author's other texts, and not from another's? (CX25)

A fifth of a person's documents is hidden. From each, a yes/no question and the author's answer is read; then the
answer is predicted from what the rest of the author's texts says on it, and, as a control, from another author's.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, Field

from crux.budget import clip
from crux.config import CruxConfigurationError, ModelTable
from crux.ending import tried
from crux.measurement.share import Share, share
from crux.personas.corpus import make_corpus
from crux.personas.persona import Persona
from crux.requests import request
from crux.results import CamelModel
from crux.retrieval.embed import Embed
from crux.retrieval.grounding import Grounding
from crux.sources.utterance import Utterance
from llm_runtime.messages import CallLabel, Generate
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.statistics.proportions import mcnemar
from llm_runtime.structured import ask

_TEXT_TOKENS = 4_000
_PASSAGES = 6


class HiddenQuestion(BaseModel):
    """What a hidden text answers."""

    question: str = Field(min_length=8, max_length=600)
    found: bool = True


class Prediction(BaseModel):
    """A predicted answer."""

    answer: str = Field(pattern="^(YES|NO|UNKNOWN)$")


class HeldOutCase(CamelModel):
    """One hidden text.

    ``truth`` is drawn by lot before the question is written (it is worded so that the author's answer is that), so
    that saying YES to everything predicts nothing. ``own`` and ``control`` are the two predictions.
    """

    item: str
    question: str
    truth: str
    own: str
    control: str


class HeldOut(CamelModel):
    """Own against control.

    Args:
        own: right predictions from the author's other texts; UNKNOWN is not right.
        control: right predictions from the other author's texts.
        p_value: McNemar's exact test over the pairs; None without any.
        skipped: hidden texts that gave no question or no prediction.
    """

    persona: str
    cases: tuple[HeldOutCase, ...]
    own: Share
    control: Share
    p_value: float | None
    skipped: int


async def held_out_fidelity(
    persona: Persona,
    other: Persona,
    *,
    generate: Generate,
    models: ModelTable | None = None,
    hidden: Sequence[str] | None = None,
    embed: Embed | None = None,
    seed: int = 0,
) -> HeldOut:
    """Predict the stance of every hidden text, at three calls a text.

    Args:
        persona: whose texts are hidden and predicted.
        other: the control; the author-shuffled half of the comparison.
        hidden: ids of the texts to hide; without, a fifth is drawn by lot.
        seed: of the lots.

    Raises:
        CruxConfigurationError: there are fewer than five texts, or a hidden id is none of them.
        BudgetExceeded, DeadlineExceeded: as ``generate`` raises them.
    """
    rng = random.Random(seed)
    items = persona.corpus.items
    if len(items) < 5:
        raise CruxConfigurationError(f"{persona.name} has {len(items)} texts; hiding a fifth needs at least 5")
    ids = sorted(hidden if hidden is not None else rng.sample([item.id for item in items], len(items) // 5))
    if unknown := [one for one in ids if one not in persona.corpus.by_id]:
        raise CruxConfigurationError(f"{persona.name} has no text {unknown[0]}")
    rest = persona.model_copy(
        update={"corpus": make_corpus(item for item in items if item.id not in ids), "beliefs": None}
    )
    asking = _Asking(generate, models or ModelTable(), seed)
    own, control = Grounding(rest, embed=embed), Grounding(other, embed=embed)
    cases: list[HeldOutCase] = []
    for key in ids:
        truth = "YES" if rng.random() < 0.5 else "NO"
        question = await asking.question(persona.corpus.by_id[key], truth)
        if not question:
            continue
        answers = [
            await asking.predict(key, question, side, grounds)
            for side, grounds in (("own", own), ("control", control))
        ]
        if "" not in answers:
            cases.append(HeldOutCase(item=key, question=question, truth=truth, own=answers[0], control=answers[1]))
    return _scored(persona.name, cases, len(ids))


def _scored(name: str, cases: Sequence[HeldOutCase], count: int) -> HeldOut:
    own = [case.own == case.truth for case in cases]
    control = [case.control == case.truth for case in cases]
    better = sum(a and not b for a, b in zip(own, control, strict=True))
    worse = sum(b and not a for a, b in zip(own, control, strict=True))
    return HeldOut(
        persona=name,
        cases=tuple(cases),
        own=share(own),
        control=share(control),
        p_value=mcnemar(better, worse) if cases else None,
        skipped=count - len(cases),
    )


@dataclass(frozen=True, slots=True)
class _Asking:
    generate: Generate
    models: ModelTable
    seed: int

    async def question(self, item: Utterance, truth: str) -> str:
        """Ask for a question whose answer by this text is ``truth``; empty where the text gives none."""
        label = CallLabel("crux", "held_out_question", item.id)
        fenced = Fence(self.seed, label)("TEXT", clip(item.text, _TEXT_TOKENS))
        text = load_prompt("crux.measurement", "held_out_question").render(text=fenced, answer=truth)
        asked = request(self.models, "judge", label, text)
        # The prompt dictates what to answer where there is no question: that is no quote.
        answer = await tried(ask(self.generate, asked, HiddenQuestion, shown=fenced))
        return " ".join(answer.value.question.split()) if answer and answer.value.found else ""

    async def predict(self, key: str, question: str, side: str, grounding: Grounding) -> str:
        """Ask which answer an author's texts let one expect; empty where the model gave none."""
        label = CallLabel("crux", "held_out_predict", f"{key}@{side}")
        fence = Fence(self.seed, label)
        passages = "\n\n".join(hit.chunk.text for hit in await grounding.index.passages(question, _PASSAGES))
        text = load_prompt("crux.measurement", "held_out_predict").render(
            question=fence("QUESTION", question), passages=fence("PASSAGES", passages or "none")
        )
        answer = await tried(ask(self.generate, request(self.models, "judge", label, text), Prediction))
        return answer.value.answer if answer else ""
