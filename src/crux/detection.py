"""Who disagrees with whom, by three booleans and no confidence (CX2)."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field

from crux.budget import clip
from crux.history import judged
from crux.requests import request
from crux.results import DebateAspect, DisagreementCandidate, Said
from crux.turns import DebateContext
from llm_runtime.messages import CallLabel
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.structured import ask

_SAID_TOKENS = 1_500


class Pair(BaseModel):
    """One pair as the model judges it."""

    has_direct_opposition: bool
    has_specific_claim: bool
    topic_relevant: bool
    personas: list[str] = Field(min_length=2, max_length=2)
    claim: str = Field(max_length=1_000)


class Pairs(BaseModel):
    """The answer."""

    pairs: list[Pair] = Field(max_length=12)


async def detect(
    debate: DebateContext, aspect: DebateAspect, messages: Sequence[Said], label: CallLabel, most: int
) -> list[DisagreementCandidate]:
    """Ask for at most ``most`` pairs, real names, each pair once; speakers that the model invents are left out.

    Raises:
        StructuredOutputError, CallError: no usable answer.
    """
    panel, seed = debate.transcript.panel, debate.transcript.seed
    mask, fence = panel.mask(), Fence(seed, label)
    speakers = list(dict.fromkeys(message.persona for message in messages))
    most = min(most, len(speakers) * (len(speakers) - 1) // 2)
    text = load_prompt("crux", "detection").render(
        topic=fence("DEBATE QUESTION", clip(mask(debate.transcript.topic), 400)),
        aspect=fence("ASPECT", mask(f"{aspect.label}\n{aspect.description}")),
        said=fence("WHAT WAS SAID", judged(messages, mask, _SAID_TOKENS)),
        most={1: "one pair", 2: "two pairs"}.get(most, "three pairs"),
    )
    answer = (await ask(debate.generate, request(debate.config.models, "detection", label, text), Pairs)).value
    candidates: dict[frozenset[str], DisagreementCandidate] = {}
    for pair in answer.pairs:
        first, second = (panel.named(name) for name in pair.personas)
        if first is None or second is None or first == second or not {first, second} <= set(speakers):
            continue
        ordered = sorted((first, second), key=speakers.index)
        claim = clip(" ".join(pair.claim.split()), 80)
        named = {"has_specific_claim": pair.has_specific_claim and bool(claim), "personas": ordered, "claim": claim}
        candidates.setdefault(frozenset(ordered), DisagreementCandidate.model_validate({**pair.model_dump(), **named}))
    return list(candidates.values())[:most]
