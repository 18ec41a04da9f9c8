"""Whether a quotation really stands in a text, and where: white space and marks may differ, nothing else."""

from __future__ import annotations

import re
from functools import lru_cache

#: A longer "quotation" is a copy of the essay, not evidence.
MAX_QUOTE = 2_000
#: Fewer letters and digits prove nothing.
LEAST_SIGNS = 12
# One character for one character, so that places in the folded text are places in the text.
_MARKS = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "‚": "'"})
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)\]]?\s+(?=[\"'“‘(\[]?[A-Z0-9])")


def folded(text: str) -> str:
    """Return ``text`` with straight quotation marks and single spaces."""
    return " ".join(_straight(text).split())


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Find ``quote`` in ``text``: start and end. None where it is not there, or is too short or too long."""
    if len(quote) > MAX_QUOTE or sum(char.isalnum() for char in quote) < LEAST_SIGNS:
        return None
    if (at := text.find(quote)) >= 0:
        return at, at + len(quote)
    wanted = folded(quote)
    if not wanted or wanted not in _folded(text):
        return None
    match = re.search(r"\s+".join(map(re.escape, wanted.split(" "))), _straight(text))
    return match.span() if match else None


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, in order, each stripped; by punctuation, which is enough to point at one."""
    return [part.strip() for part in _SENTENCE_END.split(text) if part.strip()]


def opens_quoted(text: str, at: int) -> bool:
    """Tell whether what begins at ``at`` stands in quotation marks: words that the author gives as somebody else's.

    By the marks since the paragraph began, where old books open them anew.
    """
    before = text[text.rfind("\n\n", 0, at) + 1 : at]
    left_open = before.count("“") > before.count("”") or before.count('"') % 2 == 1
    return left_open or text[at : at + 1] in ('"', "“", "„", "«")


def _straight(text: str) -> str:
    return text.translate(_MARKS)


@lru_cache(maxsize=4096)
def _folded(text: str) -> str:
    return folded(text)
