"""Whether a quotation really stands in a text, and where: white space and marks may differ, nothing else."""

from __future__ import annotations

import re
from functools import lru_cache

from crux.extras import library

#: A longer "quotation" is a copy of the essay, not evidence.
MAX_QUOTE = 2_000
#: Fewer letters and digits prove nothing.
LEAST_SIGNS = 12
# One character for one character, so that places in the folded text are places in the text.
_MARKS = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "‚": "'"})
#: A piece that begins so goes on with the sentence before it: a dash, a small letter, the number after "No.".
_GOES_ON = re.compile(r"[\s\"'“‘(\[]*(?:[—–-]\s|[a-zà-öø-ÿа-яё])|\s*\d{1,4}[,;.)]?(?:\s|$)")


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


def places_of(quote: str, text: str) -> list[tuple[int, int]]:
    """Return every place in a text where a quotation stands; white space and marks may differ."""
    wanted = folded(quote)
    if not wanted or wanted not in _folded(text):
        return []
    pattern = r"\s+".join(map(re.escape, wanted.split(" ")))
    return [match.span() for match in re.finditer(pattern, _straight(text))]


def sentences(text: str, language: str = "en") -> list[str]:
    """Return the sentences of a text, in order, each stripped."""
    return [text[start:end] for start, end in spans(text, language)]


@lru_cache(maxsize=4096)
def spans(text: str, language: str = "en") -> tuple[tuple[int, int], ...]:
    """Return where the sentences of a text begin and end, white space left out.

    Args:
        text: in any script.
        language: ISO 639-1; it decides which abbreviations end no sentence.

    Raises:
        MissingExtraError: the extra ``debate`` is not installed.
    """
    spans: list[tuple[int, int]] = []
    at = 0
    for piece in library("sentencex", "finding sentences").segment(language, text):
        body = piece.strip()
        start = text.index(body, at) if body else at
        at = start + len(body)
        if not body:
            continue
        gap = text[spans[-1][1] : start] if spans else "\n\n"
        if spans and "\n\n" not in gap and _GOES_ON.match(body):
            spans[-1] = (spans[-1][0], at)
        else:
            spans.append((start, at))
    return tuple(spans)


def whole(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the sentences that a span of a text has a part in, from the first to the last."""
    first, last = _paragraph(text, start, end)
    touched = [one for one in spans(text[first:last]) if one[0] < end - first and start - first < one[1]]
    return (first + touched[0][0], first + touched[-1][1]) if touched else (start, end)


def neighbours(text: str, start: int, end: int) -> tuple[str, str]:
    """Return the sentence before a span of a text, and the one after; empty where there is none."""
    before, after = text[max(0, start - MAX_QUOTE) : start], text[end : end + MAX_QUOTE]
    ahead, behind = spans(before)[-1:], spans(after)[:1]
    return "".join(before[a:b] for a, b in ahead), "".join(after[a:b] for a, b in behind)


def _paragraph(text: str, start: int, end: int) -> tuple[int, int]:
    first, last = text.rfind("\n\n", 0, start), text.find("\n\n", end)
    return (first + 2 if first >= 0 else 0), (last if last >= 0 else len(text))


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
