"""The user's choice of a model for a seat, a phase or a whole run, laid over what a protocol asks for."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable

from llm_runtime.messages import Generate, Reply, Request
from llm_runtime.settings import ConfigFile
from llm_runtime.wrappers.answer_bounds import ANSWER_TOKENS

#: A form that a whole run hangs on and no person reads: a tight bound on answers would only cut it.
_WHOLE = "triage"


def chosen_model(request: Request, config: ConfigFile) -> str | None:
    """Return the model that the user chose for a request; ``None`` where it asks for its own."""
    role = request.label.seat.partition(":")[2]
    return config.seats.get(role) or config.seats.get(request.label.phase) or config.model


def chosen(generate: Generate, config: ConfigFile) -> Generate:
    """Ask the configured model in place of a request's own; a seat's comes first, then a phase's, then the run's.

    ``config.max_tokens`` and ``config.effort`` take the place of a request's own: who pays for the answers, or
    waits for a model that thinks at length, knows better than a protocol. Fallbacks are dropped with the model they
    were meant for.
    """
    if not config.model and not config.seats and config.max_tokens is None and config.effort is None:
        return generate

    def call(request: Request) -> Awaitable[Reply]:
        model = chosen_model(request, config)
        max_tokens = config.max_tokens or request.max_tokens
        if max_tokens and request.label.phase == _WHOLE:
            max_tokens = max(max_tokens, ANSWER_TOKENS)
        request = dataclasses.replace(request, max_tokens=max_tokens, effort=config.effort or request.effort)
        return generate(dataclasses.replace(request, model=model, fallbacks=()) if model else request)

    return call
