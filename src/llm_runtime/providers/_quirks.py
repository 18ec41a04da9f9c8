"""What single models do not take, learned from their refusals."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Set
from typing import Any, Literal, TypeAlias

from llm_runtime.errors import CallError, ContextExceeded, ModelNotFound, Moderated, RequestRefused
from llm_runtime.http.shape import mapping

Quirk: TypeAlias = Literal[
    "no schema",
    "max_completion_tokens",
    "max_tokens",
    "no temperature",
    "no seed",
    "no effort",
    "no stream",
    "no stream_options",
    "no think",
    "no penalty",
]
#: The errors that may complain of a part of the request: OpenRouter finds no model where no host takes all of it.
REFUSALS = (RequestRefused, ModelNotFound)

_UNSUPPORTED = re.compile(r"support|deprecat|not allowed|not permitted|unknown|unrecognized|extra", re.IGNORECASE)
_ABOUT_SCHEMA = re.compile(
    r"response.?format|output.?config(?!.?effort)|structured.?output|schema|grammar", re.IGNORECASE
)
_ABOUT_EFFORT = re.compile(r"effort|reasoning|thinking", re.IGNORECASE)
_SCHEMA_FIELDS = {"response_format", "format"}
_ABOUT_STREAM = re.compile(r"\bstream(ing|ed)?\b", re.IGNORECASE)
_NO_HOST = re.compile(r"no endpoints found.*(parameter|support)", re.IGNORECASE)


class Quirks:
    """Per model, what to leave out of a request or to name otherwise.

    >>> while True:
    ...     payload = build(request, quirks.of(request.model))
    ...     try:
    ...         return await post(payload)
    ...     except REFUSALS as refusal:
    ...         if not quirks.learn(request.model, refusal, payload):
    ...             raise

    This ends: what is left out of a payload cannot be complained of again.
    """

    def __init__(self) -> None:
        self._learned: defaultdict[str, set[Quirk]] = defaultdict(set)

    def of(self, model: str) -> Set[Quirk]:
        """Return what is known of a model so far."""
        return self._learned[model]

    def learn(self, model: str, refusal: CallError, payload: dict[str, Any]) -> bool:
        """Tell whether the refusal names a part of ``payload`` that can be left out; if so, remember it."""
        quirk = _quirk_in(refusal, payload)
        if quirk is not None:
            self._learned[model].add(quirk)
        return quirk is not None


def about_streams(refusal: CallError) -> bool:
    """Tell whether a refusal speaks of streams: some models answer in no other way."""
    return refusal.status in (400, 422) and bool(_ABOUT_STREAM.search(str(refusal.args[0])))


def _quirk_in(refusal: CallError, payload: dict[str, Any]) -> Quirk | None:
    words = str(refusal.args[0])
    form = mapping(payload.get("output_config"))
    has_schema = bool(payload.keys() & _SCHEMA_FIELDS) or "format" in form
    has_schema = has_schema or "format" in mapping(payload.get("text"))
    if isinstance(refusal, (ContextExceeded, Moderated)):
        return None
    if has_schema and _NO_HOST.search(words):
        return "no schema"
    if refusal.status not in (400, 422):
        return None
    if "dry_multiplier" in payload and "dry_" in words:
        return "no penalty"
    if "max_tokens" in payload and "max_completion_tokens" in words:
        return "max_completion_tokens"
    if "stream_options" in payload and "stream_options" in words:
        return "no stream_options"
    unsupported = _UNSUPPORTED.search(words)
    # Before the effort: "temperature is not supported with reasoning models".
    if unsupported and "temperature" in payload and "temperature" in words:
        return "no temperature"
    has_effort = "reasoning_effort" in payload or "reasoning" in payload or "effort" in form
    if has_effort and _ABOUT_EFFORT.search(words):
        return "no effort"
    if has_schema and _ABOUT_SCHEMA.search(words):
        return "no schema"
    if not unsupported:
        return None
    if "max_completion_tokens" in payload and "max_completion_tokens" in words:
        return "max_tokens"
    if "think" in payload and "think" in words:
        return "no think"
    if "seed" in payload and "seed" in words:
        return "no seed"
    return "no stream" if "stream" in payload and _ABOUT_STREAM.search(words) else None
