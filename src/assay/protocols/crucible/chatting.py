"""A chat as a council's task: the last question is put to it, and what was said before is an attachment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_FOR_TRIAGE = 4_000
_WHO = {"system": "The application's instructions", "user": "The user", "assistant": "The assistant"}


def fields_of_chat(turns: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return the last question of the user, with all else as an attachment that every seat reads."""
    at = max(number for number, (role, _) in enumerate(turns) if role == "user")
    rest = [f"{_WHO[role]}:\n{text}" for number, (role, text) in enumerate(turns) if number != at and text.strip()]
    fields: dict[str, Any] = {"query": turns[at][1]}
    if rest:
        earlier = "\n\n".join(rest)
        # Triage reads no attachment, and "What about the second one?" means nothing without it.
        fields["context"] = {"chat_before_the_question": earlier[-_FOR_TRIAGE:]}
        fields["dossier"] = [{"name": "the chat before the question", "text": earlier}]
    return fields


def answer(result: Mapping[str, Any]) -> str:
    """Return the council's answer."""
    return str(result.get("final_response", ""))
