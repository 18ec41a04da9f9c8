"""What the same topic gets without a debate: a one-call and a chain-of-thought answer (CX24)."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from crux.budget import clip
from crux.ending import tried
from crux.events import BaselineAnswered
from crux.requests import request
from crux.results import Baseline
from crux.turns import DebateContext
from llm_runtime.messages import CallLabel
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.structured import ask

_METHODS: tuple[tuple[Literal["one call", "chain of thought"], str], ...] = (
    ("one call", "baseline_one_call"),
    ("chain of thought", "baseline_thinking"),
)


class BaselineAnswer(BaseModel):
    """The answer of either."""

    thinking: str = ""
    answer: str = Field(min_length=1, max_length=20_000)


async def ask_baselines(debate: DebateContext) -> None:
    """Ask for both answers, and say each; one that cannot be had is left out.

    Raises:
        BudgetExceeded, DeadlineExceeded: as the model function raises them.
    """
    for method, prompt in _METHODS:
        label = CallLabel("crux", prompt)
        transcript = debate.transcript
        topic = Fence(transcript.seed, label)("DEBATE QUESTION", clip(transcript.topic, 500))
        asked = request(debate.config.models, "baseline", label, load_prompt("crux", prompt).render(topic=topic))
        answer = await tried(ask(debate.generate, asked, BaselineAnswer))
        if answer is None:
            continue
        usage, cost = answer.reply.usage, answer.reply.cost
        took = {"calls": answer.attempts, "input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
        debate.emit(BaselineAnswered(baseline=Baseline(method=method, answer=answer.value.answer, cost=cost, **took)))
