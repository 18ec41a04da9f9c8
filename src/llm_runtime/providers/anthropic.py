"""Anthropic's Messages API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from llm_runtime.endpoints import Endpoint
from llm_runtime.http import Http
from llm_runtime.http.causes import STREAMED_STATUS
from llm_runtime.http.shape import count, mapping, sequence, text
from llm_runtime.messages import Generate, OnDelta, Usage, unwatched
from llm_runtime.providers._answer import Answer
from llm_runtime.providers._asking import asking
from llm_runtime.providers.listing import entries_at
from llm_runtime.providers.payloads import messages_payload
from llm_runtime.silence import HOSTED_PATIENCE, Patience
from llm_runtime.wires import ALL, Link, Wire

_VERSION = ("anthropic-version", "2026-10-21")


def anthropic(
    endpoint: Endpoint, http: Http, *, default_max_tokens: int = 4096, on_delta: OnDelta = unwatched,
    patience: Patience = HOSTED_PATIENCE,
) -> Generate:  # fmt: skip
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
        on_delta: told of each piece of the answer.
        patience: how long the model may be silent.

    Returns:
        A function that raises any kind of :class:`~llm_runtime.errors.CallError`, named after the endpoint.
    """
    endpoint = endpoint.with_header(*_VERSION)
    payload = partial(messages_payload, default_max_tokens=default_max_tokens)
    return asking(http, endpoint, versioned(endpoint, "/messages"), payload, MessageAnswer, on_delta, patience)


def versioned(endpoint: Endpoint, path: str) -> str:
    """Return ``path`` under ``/v1``, which the base URL may or may not end with."""
    return path if endpoint.base_url.rstrip("/").endswith("/v1") else f"/v1{path}"


class MessageAnswer(Answer):
    """The answer of ``POST /v1/messages``. Its counts are cumulative; ``ping`` means nothing."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._counts: dict[str, Any] = {}

    def add(self, name: bytes, data: Any) -> None:
        event = mapping(data)
        match event.get("type"):
            case "content_block_delta":
                delta = mapping(event.get("delta"))
                if piece := text(delta.get("text")):
                    self.say(piece)
                elif thought := text(delta.get("thinking")):
                    self.think(thought)
            case "content_block_start":
                self._block(mapping(event.get("content_block")))
            case "message_start":
                self._about(mapping(event.get("message")))
            case "message_delta":
                self._about(mapping(event.get("delta")) | {"usage": event.get("usage")})
            case "message_stop":
                self.done = True
            case "error":
                self._failed(event.get("error"))
            case _ if event.get("error") or name == b"error":
                self._failed(event.get("error") or event)
            case _:
                pass

    def read(self, body: Any) -> None:
        whole = mapping(body)
        if whole.get("error"):
            self._failed(whole["error"])
            return
        self._about(whole)
        if not isinstance(whole.get("content"), list):
            self.malformed = "the answer is not a message; is this the right base URL?"
        for block in sequence(whole.get("content")):
            self._block(mapping(block))
        # What is no stream is whole, unless it says otherwise.
        self.finish = self.finish or "stop"

    def _about(self, message: dict[str, Any]) -> None:
        self.model = self.model or text(message.get("model"))
        self.identity = self.identity or text(message.get("id"))
        self.finish = text(message.get("stop_reason")) or self.finish
        if usage := mapping(message.get("usage")):
            self._counts |= {name: number for name, number in usage.items() if number is not None}
            self.usage = _usage(self._counts)

    def _block(self, block: dict[str, Any]) -> None:
        if block.get("type") == "text":
            self.say(text(block.get("text")))
        elif block.get("type") == "thinking":
            self.think(text(block.get("thinking")))

    def _failed(self, error: Any) -> None:
        # Within a stream there is no status; the kind of error stands for one.
        code = STREAMED_STATUS.get(text(mapping(error).get("type")))
        self.error = mapping(error) | {"code": code} if code and "code" not in mapping(error) else error
        self.done = True


def _usage(counts: dict[str, Any]) -> Usage | None:
    """Count all that went in: this API reports cached tokens beside ``input_tokens``."""
    asked, answered = count(counts.get("input_tokens")), count(counts.get("output_tokens"))
    if asked is None or answered is None:
        return None
    written, read = (count(counts.get(f"cache_{what}_input_tokens")) or 0 for what in ("creation", "read"))
    thought = count(mapping(counts.get("output_tokens_details")).get("thinking_tokens")) or 0
    asked += written + read
    return Usage(asked, answered, cached_tokens=read, cache_write_tokens=written, reasoning_tokens=thought)


def _linked(link: Link) -> Generate:
    return anthropic(link.endpoint, link.http, on_delta=link.on_delta, patience=link.patience)


async def _models(endpoint: Endpoint, http: Http, fresh: float) -> Sequence[Mapping[str, Any]]:
    return await entries_at(endpoint.with_header(*_VERSION), http, fresh, versioned(endpoint, "/models?limit=1000"))


WIRE = Wire("messages", _linked, ALL, _models)
