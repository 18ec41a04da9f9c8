"""Belief consistency by a judge: prompt-to-line and line-to-line (Abdulhai et al. 2025, arXiv:2511.00222)."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel

from crux.anonymity import Panel
from crux.budget import clip
from crux.config import ModelTable
from crux.ending import tried
from crux.measurement.share import Share, share
from crux.personas.persona import Persona
from crux.requests import request
from crux.results import CamelModel, DebateResult
from llm_runtime.messages import CallLabel, Generate
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.structured import ask

_PORTRAIT_TOKENS = 900


class Consistent(BaseModel):
    """The judge's boolean."""

    consistent: bool


class JudgedConsistency(CamelModel):
    """By a judge, one question a line.

    Args:
        prompt_to_line: lines that are consistent with the persona's portrait, over all that were judged.
        line_to_line: lines that are consistent with the speaker's line before, over all that were judged.
        unjudged: questions that got no usable answer.
    """

    prompt_to_line: Share
    line_to_line: Share
    unjudged: int


async def judged_consistency(
    result: DebateResult, personas: Sequence[Persona], *, generate: Generate, models: ModelTable | None = None
) -> JudgedConsistency:
    """Ask about every line of a debate: two calls a line, but one for a speaker's first.

    Raises:
        BudgetExceeded, DeadlineExceeded: as ``generate`` raises them.
    """
    judge = _Judge(generate, models or ModelTable(), Panel(personas), result.seed)
    to_prompt: list[bool] = []
    to_line: list[bool] = []
    for persona in personas:
        lines = [m.text for m in (*result.messages, *result.room_messages) if m.persona == persona.name]
        contract = persona.contract
        portrait = clip(
            " ".join([contract.personality, contract.bias, contract.stakes, contract.epistemology]),
            _PORTRAIT_TOKENS,
        )
        for number, line in enumerate(lines, start=1):
            to_prompt += await judge.consistent("prompt_to_line", persona.name, number, portrait, line)
            if number > 1:
                to_line += await judge.consistent("line_to_line", persona.name, number, lines[number - 2], line)
    return JudgedConsistency(prompt_to_line=share(to_prompt), line_to_line=share(to_line), unjudged=judge.unjudged)


class _Judge:
    def __init__(self, generate: Generate, models: ModelTable, panel: Panel, seed: int) -> None:
        self._generate = generate
        self._models = models
        self._panel = panel
        self._seed = seed
        self.unjudged = 0

    async def consistent(self, kind: str, name: str, number: int, before: str, line: str) -> list[bool]:
        """Return one boolean, or none where the judge gave no usable answer."""
        label = CallLabel("crux", kind, self._panel.seat(name), number)
        fence, mask = Fence(self._seed, label), self._panel.mask()
        text = load_prompt("crux.measurement", kind).render(
            before=fence("FIRST", mask(before)), line=fence("SECOND", mask(line))
        )
        answer = await tried(ask(self._generate, request(self._models, "judge", label, text), Consistent))
        self.unjudged += answer is None
        return [answer.value.consistent] if answer else []
