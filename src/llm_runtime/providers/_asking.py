"""One attempt at a provider: send, take in, and once more at once without what a model refuses by name."""

from __future__ import annotations

from collections.abc import Callable, Set
from math import inf
from typing import Any

from llm_runtime.endpoints import Endpoint
from llm_runtime.errors import CallError, CallTimeout, ConnectionCut
from llm_runtime.http import Http
from llm_runtime.messages import Generate, OnDelta, Reply, Request, unwatched
from llm_runtime.providers._answer import Answer
from llm_runtime.providers._quirks import REFUSALS, Quirk, Quirks, about_streams
from llm_runtime.silence import Patience, heeded

_WHOLE: frozenset[Quirk] = frozenset({"no stream"})
#: An answer of more tokens may take longer than what stands between leaves a silent connection open.
_MOST_WHOLE = 8_192
_NOT_WHOLE = (ConnectionCut, CallTimeout)
#: A model that ends of itself within so many characters, so often on end, is taken to do so again. Where a whole
#: answer did not come, so many short ones have to come as streams before the next is asked for whole.
_SHORT, _TIMES, _WARY = 8_192, 5, -100


def asking(
    http: Http, endpoint: Endpoint, path: str,
    payload: Callable[[Request, Endpoint, Set[Quirk]], dict[str, Any]], answer: type[Answer], on_delta: OnDelta,
    patience: Patience,
) -> Generate:  # fmt: skip
    """Return the model function of a dialect.

    An answer is asked for whole, which costs half, where nobody watches, silence need not be noticed, and its
    length is bounded, by the request or by the model itself, as its last answers show: else only a stream shows in
    time that a model repeats itself. A model whose whole answer did not come is asked for streams for a while. What
    answers show is known to all that ask over one client: the runs of a server, the jobs of a batch.

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
    always = on_delta is not unwatched or patience.heeded
    short = http.short[endpoint]

    async def generate(request: Request) -> Reply:
        before, most = (_TIMES, 0) if request.max_tokens is None else (0, request.max_tokens)
        streamed = always or heeded() or short[request.model] < before or most > _MOST_WHOLE
        while True:
            known = quirks.of(request.model)
            body = payload(request, endpoint, known if streamed else known | _WHOLE)
            incoming = answer(request, endpoint.name, http.redactor(endpoint), on_delta)
            incoming.sent()
            try:
                whole, request_id = await http.stream(
                    endpoint, path, body, incoming, model=request.model, patience=patience
                )
            except REFUSALS as refusal:
                if not streamed and about_streams(refusal):
                    streamed, short[request.model] = True, -inf
                    continue
                if not quirks.learn(request.model, refusal, body):
                    raise
                continue
            except CallError as error:
                short[request.model] = min(short[request.model], _WARY if isinstance(error, _NOT_WHOLE) else 0)
                incoming.cut(error)
                raise
            if whole is not None:
                incoming.whole(whole)
            calm = incoming.size <= _SHORT and not incoming.loops
            short[request.model] = short[request.model] + 1 if calm else min(short[request.model], 0)
            return incoming.reply(request_id)

    return generate
