"""Which requests of chat programs no person asks: titles, tags, follow-ups, summaries, commit messages.

Chat programs send them to the model of the chat. They are one cheap call, never a council.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

#: What Open WebUI's templates begin with, and what each of them holds besides.
_TEMPLATE = re.compile(
    r"\s*### Task:.*?(<chat_history>|<text>|### (Output|Guidelines|Chat History|Examples):|JSON format)", re.DOTALL
)
_TOOLS = re.compile(r"\s*Available Tools:.*?choose and return the correct tool", re.DOTALL)
#: An order at the beginning to make something small out of the conversation that is shown.
_VERBS = r"generate|create|provide|write|suggest|give|summari[sz]e|make|choose|propose|return|produce|name"
_SMALL = r"titles?|names?|tags?|follow[- ]?ups?|emojis?|summary|search quer(y|ies)|headline|subject line|labels?"
_TALK = r"conversation|chat|dialog(ue)?|discussion|thread|message history|session|user's messages?"
_ORDER = re.compile(
    rf"^[^\n]{{0,120}}\b({_VERBS})\b[^\n.?!]{{0,100}}\b({_SMALL})\b[^\n?!]{{0,160}}\b({_TALK})\b", re.IGNORECASE
)
_ABOUT_TALK = re.compile(
    rf"^\W*(briefly\W+)?(summari[sz]e|analy[sz]e|title|name)\b[^\n?!]{{0,60}}\b({_TALK})\b", re.IGNORECASE
)
_COMMIT = re.compile(r"\b(generate|write)\b[^\n?!]{0,80}\bcommit message", re.IGNORECASE)


def is_housekeeping(turns: Sequence[tuple[str, str]]) -> bool:
    """Tell whether a chat program asks on its own account.

    Args:
        turns: pairs of role and text, oldest first.
    """
    users = [text for role, text in turns if role == "user"]
    system = next((text for role, text in turns if role == "system"), "")
    last = users[-1].lstrip() if users else ""
    if _TEMPLATE.match(last) or _TOOLS.match(system) or _TOOLS.match(last):
        return True
    if _ORDER.match(system) or _ABOUT_TALK.match(system) or _COMMIT.search(system[:1_000]):
        return True
    # A person who asks for a title shows no conversation; a program does.
    return bool(_ORDER.match(last) or _ABOUT_TALK.match(last)) and _shows_talk(last, turns)


def _shows_talk(text: str, turns: Sequence[tuple[str, str]]) -> bool:
    asked_after_answers = any(role == "assistant" for role, _ in turns)
    return (
        asked_after_answers
        or re.search(r"(?im)^\W*(user|human|ai|assistant|convo|conversation)\W*:", text) is not None
    )
