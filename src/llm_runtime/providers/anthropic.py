"""Anthropic's Messages API."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from llm_runtime.endpoints import Endpoint
from llm_runtime.errors import BadReply, EmptyReply, MalformedReply, ReplyFiltered, ReplyTruncated
from llm_runtime.http import Http
from llm_runtime.messages import Generate, Reply, Request, Usage
from llm_runtime.providers._failures import error_in_reply
from llm_runtime.providers._quirks import REFUSALS, Quirks
from llm_runtime.providers._shape import count, mapping, one_line, sequence, text
from llm_runtime.providers.payloads import messages_payload
from llm_runtime.tokens import estimated_usage

API_VERSION = "2026-10-21"

_FINISH_REASONS = {"end_turn": "stop", "stop_sequence": "stop"}
_TRUNCATED = ("max_tokens", "model_context_window_exceeded")


def anthropic(endpoint: Endpoint, http: Http, *, default_max_tokens: int = 4096) -> Generate:
    """Return a model function over ``POST {base_url}/v1/messages``.

    System messages, wherever they stand, are joined into ``system``; neighbours of one role become one message.
    A schema is enforced through ``output_config.format``, without the constraints that the API does not take; where
    it takes the schema in no form, that goes into the prompt. Where a model refuses the schema or the effort, the
    request is sent again at once without it, and later ones to that model leave it out. Fallbacks, temperatures and
    seeds have no place in this API.

    Args:
        endpoint: where to ask, with the dialect ``"anthropic"``.
        http: the client, which may be shared.
        default_max_tokens: the API wants a bound on every answer; this one where the request has none.

    Returns:
        A function that raises any kind of :class:`~llm_runtime.errors.CallError`, named after the endpoint.
    """
    endpoint = with_version(endpoint)
    path = versioned(endpoint, "/messages")
    quirks = Quirks()

    async def generate(request: Request) -> Reply:
        while True:
            quirk = quirks.of(request.model)
            payload = messages_payload(request, endpoint, quirk, default_max_tokens=default_max_tokens)
            try:
                body, request_id = await http.post_json(endpoint, path, payload, model=request.model)
                return read_message(body, request, endpoint.name, request_id)
            except REFUSALS as refusal:
                if not quirks.learn(request.model, refusal, payload):
                    raise

    return generate


def with_version(endpoint: Endpoint) -> Endpoint:
    """Return the endpoint, with the header that names the version of the API, unless it has one."""
    if any(name.lower() == "anthropic-version" for name, _ in endpoint.headers):
        return endpoint
    return replace(endpoint, headers=(*endpoint.headers, ("anthropic-version", API_VERSION)))


def versioned(endpoint: Endpoint, path: str) -> str:
    """Return ``path`` under ``/v1``, which the base URL may or may not end with."""
    return path if endpoint.base_url.rstrip("/").endswith("/v1") else f"/v1{path}"


def read_message(body: Any, request: Request, provider: str, request_id: str | None) -> Reply:
    """Return the reply in the parsed body of a 200.

    Raises:
        BadReply: any of its kinds; a :class:`ReplyTruncated` carries what came as ``partial``.
        CallError: the body holds an error object with a status that means one.
    """
    whole = mapping(body)
    if whole.get("error"):
        raise error_in_reply(whole["error"], provider=provider, model=request.model, request_id=request_id)
    stop_reason = one_line(text(whole.get("stop_reason")))
    blocks = [mapping(block) for block in sequence(whole.get("content"))]
    answer = "".join(text(block.get("text")) for block in blocks if block.get("type") == "text")
    reply = Reply(
        text=answer,
        model=one_line(text(whole.get("model"))) or request.model,
        provider=provider,
        usage=_usage(mapping(whole.get("usage")), request, answer),
        finish_reason=_FINISH_REASONS.get(stop_reason, stop_reason or "stop"),
        request_id=request_id,
    )
    problem = _problem(whole, stop_reason, answer)
    if problem is None:
        return reply
    kind, words = problem
    failure = kind(words, provider=provider, model=request.model, status=200, request_id=request_id)
    if isinstance(failure, ReplyTruncated):
        failure.partial = reply
    raise failure


def _problem(whole: dict[str, Any], stop_reason: str, answer: str) -> tuple[type[BadReply], str] | None:
    if not isinstance(whole.get("content"), list):
        return MalformedReply, "the answer is not a message; is this the right base URL?"
    if stop_reason in _TRUNCATED:
        return ReplyTruncated, f"the answer was cut ({stop_reason}); allow more tokens or ask for less"
    if stop_reason == "refusal":
        return ReplyFiltered, "the provider refused the answer; rephrase or choose another model"
    if not answer.strip():
        return EmptyReply, "the answer holds no text; try again or choose another model"
    return None


def _usage(usage: dict[str, Any], request: Request, answer: str) -> Usage:
    """Count all that went in: this API reports cached tokens beside ``input_tokens``."""
    asked, answered = count(usage.get("input_tokens")), count(usage.get("output_tokens"))
    if asked is None or answered is None:
        return estimated_usage(request, answer)
    cached = (count(usage.get(f"cache_{what}_input_tokens")) or 0 for what in ("creation", "read"))
    return Usage(asked + sum(cached), answered)
