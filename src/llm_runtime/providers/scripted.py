"""A model that answers from a Python function: for tests, for demonstrations, for anything that is not a model."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from llm_runtime.messages import Generate, Reply, Request
from llm_runtime.tokens import estimated_usage

Answer: TypeAlias = "str | Reply | BaseException"
Script: TypeAlias = "Callable[[Request], Answer | Awaitable[Answer]]"


def scripted(script: Script) -> Generate:
    """Return a model whose every answer is what ``script(request)`` returns.

    A string becomes a reply that costs nothing, with token counts estimated as characters/4; a :class:`Reply`
    is passed on; an exception is raised. The script may be a coroutine function.
    """

    async def generate(request: Request) -> Reply:
        answer = script(request)
        if inspect.isawaitable(answer):
            answer = await answer
        if isinstance(answer, BaseException):
            raise answer
        if isinstance(answer, Reply):
            return answer
        usage = estimated_usage(request, answer)
        return Reply(text=answer, model=request.model, provider="scripted", usage=usage, cost=0, cost_source="free")

    return generate
