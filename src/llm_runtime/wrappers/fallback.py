"""Asking another model where the one that was asked for cannot answer."""

from __future__ import annotations

import dataclasses

from llm_runtime.errors import CallError, ContextExceeded, ReplyTooLarge, ReplyTruncated, RequestRefused
from llm_runtime.events import Emit, ModelSubstituted, silent
from llm_runtime.messages import Generate, Reply, Request

#: Faults of the request or of its answer's length: another model would meet them too.
FINAL = (RequestRefused, ReplyTooLarge, ReplyTruncated)


def fallback(generate: Generate, *, emit: Emit = silent) -> Generate:
    """Try ``request.model``, then each of ``request.fallbacks``; say so when another one answers.

    The last error is raised where none can. A model that the provider itself put in place is announced too.
    """

    async def call(request: Request) -> Reply:
        models = (request.model, *request.fallbacks)
        reason = ""
        for index, model in enumerate(models):
            rest = models[index + 1 :]
            attempt = request if index == 0 else dataclasses.replace(request, model=model, fallbacks=rest)
            try:
                reply = await generate(attempt)
            except CallError as error:
                # Another model may have a larger window.
                if (isinstance(error, FINAL) and not isinstance(error, ContextExceeded)) or not rest:
                    raise
                reason = str(error)
                continue
            if reply.model != request.model and reply.model in request.fallbacks:
                _announce(emit, request, reply.model, reason or "chosen by the provider")
            elif index > 0:
                _announce(emit, request, model, reason)
            return reply
        raise AssertionError("unreachable: the last model either answers or raises")

    return call


def _announce(emit: Emit, request: Request, used: str, reason: str) -> None:
    emit(ModelSubstituted(label=str(request.label), asked=request.model, used=used, reason=reason))
