"""How a question becomes a request, and whom it is put to."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import field
from typing import TypeAlias, TypeVar

from pydantic import BaseModel

from crux.answers import Answers
from crux.config import ModelTable, Task
from crux.ending import tried
from llm_runtime.messages import CallLabel, Generate, Message, Request
from llm_runtime.prompts import Fence
from llm_runtime.structs import Struct
from llm_runtime.structured import ask

T = TypeVar("T", bound=BaseModel)
Step: TypeAlias = Callable[[str, str, int, int], None]
"""Takes an author, a step, how far it is, and of how many."""

BATCH_TOKENS = 4_000
"""Of passages, so many tokens are read a call."""


class Questioner(Struct):
    """Whom readers, judges and comparisons ask, and how.

    Args:
        models: who answers which question, at which temperature.
        seed: 0 to 2^53-1; nonces derive from it.
        language: in which claims, questions and proposals are written; quotations stay as they are.
        tokens_a_call: of passages, 200 or more; a model with a short window needs fewer.
        answers: what was answered before, by what was asked; changed in place.
    """

    generate: Generate
    models: ModelTable = field(default_factory=ModelTable)
    seed: int = 0
    language: str = "English"
    tokens_a_call: int = BATCH_TOKENS
    answers: Answers = field(default_factory=Answers)

    def fence(self, label: CallLabel) -> Fence:
        """Return the fence of a call."""
        return Fence(self.seed, label)

    def request(self, task: Task, label: CallLabel, text: str) -> Request:
        """Return one question."""
        return request(self.models, task, label, text)

    async def tried(self, task: Task, label: CallLabel, text: str, model: type[T]) -> T | None:
        """Return the answer to a question; None where the model gave no usable one."""
        answer = await tried(ask(self.generate, self.request(task, label, text), model))
        return answer and answer.value

    async def ask(self, asked: Request, model: type[T]) -> T:
        """Return the answer, which is kept.

        Raises:
            StructuredOutputError, CallError: the model gave none.
        """
        return await self.answers.ask(self.generate, asked, model)


def entry_line(**entry: object) -> str:
    """Return an entry of what a model is shown, as a line of JSON."""
    return json.dumps(entry, ensure_ascii=False)


def request(models: ModelTable, task: Task, label: CallLabel, text: str, system: str = "") -> Request:
    """Return one question, with a system prompt where there is one."""
    user = Message("user", text)
    return Request(
        model=models.model(task, label.seat).id,
        messages=(Message("system", system), user) if system else (user,),
        label=label,
        temperature=models.temperature(task, label.seat),
        max_tokens=models.tasks[task].max_tokens,
    )
