"""Chat completions, the protocol of OpenRouter, OpenAI, Ollama, llama.cpp, vLLM, LM Studio and most others."""

from __future__ import annotations

from functools import partial

from llm_runtime.endpoints import Endpoint
from llm_runtime.errors import WrongEndpoint
from llm_runtime.http import Http
from llm_runtime.messages import Generate, OnDelta, Reply, Request, unwatched
from llm_runtime.providers._asking import asking
from llm_runtime.providers._completions import Completion
from llm_runtime.providers.listing import entries_at
from llm_runtime.providers.openai_responses import openai_responses
from llm_runtime.providers.payloads import chat_payload
from llm_runtime.silence import HOSTED_PATIENCE, Patience
from llm_runtime.wires import ALL, Link, Wire


def openai_compatible(
    endpoint: Endpoint, http: Http, *, max_price: tuple[float, float] | None = None,
    on_delta: OnDelta = unwatched, patience: Patience = HOSTED_PATIENCE,
) -> Generate:  # fmt: skip
    """Return a model function over ``POST {base_url}/chat/completions``.

    The answer is asked for as a stream; a server that sends it at once all the same is read whole.
    Only what the request sets is sent, in the endpoint's dialect. Where a model refuses a parameter by name
    (``response_format``, ``reasoning_effort``, ``max_tokens`` in favour of ``max_completion_tokens``,
    ``temperature``, ``seed``, ``stream``), the request is sent again at once without it, and later ones to that
    model leave it out; a schema then goes into the prompt.

    A model of OpenAI's that knows only the Responses API is asked by that, from its refusal on.

    OpenRouter is also sent the fallbacks as ``models`` (of which it takes three), the ``session_id``, and
    ``max_price``; its ``usage.cost`` comes with every answer without being asked for.

    Args:
        endpoint: where to ask.
        http: the client, which may be shared.
        max_price: USD per million tokens in and out that OpenRouter may route to at most.
        on_delta: told of each piece of the answer.
        patience: how long the model may be silent.

    Returns:
        A function that raises any kind of :class:`~llm_runtime.errors.CallError`, named after the endpoint.
    """
    if endpoint.dialect.name == "openrouter":
        endpoint = endpoint.with_header("X-OpenRouter-Title", "Assay")

    payload = partial(chat_payload, max_price=max_price)
    chat = asking(http, endpoint, "/chat/completions", payload, Completion, on_delta, patience)
    if endpoint.dialect.name not in ("openai", "azure"):
        return chat
    return _or_by_responses(chat, openai_responses(endpoint, http, on_delta=on_delta, patience=patience))


def _or_by_responses(chat: Generate, responses: Generate) -> Generate:
    """Ask by ``responses`` the models that say that they know nothing else."""
    without_chat: set[str] = set()

    async def generate(request: Request) -> Reply:
        if request.model not in without_chat:
            try:
                return await chat(request)
            except WrongEndpoint as error:
                if "v1/responses" not in str(error):
                    raise
                without_chat.add(request.model)
        return await responses(request)

    return generate


def _linked(link: Link) -> Generate:
    endpoint, http = link.endpoint, link.http
    call = openai_compatible(endpoint, http, max_price=link.max_price, on_delta=link.on_delta, patience=link.patience)
    if endpoint.name != "openrouter":
        return call
    from llm_runtime.providers.generations import settled_by_record

    return settled_by_record(call, endpoint, http, link.sleep)


WIRE = Wire("chat", _linked, ALL, entries_at)
