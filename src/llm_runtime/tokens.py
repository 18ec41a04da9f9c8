"""How many tokens a text is, where no provider has counted them."""

from __future__ import annotations

from llm_runtime.messages import Request, Usage
from llm_runtime.vision import picture_tokens


def estimate_tokens(text: str) -> int:
    """Return characters/4, rounded up: close for English prose, low for scripts that take a token a character."""
    return (len(text) + 3) // 4


def token_bound(request: Request) -> int:
    """Bound a request's input from above, for reservations: what is not ASCII may take a token a character."""
    total = picture_tokens(request.model, request.pictures)
    for message in request.messages:
        text = message.content
        total += len(text) // 4 + 1
        if not text.isascii():
            total += (len(text.encode("utf-8", "replace")) - len(text)) * 3 // 4
    return total


def estimate_input(request: Request) -> int:
    """Return the estimate for all messages of a request, and for what they show."""
    shown = picture_tokens(request.model, request.pictures)
    return shown + sum([(len(message.content) + 3) // 4 for message in request.messages])


def estimated_usage(request: Request, answer: str) -> Usage:
    """Estimate both sides of a call by :func:`estimate_tokens`, marked as estimated."""
    return Usage(estimate_input(request), estimate_tokens(answer), estimated=True)


def characters_of(request: Request) -> int:
    """Return the characters of all messages of a request."""
    return sum([len(message.content) for message in request.messages])


def least_tokens(text: str) -> int:
    """Bound the tokens of a text from below: a word between spaces takes a token or more; without spaces (Chinese,
    Thai), four characters do."""
    return max(len(text.split()), 0 if text.isascii() else (len(text.encode("utf-8", "replace")) - len(text)) // 8)


def least_input(request: Request) -> int:
    """Bound a request's input from below."""
    return sum(least_tokens(message.content) for message in request.messages)
