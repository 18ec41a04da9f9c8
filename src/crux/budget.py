"""Token budgets of prompts: what does not fit is cut at a sentence, never in the middle of one (CX9)."""

from __future__ import annotations

from collections.abc import Iterable

from crux.quotes import sentences
from llm_runtime.tokens import estimate_tokens

SYSTEM_TOKENS = 2_200
"""Of a persona's system prompt."""
TURN_TOKENS = 2_000
"""Of the context of a turn on the panel."""
ROOM_TOKENS = 1_000
"""Of the context of a turn in a crux room."""


def flat(text: str) -> str:
    """Return a text on one line."""
    return " ".join(text.split())


def clip(text: str, tokens: int) -> str:
    """Cut a text to ``tokens`` (characters/4): whole sentences, or a hard cut if the first is too long."""
    text = text.strip()
    if estimate_tokens(text) <= tokens:
        return text
    cut = ""
    for sentence in sentences(text):
        longer = f"{cut} {sentence}".strip()
        if estimate_tokens(longer) > tokens:
            break
        cut = longer
    return cut or text[: max(0, tokens * 4 - 2)].rstrip() + " …"


def fitting(entries: Iterable[str], tokens: int) -> list[str]:
    """Return the first entries that fit together into ``tokens``, line breaks between them included."""
    fits: list[str] = []
    left = tokens * 4
    for entry in entries:
        left -= len(entry) + 1
        if left < 0:
            break
        fits.append(entry)
    return fits
