"""What a provider's error body says, whatever its shape: words, names, numbers, and how long to wait."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from pydantic_core import from_json

from llm_runtime.http.shape import count, mapping, one_line, sequence, text
from llm_runtime.http.waits import seconds_in, wait_in_words
from llm_runtime.toml import own_table

_TABLE = own_table("llm_runtime.http", "failures.toml")
_WORDS: tuple[str, ...] = tuple(_TABLE["words"])
_NAMES: frozenset[str] = frozenset(_TABLE["names"])
_WINDOWS = tuple(re.compile(one.replace("#", r"(\d{3,9})\b"), re.IGNORECASE) for one in _TABLE["windows"])
_DEPTH, _MOST = 8, 400
_COUNTS = re.compile(r"(?<![-\w.])(\d{3,9})\b(?![.\d])")


class Failure(NamedTuple):
    """An answer that is not a success.

    Args:
        status: the HTTP status.
        words: the provider's own, on one line; empty where there are none.
        names: every code, type, status and reason in the body, in lower case.
        wait: seconds that the body asks to wait.
        asked: tokens of the prompt, where the body gives them.
        window: tokens that the model reads at the most, likewise.
    """

    status: int
    words: str = ""
    names: tuple[str, ...] = ()
    wait: float | None = None
    asked: int | None = None
    window: int | None = None


def read_failure(body: Any, status: int) -> Failure:
    """Read an error body.

    Known shapes: ``{"error": {"message": ...}}`` (OpenAI, Anthropic), a list of it (Gemini), ``{"error": "..."}``
    (Ollama, xAI, LM Studio), ``{"message": ...}`` (Mistral, Fireworks, older vLLM), ``{"detail": [{"msg": ...}]}``
    (FastAPI), a text alone, OpenRouter's ``error.metadata.raw`` (the words of the provider behind it), and any of
    these as JSON inside a message (proxies).
    """
    words = one_line(_words(body, _DEPTH).replace("%20", " "))
    names: list[str] = []
    wait = asked = window = None
    for key, value in _walk(body):
        if key in _NAMES and isinstance(value, (str, int)):
            names.append(str(value).lower())
        elif key == "retryDelay":
            wait = seconds_in(text(value))
        elif key in ("n_prompt_tokens", "n_ctx"):
            asked, window = (count(value), window) if key == "n_prompt_tokens" else (asked, count(value))
        elif key == "flagged_input":
            names.append(key)
    if window is None:
        asked, window = _sizes(words)
    return Failure(status, words, tuple(names), wait_in_words(words) if wait is None else wait, asked, window)


def _words(value: Any, depth: int) -> str:
    if not value or depth == 0:
        return ""
    if isinstance(value, str):
        inner = _json_in(value)
        return value if inner is None else _words(inner, depth - 1) or value
    if isinstance(value, list):
        return "; ".join(filter(None, (_words(item, depth - 1) for item in sequence(value)[:3])))
    whole = mapping(value)
    words = next((part for key in _WORDS if (part := _words(whole.get(key), depth - 1))), "")
    place = ".".join(str(step) for step in sequence(whole.get("loc"))[:6])
    raw = _words(mapping(whole.get("metadata")).get("raw"), depth - 1)
    return (f"{place}: " if place else "") + (f"{words} ({raw})" if words and raw else words or raw)


def _walk(body: Any) -> Iterator[tuple[str, Any]]:
    """Return keys and values, also of JSON inside texts; only so deep, and so many, as an error can be."""
    waiting: list[tuple[Any, int]] = [(body, 0)]
    for value, depth in waiting:
        if depth > _DEPTH or len(waiting) > _MOST:
            return
        if isinstance(value, str):
            inner = _json_in(value)
            waiting.extend([(inner, depth + 1)] if inner is not None else [])
        elif isinstance(value, list):
            waiting.extend((item, depth + 1) for item in sequence(value)[:20])
        else:
            for key, item in list(mapping(value).items())[:40]:
                yield key, item
                waiting.append((item, depth + 1))


def _json_in(value: str) -> Any:
    """Return the object or list that a text is; ``None`` for a text that is only a text."""
    if value.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return from_json(value)
    except ValueError:
        return None


def _sizes(words: str) -> tuple[int | None, int | None]:
    """Return the tokens asked and the window, as far as a sentence about them gives both."""
    match = next((match for pattern in _WINDOWS if (match := pattern.search(words))), None)
    if match is None:
        return None, None
    window = int(match[1])
    return max([number for number in map(int, _COUNTS.findall(words)) if number != window], default=None), window
