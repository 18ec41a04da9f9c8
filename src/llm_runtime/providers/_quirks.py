"""What single models do not take, learned from their refusals."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Set
from typing import Any, Literal, TypeAlias

from pydantic import TypeAdapter

from llm_runtime.errors import CallError, ContextExceeded, ModelNotFound, Moderated, RequestRefused
from llm_runtime.http.shape import mapping
from llm_runtime.structs import Struct
from llm_runtime.toml import own_table

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
_ABOUT_STREAM = re.compile(r"\bstream(ing|ed)?\b", re.IGNORECASE)


class _Complaint(Struct):
    """A row of ``quirks.toml``."""

    quirk: Quirk
    fields: tuple[str, ...]
    words: re.Pattern[str]
    unsupported: bool = False
    any_status: bool = False

    def fits(self, refusal: CallError, payload: dict[str, Any]) -> bool:
        """Tell whether this is what the refusal of a payload is about."""
        words = str(refusal.args[0])
        return (
            (self.any_status or refusal.status in (400, 422))
            and any(_holds(payload, field) for field in self.fields)
            and self.words.search(words) is not None
            and not (self.unsupported and _UNSUPPORTED.search(words) is None)
        )


_TABLE = TypeAdapter(list[_Complaint]).validate_python(own_table("llm_runtime.providers", "quirks.toml")["rows"])


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
        if isinstance(refusal, (ContextExceeded, Moderated)):
            return False
        quirk: Quirk | None = next((row.quirk for row in _TABLE if row.fits(refusal, payload)), None)
        if quirk is not None:
            self._learned[model].add(quirk)
        return quirk is not None


def about_streams(refusal: CallError) -> bool:
    """Tell whether a refusal speaks of streams: some models answer in no other way."""
    return refusal.status in (400, 422) and bool(_ABOUT_STREAM.search(str(refusal.args[0])))


def _holds(payload: dict[str, Any], field: str) -> bool:
    outer, _, inner = field.partition(".")
    return inner in mapping(payload.get(outer)) if inner else outer in payload
