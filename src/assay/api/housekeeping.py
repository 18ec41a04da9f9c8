"""Which requests of chat programs no person asks: titles, tags, follow-ups, summaries, commit messages.

Chat programs send them to the model of the chat. They are one cheap call, never a council.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

#: How Open WebUI's templates begin, and what each of them holds besides.
_TEMPLATE = re.compile(
    r"### Task:.*?(<chat_history>|<text>|<context>|### (Output|Guidelines|Chat History|Examples):|JSON format)",
    re.DOTALL,
)
_TOOLS = re.compile(r"Available Tools:.*?choose and return the correct tool", re.DOTALL)
_VERB = re.compile(
    r"\b(generate|create|provide|write|suggest|give|summari[sz]e|make|choose|propose|return|produce|name|title|analy[sz]e)"
    r"\b",
    re.IGNORECASE,
)
_SMALL = re.compile(
    r"\b(titles?|names?|tags?|topics?|follow[- ]?ups?|emojis?|summar(y|ies)|search quer(y|ies)|headline|labels?)\b"
    r"|^\W*(summari[sz]e|title|name|analy[sz]e)\b",
    re.IGNORECASE,
)
_TALK = re.compile(r"\b(conversations?|chats?|dialog(ue)?|user'?s messages?|message history)\b", re.IGNORECASE)
_SHOWN = re.compile(r"^[^\w\n]*(user|human|ai|assistant|convo|conversation)\W{0,20}:", re.IGNORECASE | re.MULTILINE)
_COMMIT = re.compile(r"\b(generate|write)\b[^\n?!]{0,80}\bcommit messages?\b", re.IGNORECASE)
#: Where an order stands, if there is one, and how long it is.
_HEAD, _ORDER = 240, 200


def is_housekeeping(turns: Sequence[tuple[str, str]]) -> bool:
    """Tell whether a chat program asks on its own account.

    Args:
        turns: pairs of role and text, oldest first.
    """
    last, system = _first_of("user", reversed(turns)), _first_of("system", turns)
    if _TEMPLATE.match(last) or _TOOLS.match(system) or _TOOLS.match(last):
        return True
    if _orders(system) or _COMMIT.search(system[:1_000]):
        return True
    # A person who asks for a title shows no conversation; a program does, in the message or in those before it.
    return _orders(last) and (any(role == "assistant" for role, _ in turns) or _SHOWN.search(last) is not None)


def _first_of(whose: str, turns: Iterable[tuple[str, str]]) -> str:
    return next((text.lstrip() for role, text in turns if role == whose), "")


def _orders(text: str) -> bool:
    """Tell whether a text begins with the order to make something small out of a conversation."""
    for verb in _VERB.finditer(text[:_HEAD]):
        order = text[verb.start() : verb.start() + _ORDER]
        if _SMALL.search(order) and _TALK.search(order):
            return True
    return False
