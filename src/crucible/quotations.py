"""What seats and answer quote, looked for where it should stand: attachments, the question, what others wrote."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Literal, TypeAlias

from crucible.material import Attachment
from crucible.passages import Passage, locate
from llm_runtime.normal import normal, says_enough
from llm_runtime.structs import Struct

Found: TypeAlias = Literal["exact", "folded", "picture", "nowhere"]
_Where: TypeAlias = tuple[str, tuple[int, int] | None, Found]
_NOWHERE: _Where = ("", None, "nowhere")
_PLACE = r"\[(A\d{1,3})(?::(\d{1,6})(?:[-–](\d{1,6}))?)?\]"
#: What opens a quotation stands in none, so that a text of opening marks alone is read once.
_MARKS = r"“([^“”\n]{3,1000})”|„([^„“”\n]{3,1000})[“”]|«([^«»\n]{3,1000})»|\"([^\"\n]{3,1000})\""
_QUOTED = re.compile(rf"(?:{_MARKS})(?:[.,;:]?\s*{_PLACE})?|{_PLACE}")
_NUMBER = re.compile(r"(?m)^ *\d+\| ?")


class Quotation(Struct):
    """Words in quotation marks, or a place that is given, and where they stand.

    Args:
        start: of it in the text that quotes, marks and place included.
        end: likewise.
        words: what is quoted; empty where only a place is given.
        found: how; ``"nowhere"`` also where the place does not exist, ``"picture"`` where nobody can look.
        source: of what it stands in: an attachment's id, or who wrote it.
        lines: first and last line in an attachment, 1-based; ``None`` elsewhere.
    """

    start: int
    end: int
    words: str
    found: Found
    source: str = ""
    lines: tuple[int, int] | None = None

    @property
    def place(self) -> str:
        """Where it stands, in words: ``"A1, lines 3 to 5"``."""
        if self.lines is None:
            return self.source
        first, last = self.lines
        return f"{self.source}, line {first}" if first == last else f"{self.source}, lines {first} to {last}"


def quotations(text: str, attachments: Mapping[str, Attachment], others: Sequence[tuple[str, str]]) -> list[Quotation]:
    """Return all that a text quotes, in order, looked for first at the place that it gives.

    Args:
        attachments: by their ids.
        others: who wrote it, and the text; those that may be quoted.
    """
    marked: list[Quotation] = []
    for match in _QUOTED.finditer(text):
        words = next((group for group in match.groups()[:4] if group), "")
        item, first, last = match.groups()[4:7] if words else match.groups()[7:10]
        # Two words in marks are a way of speaking; with a place behind them they are a quotation.
        if words and not item and not says_enough(normal(words).text):
            continue
        whole = (match.start(), match.end(), words)
        if not words:
            marked.append(_place(whole, item, first, last, attachments))
            continue
        read = (_within(name, attachments[name], words) for name in sorted(attachments, key=lambda name: name != item))
        places = chain(read, (_said(who, text, words) for who, text in others))
        named = attachments.get(item or "")
        unseen: _Where = (item, None, "picture") if named and named.picture else _NOWHERE
        source, lines, how = next(filter(None, places), unseen)
        marked.append(Quotation(*whole, how, source, lines))
    return marked


def _place(
    whole: tuple[int, int, str], item: str, first: str | None, last: str | None, attachments: Mapping[str, Attachment]
) -> Quotation:
    one = attachments.get(item)
    lines = (int(first), int(last or first)) if first else None
    if one is None or (lines and not 1 <= lines[0] <= lines[1] <= one.lines):
        return Quotation(*whole, "nowhere", item, lines)
    return Quotation(*whole, "exact", item, lines)


def _within(name: str, one: Attachment, words: str) -> _Where | None:
    bare = _NUMBER.sub("", words)
    span = locate(bare, Passage(name, one.text)) or _short(bare, one.text)
    if span is None:
        return None
    start, end, how = span if isinstance(span, tuple) else (span.start, span.end, span.how)
    return name, (one.text.count("\n", 0, start) + 1, one.text.count("\n", 0, end) + 1), how


def _short(words: str, text: str) -> tuple[int, int, Found] | None:
    """Find words that are too few to be looked for in folded form: a name, a line of code."""
    at = text.find(words.strip())
    return (at, at + len(words.strip()), "exact") if words.strip() and at >= 0 else None


@lru_cache(maxsize=2048)
def _said(who: str, text: str, words: str) -> _Where | None:
    span = locate(words, Passage("", text))
    return (who, None, span.how) if span else None
