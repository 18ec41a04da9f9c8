"""Bounds on answers where a cap needs them: what an answer may take, and what its reasoning may take before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from llm_runtime.errors import BudgetExceeded, ReplyTruncated
from llm_runtime.messages import Effort, Generate, Reply, Request, changed
from llm_runtime.toml import own_table

#: Tokens an answer may take where a cap needs a bound and the request names none; reasoning comes on top.
ANSWER_TOKENS = 4096
REASONING_TOKENS: Mapping[Effort, int] = own_table("llm_runtime.wrappers", "reasoning.toml")


def answers_bounded(generate: Generate, needed: Callable[[], bool]) -> Generate:
    """Bound each answer that names no bound itself, where that is needed; its effort is low unless it is set.

    Where all that came was reasoning, the request is sent once more with twice the bound, if the budget has room.
    """

    async def call(request: Request) -> Reply:
        if request.max_tokens is not None or not needed():
            return await generate(request)
        effort = request.effort or "low"
        most = ANSWER_TOKENS + REASONING_TOKENS[effort]
        request = changed(request, effort=effort, max_tokens=most)
        try:
            return await generate(request)
        except ReplyTruncated as cut:
            if cut.partial is None or cut.partial.text.strip():
                raise
            try:
                return await generate(changed(request, max_tokens=2 * most))
            except BudgetExceeded:
                raise cut from None

    return call
