"""What single models do not take, learned from their refusals."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Set
from typing import Any, Literal, TypeAlias

from llm_runtime.errors import RequestRefused

Quirk: TypeAlias = Literal[
    "no schema", "max_completion_tokens", "no temperature", "no seed", "no stream", "no stream_options"
]

_UNSUPPORTED = re.compile(r"support|deprecat|not allowed|not permitted|unknown|unrecognized|extra", re.IGNORECASE)
_ABOUT_SCHEMA = re.compile(r"response.?format|output.?config|structured.?output|schema|grammar", re.IGNORECASE)
_ABOUT_STREAM = re.compile(r"\bstream(ing|ed)?\b", re.IGNORECASE)


class Quirks:
    """Per model, what to leave out of a request or to name otherwise.

    >>> while True:
    ...     payload = build(request, quirks.of(request.model))
    ...     try:
    ...         return await post(payload)
    ...     except RequestRefused as refusal:
    ...         if not quirks.learn(request.model, refusal, payload):
    ...             raise

    This ends: what is left out of a payload cannot be complained of again.
    """

    def __init__(self) -> None:
        self._learned: defaultdict[str, set[Quirk]] = defaultdict(set)

    def of(self, model: str) -> Set[Quirk]:
        """Return what is known of a model so far."""
        return self._learned[model]

    def learn(self, model: str, refusal: RequestRefused, payload: dict[str, Any]) -> bool:
        """Tell whether the refusal names a part of ``payload`` that can be left out; if so, remember it."""
        quirk = _quirk_in(refusal, payload)
        if quirk is not None:
            self._learned[model].add(quirk)
        return quirk is not None


def _quirk_in(refusal: RequestRefused, payload: dict[str, Any]) -> Quirk | None:
    if refusal.status not in (400, 422):
        return None
    words = str(refusal.args[0])
    if "max_tokens" in payload and "max_completion_tokens" in words:
        return "max_completion_tokens"
    if ("response_format" in payload or "output_config" in payload) and _ABOUT_SCHEMA.search(words):
        return "no schema"
    if "stream_options" in payload and "stream_options" in words:
        return "no stream_options"
    if not _UNSUPPORTED.search(words):
        return None
    if "temperature" in payload and "temperature" in words:
        return "no temperature"
    if "seed" in payload and "seed" in words:
        return "no seed"
    if "stream" in payload and _ABOUT_STREAM.search(words):
        return "no stream"
    return None
