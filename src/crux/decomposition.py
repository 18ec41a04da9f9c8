"""Breaking the topic into aspects that can be argued (CX1)."""

from __future__ import annotations

from pydantic import BaseModel, Field

from crux.budget import clip, flat
from crux.requests import request
from crux.results import DebateAspect
from crux.turns import DebateContext
from llm_runtime.errors import StructuredOutputError
from llm_runtime.messages import CallLabel
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.structured import ask

_FOUND = "At issue is a question on which what both have written parts."


class Aspect(BaseModel):
    """One aspect as the model gives it."""

    label: str = Field(min_length=3, max_length=400)
    description: str = Field(min_length=3, max_length=1_000)


class Aspects(BaseModel):
    """The answer."""

    aspects: list[Aspect] = Field(max_length=20)


async def decompose(debate: DebateContext) -> list[DebateAspect]:
    """Return 2 to 4 aspects: the questions of the settings, and where these are fewer than two, a model's.

    Raises:
        StructuredOutputError: even when asked again a model gave fewer than two.
        CallError: the call failed.
    """
    configured = [Aspect(label=question, description=_FOUND) for question in debate.config.questions]
    aspects = configured if len(configured) > 1 else [*configured, *await _asked(debate)][: debate.config.most_aspects]
    return [
        DebateAspect(id=f"a{place}", label=clip(flat(one.label), 60), description=clip(flat(one.description), 80))
        for place, one in enumerate(aspects, start=1)
    ]


async def _asked(debate: DebateContext) -> list[Aspect]:
    """Ask for aspects: more than there is room for are cut, fewer are asked for again once."""
    transcript, config = debate.transcript, debate.config
    label = CallLabel("crux", "decomposition")
    wanted = "two to four" if config.aspects == "auto" else {2: "two", 3: "three", 4: "four"}[config.aspects]
    topic = Fence(transcript.seed, label)("DEBATE QUESTION", clip(transcript.panel.mask()(transcript.topic), 400))
    text = load_prompt("crux", "decomposition").render(topic=topic, count=wanted)
    complained = False

    def enough(answer: Aspects) -> str | None:
        nonlocal complained
        count = len(_distinct(answer))
        if count >= (2 if complained or config.aspects == "auto" else config.aspects):
            return None
        complained = True
        return f"different aspects: {count}; give {wanted}"

    answer = await ask(debate.generate, request(config.models, "decomposition", label, text), Aspects, check=enough)
    aspects = _distinct(answer.value)[: config.most_aspects]
    if len(aspects) < 2:
        raise StructuredOutputError("a topic needs at least two aspects", answer.reply.text)
    return aspects


def _distinct(answer: Aspects) -> list[Aspect]:
    return list({flat(one.label).casefold(): one for one in reversed(answer.aspects)}.values())[::-1]
