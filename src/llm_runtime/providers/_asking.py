"""One attempt at a provider: send, take in, and once more at once without what a model refuses by name."""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Any

from llm_runtime.endpoints import Endpoint
from llm_runtime.errors import CallError
from llm_runtime.http import Http
from llm_runtime.messages import Generate, OnDelta, Reply, Request
from llm_runtime.providers._answer import Answer
from llm_runtime.providers._quirks import REFUSALS, Quirk, Quirks
from llm_runtime.silence import Patience


def asking(
    http: Http,
    endpoint: Endpoint,
    path: str,
    payload: Callable[[Request, Set[Quirk]], dict[str, Any]],
    answer: type[Answer],
    on_delta: OnDelta,
    patience: Patience,
) -> Generate:
    """Return the model function of a dialect.

    Args:
        http: the client.
        endpoint: where to ask.
        path: of the dialect, after the base URL.
        payload: makes the body of a request, without what the model is known to refuse.
        answer: takes in the answer to a request.
        on_delta: told of each piece of the answer.
        patience: how long the model may be silent.
    """
    quirks = Quirks()

    async def generate(request: Request) -> Reply:
        while True:
            body = payload(request, quirks.of(request.model))
            incoming = answer(request, endpoint.name, http.redactor(endpoint), on_delta)
            incoming.sent()
            try:
                whole, request_id = await http.stream(
                    endpoint, path, body, incoming, model=request.model, patience=patience
                )
            except REFUSALS as refusal:
                if not quirks.learn(request.model, refusal, body):
                    raise
                continue
            except CallError as error:
                incoming.cut(error)
                raise
            if whole is not None:
                incoming.whole(whole)
            return incoming.reply(request_id)

    return generate
