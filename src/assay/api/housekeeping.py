"""Which requests of chat programs no person asks: titles, tags, follow-ups, summaries, commit messages.

Chat programs send them to the model of the chat. They are one cheap call, never a council.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from llm_runtime.toml import own_table

_SAID = {
    name: re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for name, pattern in own_table("assay.api", "housekeeping.toml").items()
}
#: Where an order stands, if there is one, and how long it is.
_HEAD, _ORDER = 240, 200


def is_housekeeping(turns: Sequence[tuple[str, str]]) -> bool:
    """Tell whether a chat program asks on its own account.

    Args:
        turns: pairs of role and text, oldest first.
    """
    last, system = _first_of("user", reversed(turns)), _first_of("system", turns)
    if _SAID["template"].match(last) or _SAID["tools"].match(system) or _SAID["tools"].match(last):
        return True
    if _orders(system) or _SAID["commit"].search(system[:1_000]):
        return True
    # A person who asks for a title shows no conversation; a program does, in the message or in those before it.
    return _orders(last) and (any(role == "assistant" for role, _ in turns) or _SAID["shown"].search(last) is not None)


def _first_of(whose: str, turns: Iterable[tuple[str, str]]) -> str:
    return next((text.lstrip() for role, text in turns if role == whose), "")


def _orders(text: str) -> bool:
    """Tell whether a text begins with the order to make something small out of a conversation."""
    for verb in _SAID["verb"].finditer(text[:_HEAD]):
        order = text[verb.start() : verb.start() + _ORDER]
        if _SAID["small"].search(order) and _SAID["talk"].search(order):
            return True
    return False
