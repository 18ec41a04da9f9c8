"""What a council is told of the one that it goes on from: question, answer, what became of objections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crucible.ledger import Ledger, headline
from llm_runtime.errors import ConfigurationError

_MOST = 40_000


def earlier_council(parent: Mapping[str, Any]) -> str:
    """Return an earlier council as a text.

    Args:
        parent: ``{"run_id", "state", "task", "result"}``.

    Raises:
        ConfigurationError: it is no council, or has no answer.
    """
    result: dict[str, Any] = parent["result"] or {}
    task: dict[str, Any] = parent["task"]
    answer, question = result.get("final_response"), task.get("query")
    if not (isinstance(answer, str) and isinstance(question, str)):
        raise ConfigurationError(
            f"run {parent['run_id']} is no council with an answer; --follow takes a finished one: assay runs list"
        )
    before = task.get("earlier") or ""
    parts = [f"Question:\n{question}", f"Answer:\n{answer}", _objections(result.get("ledger"))]
    if before:
        parts.append(f"Before that:\n{before}")
    return "\n\n".join(part for part in parts if part)[:_MOST]


def _objections(data: Mapping[str, Any] | None) -> str:
    if data is None:
        return ""
    ledger = Ledger.model_validate(data)
    lines = [
        f"- {one.id}, {one.outcome}: {' '.join(one.text.words.split())[:400]}"
        + (f" Reply: {' '.join(one.reply.words.split())[:300]}" if one.reply else "")
        for one in ledger.objections
    ]
    return "\n".join([f"Objections: {headline(ledger)}.", *lines])
