"""One or two sentences about a finished round: internal context, never spoken (CX13)."""

from __future__ import annotations

from pydantic import BaseModel, Field

from crux.budget import clip
from crux.ending import answered
from crux.events import RoundSummarised
from crux.history import judged
from crux.requests import request
from crux.results import DebateAspect, Said
from crux.turns import DebateContext
from llm_runtime.errors import LlmRuntimeError
from llm_runtime.messages import CallLabel
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.structured import ask

_SAID_TOKENS = 2_000
_SUMMARY_TOKENS = 90


class Summary(BaseModel):
    """The answer."""

    summary: str = Field(min_length=1, max_length=4_000)
    messages: list[str] = Field(default_factory=list, max_length=60)


async def summarise(debate: DebateContext, aspect: DebateAspect, number: int) -> str | None:
    """Summarise a round into the transcript; a line that says why, where that failed.

    Ids that are not of the round are dropped; names never were in what the summary was made from, so the speakers'
    letters stand in it, and each agent's view turns them into what that agent may see.
    """
    transcript = debate.transcript
    rooms = {card.crux_room_id for card in transcript.cards if card.source_aspect == aspect.id}
    spoken: list[Said] = [m for m in transcript.messages if m.aspect == aspect.id]
    spoken += [m for m in transcript.room_messages if m.room_id in rooms and m.phase == "convergence"]
    if not spoken:
        return None
    label = CallLabel("crux", "summary", "", number)
    fence, mask = Fence(transcript.seed, label), transcript.panel.mask()
    text = load_prompt("crux", "summary").render(
        topic=fence("DEBATE QUESTION", clip(mask(transcript.topic), 400)),
        aspect=fence("ASPECT", mask(aspect.label)),
        said=fence("WHAT WAS SAID", judged(spoken, mask, _SAID_TOKENS)),
    )
    answer = await answered(ask(debate.generate, request(debate.config.models, "summary", label, text), Summary))
    if isinstance(answer, LlmRuntimeError):
        return f"the summary of round {number} is missing: {' '.join(str(answer).split())[:200]}"
    ids = [key for key in answer.value.messages if key in {message.id for message in spoken}]
    summary = clip(" ".join(answer.value.summary.split()), _SUMMARY_TOKENS)
    debate.emit(RoundSummarised(aspect=aspect.id, summary=summary, messages=ids))
    return None
