"""Whether a council still moves: its seats' conclusions are compared, and not their words.

The engine's own judge must call every claim, number and reason that came or went a change. Seats are told to answer
every objection in a whole new text, so some always come and go, and such a council never ends early. The frozen
specification lets the strategy be replaced (``EngineConfig.delta_strategy``); this is one (CR23).
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from crucible.config import CouncilRole
from crucible.events import Concluded
from llm_runtime.errors import StructuredOutputError
from llm_runtime.events import Emit
from llm_runtime.messages import CallLabel, Generate, Message, Request
from llm_runtime.normal import normal
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.structured import ask

_MODEL = "openrouter/auto"
_FIRST = 2


class Conclusion(BaseModel):
    """What one role concludes, before and now."""

    role: str
    before: Annotated[str, Field(min_length=1)]
    after: Annotated[str, Field(min_length=1)]
    same: bool

    @property
    def stands(self) -> bool:
        """Whether it is the same, by the judge or to the letter."""
        return self.same or normal(self.before).text == normal(self.after).text


class Conclusions(BaseModel):
    """The conclusions of all roles."""

    conclusions: list[Conclusion]


class ConclusionsJudge:
    """A delta strategy: a model states each role's conclusion before and now; changed where one is another.

    A judgment that cannot be read counts as changed, as in the engine.

    Args:
        generate: the model function.
        emit: hears the conclusions.
        seed: the run's.
    """

    def __init__(self, generate: Generate, emit: Emit, seed: int) -> None:
        self._generate = generate
        self._emit = emit
        self._seed = seed
        self._loop = _FIRST - 1

    async def detect(self, prior: dict[CouncilRole, str] | None, current: dict[CouncilRole, str]) -> bool:
        """Return True unless every role concludes what it concluded before.

        Raises:
            CallError: there is no judgment.
        """
        self._loop += 1
        if prior is None or prior.keys() != current.keys():
            return True
        label = CallLabel("crucible", "delta", round=self._loop)
        fence = Fence(self._seed, label)
        roles = [role.value for role in current]
        pairs = [
            f"{fence(f'BEFORE {role.value}', prior[role])}\n\n{fence(f'NOW {role.value}', text)}"
            for role, text in current.items()
        ]
        task = load_prompt("crucible.prose", "conclusions").render(positions="\n\n".join(pairs), roles=", ".join(roles))

        def complete(answer: Conclusions) -> str | None:
            missing = [role for role in roles if role not in {one.role for one in answer.conclusions}]
            return f"no conclusion of {', '.join(missing)}" if missing else None

        request = Request(_MODEL, (Message("user", task),), label)
        try:
            # The prompt dictates a form, and an object that follows it is the judge's own.
            answer = await ask(self._generate, request, Conclusions, reasks=0, check=complete, shown="\n".join(pairs))
        except StructuredOutputError:
            return True
        by_role = {one.role: one for one in answer.value.conclusions if one.role in roles}
        for role, one in by_role.items():
            self._emit(Concluded(loop=self._loop, role=role, before=one.before, after=one.after, same=one.stands))
        return not all(one.stands for one in by_role.values())
