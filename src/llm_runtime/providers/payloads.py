"""What a request becomes on the wire: the bodies of chats, messages and responses, by dialect."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from itertools import groupby
from typing import Any

from llm_runtime.endpoints import Endpoint
from llm_runtime.messages import Message, Picture, Request
from llm_runtime.providers._quirks import Quirk
from llm_runtime.providers._schemas import closed_schema, decodable, enforceable
from llm_runtime.wires import with_schema_told

#: llama.cpp's sampler against repetition ("DRY"), for passages longer than a quotation; others pass over it.
UNREPEATING = {"dry_multiplier": 0.8, "dry_base": 1.75, "dry_allowed_length": 24}
_OPENROUTER_MODELS = 3
_OPENROUTER_SESSION_CHARACTERS = 256


def chat_payload(
    request: Request, endpoint: Endpoint, quirks: Set[Quirk] = frozenset(), max_price: tuple[float, float] | None = None
) -> dict[str, Any]:
    """Return the body of a chat completion: what the request sets, in the endpoint's dialect, and nothing else.

    Args:
        request: the question.
        endpoint: whose dialect decides; what its ``body`` holds comes last, and wins.
        quirks: what the model has refused so far.
        max_price: USD per million tokens in and out that OpenRouter may route to at most.
    """
    payload: dict[str, Any] = {"model": request.model}
    schema = _chat_schema(request, endpoint, quirks)
    payload["messages"] = [{"role": m.role, "content": content_of(m, "chat")} for m in _asked(request, schema)]
    if "no stream" not in quirks:
        payload["stream"] = True
        if "no stream_options" not in quirks:
            payload["stream_options"] = {"include_usage": True}
    payload |= _sampling(request, endpoint, quirks)
    if request.max_tokens is not None:
        payload[_bound_field(endpoint, quirks)] = request.max_tokens
    if schema:
        payload["response_format"] = schema
    if request.repeated and endpoint.dialect.local and "no penalty" not in quirks:
        payload |= UNREPEATING
    if endpoint.dialect.name == "openrouter":
        payload |= _openrouter_fields(request, max_price, enforced=bool(schema))
    return {**payload, **endpoint.body}


def messages_payload(
    request: Request, endpoint: Endpoint, quirks: Set[Quirk] = frozenset(), *, default_max_tokens: int = 4096
) -> dict[str, Any]:
    """Return the body for Anthropic's API: system texts joined, neighbours of one role merged.

    Args:
        request: the question.
        endpoint: what its ``body`` holds comes last, and wins.
        quirks: what the model has refused so far.
        default_max_tokens: the API wants a bound on every answer; this one where the request has none.
    """
    schema = enforceable(request.schema, "messages") if request.schema and "no schema" not in quirks else None
    messages = _asked(request, schema)
    most = request.max_tokens or default_max_tokens
    payload: dict[str, Any] = {"model": request.model, "max_tokens": most, "messages": _turns(messages)}
    if "no stream" not in quirks:
        payload["stream"] = True
    system = "\n\n".join(message.content for message in messages if message.role == "system")
    if system:
        payload["system"] = system
    payload |= _sampling(request, endpoint, quirks)
    if schema:
        form = {"format": {"type": "json_schema", "schema": schema}}
        payload["output_config"] = {**payload.get("output_config", {}), **form}
    return {**payload, **endpoint.body}


def responses_payload(request: Request, endpoint: Endpoint, quirks: Set[Quirk] = frozenset()) -> dict[str, Any]:
    """Return the body for OpenAI's Responses API; the parameters are those of :func:`chat_payload`."""
    schema = enforceable(request.schema, "strict") if request.schema and "no schema" not in quirks else None
    messages = [{"role": m.role, "content": content_of(m, "responses")} for m in _asked(request, schema)]
    payload: dict[str, Any] = {"model": request.model, "input": messages, "store": False}
    if "no stream" not in quirks:
        payload["stream"] = True
    if request.max_tokens is not None:
        payload["max_output_tokens"] = request.max_tokens
    if schema:
        payload["text"] = {"format": {"type": "json_schema", "name": "answer", "strict": True, "schema": schema}}
    # These models take no seed, and name the effort as OpenRouter does.
    dialect = replace(endpoint.dialect, drop=frozenset({"seed"}), effort="reasoning.effort")
    payload |= _sampling(request, replace(endpoint, dialect=dialect), quirks)
    return {**payload, **endpoint.body}


def _sampling(request: Request, endpoint: Endpoint, quirks: Set[Quirk]) -> dict[str, Any]:
    dialect = endpoint.dialect
    fields: dict[str, Any] = {}
    for name, value in (("temperature", request.temperature), ("seed", request.seed)):
        if value is not None and f"no {name}" not in quirks and name not in dialect.drop:
            fields[name] = value
    if request.effort is not None and dialect.effort and "no effort" not in quirks:
        outer, _, inner = dialect.effort.partition(".")
        level = dialect.level(request.effort)
        fields[outer] = {inner: level} if inner else level
    return fields


def _bound_field(endpoint: Endpoint, quirks: Set[Quirk]) -> str:
    if "max_completion_tokens" in quirks:
        return "max_completion_tokens"
    return "max_tokens" if "max_tokens" in quirks else endpoint.dialect.max_tokens_field


def _chat_schema(request: Request, endpoint: Endpoint, quirks: Set[Quirk]) -> dict[str, Any]:
    """Return the ``response_format``; empty where no schema is asked for, or none can be enforced."""
    if request.schema is None or "no schema" in quirks:
        return {}
    form = endpoint.dialect.schema
    if form == "object":
        return {"type": "json_object"}
    if form == "grammar":
        schema = decodable(request.grammar, request.schema, request.max_tokens)
    else:
        schema = enforceable(request.schema, form) if form == "strict" else closed_schema(request.schema)
    if schema is None:
        return {}
    return {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}


def _asked(request: Request, enforced: dict[str, Any] | None) -> Sequence[Message]:
    """Return the conversation, with the answer's schema in words where nobody enforces it."""
    if request.schema is None or (enforced and enforced.get("type") != "json_object"):
        return request.messages
    return with_schema_told(request.messages, request.schema)


def _openrouter_fields(request: Request, max_price: tuple[float, float] | None, *, enforced: bool) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    provider: dict[str, Any] = {}
    if max_price is not None:
        provider["max_price"] = {"prompt": max_price[0], "completion": max_price[1]}
    if enforced:
        # Without this it may choose a host that does not look at the schema.
        provider["require_parameters"] = True
    if provider:
        fields["provider"] = provider
    if request.fallbacks:
        fields["models"] = [request.model, *request.fallbacks][:_OPENROUTER_MODELS]
    if request.session_id is not None:
        fields["session_id"] = request.session_id[:_OPENROUTER_SESSION_CHARACTERS]
    return fields


def _turns(messages: Sequence[Message]) -> list[Mapping[str, object]]:
    """Return the conversation with neighbours of one role as one turn."""
    turns = groupby((m for m in messages if m.role != "system"), key=lambda message: message.role)
    return [{"role": role, "content": content_of(_merged(list(group)), "messages")} for role, group in turns]


def _merged(group: Sequence[Message]) -> Message:
    pictures = tuple(picture for m in group for picture in m.pictures)
    return replace(group[0], content="\n\n".join([m.content for m in group]), pictures=pictures)


def content_of(message: Message, wire: str) -> str | list[Mapping[str, object]]:
    """Return a turn as text or, where it shows something, as parts."""
    if not message.pictures:
        return message.content
    kind = "input_text" if wire == "responses" else "text"
    return [*map(_SHOWN[wire], message.pictures), {"type": kind, "text": message.content}]


_SHOWN: Mapping[str, Callable[[Picture], Mapping[str, object]]] = {
    "chat": lambda one: {"type": "image_url", "image_url": {"url": one.address}},
    "responses": lambda one: {"type": "input_image", "image_url": one.address},
    "messages": lambda one: {"type": "image", "source": {"type": "base64", "media_type": one.kind, "data": one.base64}},
}
