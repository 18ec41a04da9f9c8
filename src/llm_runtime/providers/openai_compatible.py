"""Chat completions, the protocol of OpenRouter, OpenAI, Ollama, llama.cpp, vLLM, LM Studio and most others."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from typing import Any

from llm_runtime.endpoints import Endpoint
from llm_runtime.http import Http
from llm_runtime.messages import Generate, OnDelta, Request, unwatched
from llm_runtime.providers._asking import asking
from llm_runtime.providers._completions import Completion
from llm_runtime.providers._quirks import Quirk
from llm_runtime.providers._schemas import closed_schema
from llm_runtime.silence import HOSTED_PATIENCE, Patience

_OPENROUTER_MODELS = 3
_OPENROUTER_SESSION_CHARACTERS = 256


def openai_compatible(
    endpoint: Endpoint,
    http: Http,
    *,
    max_price: tuple[float, float] | None = None,
    on_delta: OnDelta = unwatched,
    patience: Patience = HOSTED_PATIENCE,
) -> Generate:
    """Return a model function over ``POST {base_url}/chat/completions``.

    The answer is asked for as a stream; a server that sends it at once all the same is read whole.
    Only what the request sets is sent. Where a model refuses a parameter by name (``response_format``,
    ``max_tokens`` in favour of ``max_completion_tokens``, ``temperature``, ``seed``, ``stream``), the request is
    sent again at once without it, and later ones to that model leave it out.

    An endpoint named ``"openrouter"`` is also sent the fallbacks as ``models`` (of which it takes three), the
    ``session_id``, and ``max_price``; its ``usage.cost`` comes with every answer without being asked for.

    Args:
        endpoint: where to ask.
        http: the client, which may be shared.
        max_price: USD per million tokens in and out that OpenRouter may route to at most.
        on_delta: told of each piece of the answer.
        patience: how long the model may be silent.

    Returns:
        A function that raises any kind of :class:`~llm_runtime.errors.CallError`, named after the endpoint.
    """
    openrouter = endpoint.name == "openrouter"
    if openrouter and not any(name.lower() == "x-openrouter-title" for name, _ in endpoint.headers):
        endpoint = replace(endpoint, headers=(*endpoint.headers, ("X-OpenRouter-Title", "Assay")))
    extras = _openrouter_extras(max_price) if openrouter else {}

    def payload(request: Request, quirks: Set[Quirk]) -> dict[str, Any]:
        fields = _payload(request, quirks)
        return fields | extras | _openrouter_fields(request) if openrouter else fields

    def answer(request: Request) -> Completion:
        return Completion(request, endpoint.name, http.redactor(endpoint), on_delta)

    return asking(http, endpoint, "/chat/completions", payload, answer, patience)


def _payload(request: Request, quirks: Set[Quirk]) -> dict[str, Any]:
    payload: dict[str, Any] = {
        "model": request.model,
        "messages": [{"role": m.role, "content": m.content} for m in request.messages],
    }
    if "no stream" not in quirks:
        payload["stream"] = True
        if "no stream_options" not in quirks:
            payload["stream_options"] = {"include_usage": True}
    if request.temperature is not None and "no temperature" not in quirks:
        payload["temperature"] = request.temperature
    if request.max_tokens is not None:
        name = "max_completion_tokens" if "max_completion_tokens" in quirks else "max_tokens"
        payload[name] = request.max_tokens
    if request.seed is not None and "no seed" not in quirks:
        payload["seed"] = request.seed
    if request.schema is not None and "no schema" not in quirks:
        payload["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": closed_schema(request.schema)},
        }
    return payload


def _openrouter_extras(max_price: tuple[float, float] | None) -> dict[str, Any]:
    if max_price is None:
        return {}
    return {"provider": {"max_price": {"prompt": max_price[0], "completion": max_price[1]}}}


def _openrouter_fields(request: Request) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if request.fallbacks:
        fields["models"] = [request.model, *request.fallbacks][:_OPENROUTER_MODELS]
    if request.session_id is not None:
        fields["session_id"] = request.session_id[:_OPENROUTER_SESSION_CHARACTERS]
    return fields
