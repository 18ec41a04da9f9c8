"""Brackets in generated conditions of the C family: as few as a reader needs."""

from __future__ import annotations


def negated(condition: str) -> str:
    """Return the opposite; brackets are added only where there are none, and two negations are none."""
    if condition.startswith("!(") and _is_one(condition[1:]):
        return condition[1:]
    return f"!{condition}" if _is_one(condition) else f"!({condition})"


def bare(text: str) -> str:
    """Without the brackets around all of it."""
    return text[1:-1] if text.startswith("(") and negated(text) == f"!{text}" else text


def _is_one(text: str) -> bool:
    """Tell whether the bracket that a text begins with ends it."""
    depth = 0
    for place, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return char == ")" and place == len(text) - 1
    return False
