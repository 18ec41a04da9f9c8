"""Breaking the topic into aspects that can be argued (CX1)."""

from __future__ import annotations

from pydantic import BaseModel, Field

from crux.budget import clip
from crux.requests import request
from crux.results import DebateAspect
from crux.turns import DebateContext
from llm_runtime.errors import StructuredOutputError
from llm_runtime.messages import CallLabel
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.structured import ask


class Aspect(BaseModel):
    """One aspect as the model gives it."""

    label: str = Field(min_length=3, max_length=400)
    description: str = Field(min_length=3, max_length=1_000)


class Aspects(BaseModel):
    """The answer."""

    aspects: list[Aspect] = Field(max_length=20)


async def decompose(debate: DebateContext) -> list[DebateAspect]:
    """Ask for 2 to 4 aspects: more are cut, fewer are asked for again once.

    Raises:
        StructuredOutputError: even then there were fewer than two.
        CallError: the call failed.
    """
    transcript, config = debate.transcript, debate.config
    label = CallLabel("crux", "decomposition")
    wanted = "two to four" if config.aspects == "auto" else {2: "two", 3: "three", 4: "four"}[config.aspects]
    text = load_prompt("crux", "decomposition").render(
        topic=Fence(transcript.seed, label)(
            "DEBATE QUESTION", clip(transcript.panel.mask()(transcript.topic), 400)
        ),
        count=wanted,
    )
    complained = False

    def enough(answer: Aspects) -> str | None:
        nonlocal complained
        count = len(_distinct(answer))
        if count >= (2 if complained else config.least_aspects):
            return None
        complained = True
        return f"there are {count} different aspects; give {wanted}"

    answer = await ask(debate.generate, request(config.models, "decomposition", label, text), Aspects, check=enough)
    aspects = _distinct(answer.value)[: config.most_aspects]
    if len(aspects) < 2:
        raise StructuredOutputError("a topic needs at least two aspects", answer.reply.text)
    return [
        DebateAspect(id=f"a{place}", label=clip(_flat(one.label), 60), description=clip(_flat(one.description), 80))
        for place, one in enumerate(aspects, start=1)
    ]


def _distinct(answer: Aspects) -> list[Aspect]:
    return list({_flat(one.label).casefold(): one for one in reversed(answer.aspects)}.values())[::-1]


def _flat(text: str) -> str:
    return " ".join(text.split())
