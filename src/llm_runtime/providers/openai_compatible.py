"""Chat completions, the protocol of OpenRouter, OpenAI, Ollama, llama.cpp, vLLM, LM Studio and most others."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from llm_runtime.endpoints import Endpoint
from llm_runtime.errors import BadReply, EmptyReply, MalformedReply, ReplyFiltered, ReplyTruncated
from llm_runtime.http import Http
from llm_runtime.messages import Generate, Reply, Request, Usage
from llm_runtime.providers._failures import error_in_reply
from llm_runtime.providers._quirks import REFUSALS, Quirks
from llm_runtime.providers._shape import amount, count, mapping, one_line, sequence, text
from llm_runtime.providers.payloads import chat_payload
from llm_runtime.tokens import estimated_usage


def openai_compatible(endpoint: Endpoint, http: Http, *, max_price: tuple[float, float] | None = None) -> Generate:
    """Return a model function over ``POST {base_url}/chat/completions``.

    Only what the request sets is sent, in the endpoint's dialect. Where a model refuses a parameter by name
    (``response_format``, ``reasoning_effort``, ``max_tokens`` in favour of ``max_completion_tokens``,
    ``temperature``, ``seed``), the request is sent again at once without it, and later ones to that model leave it
    out; a schema then goes into the prompt.

    OpenRouter is also sent the fallbacks as ``models`` (of which it takes three), the ``session_id``, and
    ``max_price``; its ``usage.cost`` comes with every answer without being asked for.

    Args:
        endpoint: where to ask.
        http: the client, which may be shared.
        max_price: USD per million tokens in and out that OpenRouter may route to at most.

    Returns:
        A function that raises any kind of :class:`~llm_runtime.errors.CallError`, named after the endpoint.
    """
    if endpoint.dialect.name == "openrouter" and not any(
        name.lower() == "x-openrouter-title" for name, _ in endpoint.headers
    ):
        endpoint = replace(endpoint, headers=(*endpoint.headers, ("X-OpenRouter-Title", "Assay")))
    quirks = Quirks()

    async def generate(request: Request) -> Reply:
        while True:
            payload = chat_payload(request, endpoint, quirks.of(request.model), max_price)
            try:
                body, request_id = await http.post_json(endpoint, "/chat/completions", payload, model=request.model)
                return read_completion(body, request, endpoint.name, request_id)
            except REFUSALS as refusal:
                if not quirks.learn(request.model, refusal, payload):
                    raise

    return generate


def read_completion(body: Any, request: Request, provider: str, request_id: str | None) -> Reply:
    """Return the reply in the parsed body of a 200.

    Raises:
        BadReply: any of its kinds; a :class:`ReplyTruncated` carries what came as ``partial``.
        CallError: the body holds an error object with a status that means one.
    """
    whole = mapping(body)
    choices = sequence(whole.get("choices"))
    choice = mapping(choices[0]) if choices else {}
    error = whole.get("error") or choice.get("error")
    if error:
        raise error_in_reply(error, provider=provider, model=request.model, request_id=request_id)
    message = mapping(choice.get("message"))
    answer = _text_of(message.get("content"))
    reply = Reply(
        text=answer or "",
        model=one_line(text(whole.get("model"))) or request.model,
        provider=provider,
        usage=_usage(whole, request, answer or ""),
        finish_reason=one_line(text(choice.get("finish_reason"))) or "stop",
        cost=(cost := _cost(mapping(whole.get("usage")))),
        cost_source="unknown" if cost is None else "provider",
        request_id=request_id,
    )
    problem = _problem(whole, choice, message, answer, reply)
    if problem is None:
        return reply
    kind, words = problem
    failure = kind(words, provider=provider, model=request.model, status=200, request_id=request_id)
    if isinstance(failure, ReplyTruncated):
        failure.partial = reply
    raise failure


def _problem(
    whole: dict[str, Any], choice: dict[str, Any], message: dict[str, Any], answer: str | None, reply: Reply
) -> tuple[type[BadReply], str] | None:
    if not isinstance(whole.get("choices"), list) or (whole["choices"] and not message) or answer is None:
        return MalformedReply, "the answer is not a chat completion; is this the right base URL?"
    if reply.finish_reason == "length":
        return ReplyTruncated, "the answer was cut by its token limit; allow more tokens or ask for less"
    if reply.finish_reason == "content_filter" or message.get("refusal"):
        return ReplyFiltered, "the provider filtered the answer; rephrase or choose another model"
    if not answer.strip():
        return EmptyReply, "the answer holds no text; try again or choose another model"
    return None


def _text_of(content: Any) -> str | None:
    """Return the text of a message's content: a string, or the text parts of a list; else ``None``."""
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if not isinstance(content, list):
        return None
    return "".join(_text_parts(sequence(content)))


def _text_parts(parts: list[Any]) -> Iterator[str]:
    for part in parts:
        fields = mapping(part)
        if fields.get("type") in ("text", "output_text"):
            yield text(fields.get("text"))


def _usage(whole: dict[str, Any], request: Request, answer: str) -> Usage:
    usage = mapping(whole.get("usage"))
    asked, answered = count(usage.get("prompt_tokens")), count(usage.get("completion_tokens"))
    if asked is None or answered is None:
        return estimated_usage(request, answer)
    return Usage(asked, answered)


def _cost(usage: dict[str, Any]) -> int | None:
    """Return micro-dollars, rounded up. With a user's own key OpenRouter's fee and that bill come apart."""
    cost = amount(usage.get("cost"))
    if cost is None:
        return None
    if usage.get("is_byok"):
        cost += amount(mapping(usage.get("cost_details")).get("upstream_inference_cost")) or 0.0
    # Rounding first keeps the noise of binary fractions from costing a micro-dollar.
    return math.ceil(round(cost * 1e6, 6))
