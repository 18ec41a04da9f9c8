"""Words that stand in a text of the run: where they are, and whether they are there at all."""

from __future__ import annotations

import re
from typing import Literal

from llm_runtime.models import Model
from llm_runtime.normal import normal, says_enough
from llm_runtime.structs import Struct

_ELLIPSIS = re.compile(r"(?:(?<!\s)\s+)?(?:\[?…\]?|\[?\.\.\.\]?)\s*")
_LONGEST_GAP = 600
ANSWER = "answer"
"""The source of the response to the user."""


class Span(Model, use_attribute_docstrings=False):
    """Words in a text of the run.

    Args:
        source: ``"critique/LOOP/STEP"``, ``"LOOP/SEAT/KIND"`` or ``"answer"``.
        start: of ``text[start:end]``, in characters.
        end: likewise.
        how: found to the letter, or folded for case, blanks and forms of characters.
        words: what stands there.
    """

    source: str
    start: int
    end: int
    how: Literal["exact", "folded"]
    words: str


class Passage(Struct):
    """A text of the run, and where it stands."""

    source: str
    text: str

    def span(self, start: int, end: int, *, exact: bool = True) -> Span:
        """Return a part of it."""
        how: Literal["exact", "folded"] = "exact" if exact else "folded"
        return Span(source=self.source, start=start, end=end, how=how, words=self.text[start:end])


def locate(words: str | None, passage: Passage) -> Span | None:
    """Find a quotation; an ellipsis in it may stand for anything short.

    Returns:
        ``None`` where it stands nowhere, or says too little to be a quotation.
    """
    bare = (words or "").strip().strip("\"'“”‘’„«»").strip()
    if not says_enough(normal(bare).text):
        return None
    if (at := passage.text.find(bare)) >= 0:
        return passage.span(at, at + len(bare))
    whole = normal(passage.text)
    spans: list[tuple[int, int]] = []
    for part in filter(None, (normal(part).text.strip(" \"'.,;:") for part in _ELLIPSIS.split(bare))):
        after = spans[-1][1] if spans else 0
        place = next((place for place in whole.places(part, 64) if place[0] >= after), None)
        if place is None or (spans and place[0] - after > _LONGEST_GAP):
            return None
        spans.append(place)
    return passage.span(spans[0][0], spans[-1][1], exact=False) if spans else None
