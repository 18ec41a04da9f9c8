"""Whether a quotation really stands in a text, and where: white space and marks may differ, nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from unicodedata import normalize

from crux.behaviour import BEHAVIOUR
from crux.extras import library

#: A longer "quotation" is a copy of the essay, not evidence.
MAX_QUOTE = 2_000
#: Fewer letters and digits prove nothing; of scripts whose signs are syllables or words one counts three.
LEAST_SIGNS = 12
#: What is written in several ways, and what is not seen.
_MARKS = str.maketrans(dict.fromkeys("“”„«»", '"') | dict.fromkeys("‘’‚", "'"))
_UNSEEN = str.maketrans(dict.fromkeys("\xad\u0640\u200b\u200c\u200d\u200e\u200f\u2060\ufe0e\ufe0f\ufeff"))
_SIGNS = _MARKS | _UNSEEN | str.maketrans(dict.fromkeys("‛ʼ′", "'") | dict.fromkeys("‐‑‒–—―−", "-") | {"‟": '"'})
_BETWEEN = re.compile(r"(?<=[\u2e80-\ud7ff\uff00-\uff65])\s+(?=[\u2e80-\ud7ff\uff00-\uff65])")
#: What opens a quotation, with what ends it.
_ENDS = {"“": "”", "„": "“”", "«": "»", "»": "«", '"': '"', "”": "”", "「": "」", "『": "』"}
_OPENS = re.compile(r"[“„«「『](?!\s)|«(?=[\xa0\u202f ])|(?<![^\s(\[—–-])[\"”»](?=\w)")
#: A piece that begins so goes on with the sentence before it: a dash, a small letter, the number after "No.".
_GOES_ON = re.compile(r"[\s\"'“‘(\[]*(?:[—–-]\s|[a-zà-öø-ÿа-яё])|\s*\d{1,4}[,;.)]?(?:\s|$)")


def folded(text: str) -> str:
    """Return ``text`` with single spaces, straight marks, one way to write each letter, and nothing unseen."""
    if BEHAVIOUR.before(7):
        return " ".join(text.translate(_MARKS).split())
    return " ".join(normalize("NFKC", _BETWEEN.sub("", text.translate(_SIGNS))).split())


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Find ``quote`` in ``text``: start and end. None where it is not there, or is too short or too long."""
    most = 1 if BEHAVIOUR.before(7) else 3
    signs = sum(most if char >= "\u2e80" else 1 for char in quote if char.isalnum())
    if len(quote) > MAX_QUOTE or signs < LEAST_SIGNS:
        return None
    if (at := text.find(quote)) >= 0:
        return at, at + len(quote)
    return next(places_of(quote, text), None)


def places_of(quote: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield every place in a text where a quotation stands; white space and marks may differ."""
    wanted, number = folded(quote), BEHAVIOUR.in_force
    if not wanted or wanted not in _folded(text, number):
        return
    (sought, _), (signs, places) = _signs(quote, number), _signs(text, number)
    at = signs.find(sought)
    while at >= 0:
        start, end = places[at], places[at + len(sought) - 1] + 1
        if folded(text[start:end]) == wanted:
            yield start, end
        at = signs.find(sought, at + len(sought))


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
    first = text.rfind("\n\n", 0, at) + 1
    if BEHAVIOUR.before(7):
        before = text[first:at]
        left_open = before.count("“") > before.count("”") or before.count('"') % 2 == 1
        return left_open or text[at : at + 1] in ('"', "“", "„", "«")
    ends = ""
    for mark in re.finditer(r"[“”„«»\"「」『』]", text[first : at + 1]):
        if ends or _OPENS.match(text, first + mark.start()):
            ends = "" if mark[0] in ends else ends or _ENDS[mark[0]]
    return bool(ends)


@lru_cache(maxsize=4096)
def _folded(text: str, behaviour: int) -> str:
    return folded(text)


@lru_cache(maxsize=64)
def _signs(text: str, behaviour: int) -> tuple[str, list[int]]:
    """Return the signs of a text without the space between them, and where each of them stands in it."""
    ways = {char: normalize("NFD", folded(char)) for char in {*text}}
    signs = [(sign, at) for at, char in enumerate(text) for sign in ways[char]]
    return "".join(sign for sign, _ in signs), [at for _, at in signs]
