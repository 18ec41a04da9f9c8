"""The triage agent: one call, one JSON object, checked and never corrected (CR11)."""

from __future__ import annotations

import json
from typing import Any

from crucible.config import EngineConfig
from crucible.events import TriageRead
from crucible.openrouter.client import OpenRouterClient
from crucible.schemas import TriageOutput
from crucible.triage.grammar import triage_grammar
from crucible.triage.prompts import system_prompt, user_message
from crucible.triage.reading import TriageError, parse_triage, read_triage
from llm_runtime.errors import ConfigurationError
from llm_runtime.events import Emit, silent
from llm_runtime.messages import CallLabel, Message
from llm_runtime.prompts import Fence
from llm_runtime.rewording import instead
from llm_runtime.structs import Struct
from llm_runtime.structured import schema_text

__all__ = ["MAX_INPUT_BYTES", "InputError", "Inquiry", "TriageAgent", "TriageError", "parse_triage"]

MAX_INPUT_BYTES = 1024 * 1024
"""Largest query, and largest context as JSON, in bytes of UTF-8."""

_LABEL = CallLabel("crucible", "triage")


class InputError(ConfigurationError):
    """The query or its context cannot be put to a council; nothing was asked."""


class Inquiry(Struct):
    """A query and its context as JSON, both fit to be asked about."""

    query: str
    context: str | None = None

    @classmethod
    def read(cls, query: str, context: dict[str, Any] | None = None) -> Inquiry:
        """Check what the caller passed, before any call.

        Raises:
            InputError: the query is empty, either is larger than 1 MiB or holds text that is not Unicode, or
                the context is not JSON.
        """
        if not query.strip():
            raise InputError("the query is empty; ask something")
        _check_size("query", query)
        return cls(query, None if context is None else _context_json(context))


class TriageAgent(Struct):
    """Asks the triage model to configure a council; the fences around what it reads are drawn from ``seed``.

    The default model is asked where nobody serves that of triage.
    """

    client: OpenRouterClient
    config: EngineConfig
    seed: int
    emit: Emit = silent

    async def configure(self, inquiry: Inquiry) -> TriageOutput:
        """Ask for the council that ``inquiry`` needs.

        Raises:
            TriageError: the answer does not hold. It is not asked again (CR11).
        """
        question = user_message(inquiry.query, inquiry.context, Fence(self.seed, _LABEL))
        model, spare = self.config.triage_model, self.config.default_model
        raw = await self.client.call_openrouter(
            model,
            [Message("system", system_prompt()), Message("user", question)],
            label=_LABEL,
            fallbacks=(spare,) if spare != model else (),
            schema=schema_text(TriageOutput),
            grammar=triage_grammar(),
        )
        triage, decoded = read_triage(raw)
        if decoded:
            self.emit(TriageRead(decoded=decoded))
        return triage


def _context_json(context: dict[str, Any]) -> str:
    try:
        text = json.dumps(context, ensure_ascii=False, allow_nan=False, indent=2)
    except (TypeError, ValueError, RecursionError) as fault:
        raise InputError(f"the context cannot be written as JSON ({fault}); pass plain data") from None
    _check_size("context", text)
    return text


def _check_size(what: str, text: str) -> None:
    refused = InputError(f"the {what} holds a lone surrogate, which is no text; decode it properly first")
    with instead(refused, UnicodeEncodeError):
        size = len(text.encode())
    if size > MAX_INPUT_BYTES:
        raise InputError(f"the {what} has {size} bytes, and {MAX_INPUT_BYTES} is the limit; shorten it")
