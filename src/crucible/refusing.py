"""Words that answer nothing: short, resting on nothing, and about nothing that was shown, in whatever language."""

from __future__ import annotations

from crucible.behaviour import BEHAVIOUR
from llm_runtime.normal import normal

#: Nobody refuses in more characters; of a text's runs of characters, the share that stands in what it is about.
LONGEST, _SHARED = 400, 0.15


def runs(text: str, size: int = 5) -> set[str]:
    """Return the runs of characters of a text, however it is set: what texts have in common is counted in them."""
    form = "".join(normal(text).text.split())
    return {form[at : at + size] for at in range(max(len(form) - size + 1, 1))} if form else set()


def refuses(text: str, shown: str) -> bool:
    """Tell whether a text that rests on nothing says nothing of what was shown, either; of a word or two, no."""
    size, least = (2, 5) if any(sign >= "\u2e80" for sign in text) else (5, 16)
    if BEHAVIOUR.before(6) or len(text) > LONGEST or sum(map(str.isalnum, text)) < least:
        return False
    own = runs(text, size)
    return len(own & runs(shown, size)) < _SHARED * len(own)
