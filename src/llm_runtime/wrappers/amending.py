"""Amends what a model answers, also what came of an answer that broke off."""

from __future__ import annotations

from collections.abc import Callable

from llm_runtime.errors import CallError
from llm_runtime.messages import Generate, Reply, Request


def amending(generate: Generate, amend: Callable[[Request, Reply], Reply]) -> Generate:
    """Put what ``amend`` makes of it in the place of each reply, and of the part of one that an error carries."""

    async def call(request: Request) -> Reply:
        try:
            return amend(request, await generate(request))
        except CallError as error:
            if error.partial is not None:
                error.partial = amend(request, error.partial)
            raise

    return call
