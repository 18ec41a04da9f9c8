"""Notices a model that repeats one passage without end, as small ones do until their limit cuts them."""

from __future__ import annotations

import re
from collections.abc import Iterator

#: Characters that are looked at, and after how many new ones they are looked at again.
_TAIL = 24_000
_STEP = 400
#: A loop is a passage that fills so many characters and stands there so often on end. It is looked for by its last
#: characters, at so many places, and by more of them where those stand in it too often.
_SPAN = 2_000
_TIMES = 4
_NEEDLES = 60, 2_400
_CANDIDATES = 24
#: Rows of a table, fields of data and strings of a few letters may be equal for longer.
_DATA = re.compile(r'[|│║;{}<>=\t]|::|":|["\'],|,\n|[^\W\d],\w')
_DATA_SPAN = 6_000
_FEW_LETTERS = 5
#: A passage is one of letters, to this share, or of signs and digits alone. Those may be equal for longer, and for
#: longest where one has so many characters: boards and matrices have rows. So may what stands below numbers that count
#: on, since they are progress.
_LETTERS = 0.25
_SIGNS_SPAN = 10_000
_ROW = 17
_LONGEST_SPAN = 16_000
#: What is left out to see a passage below such numbers, or ever deeper.
_MARKER = re.compile(r"(?m)^[ \t>#*]*\(?\d+[.):、．]+(?!\d)\**[ \t]*")
_INDENT = re.compile(r"(?m)^[ \t]+")
_NUMBER = re.compile(r"\d+")
#: A passage with so many characters may be an answer, said again and again.
_ANSWER = 200
_CLOSING = re.compile(r"[.!?。！？…)\]\"'»”]{1,4}(?=\s|$)|[。！？]|\n")


class Loops:
    """Reads along.

    Attributes:
        found: the answer ends in one passage, again and again, be it under the numbers of a list.
    """

    __slots__ = ("_new", "_pieces", "_tail", "found")

    def __init__(self) -> None:
        self._tail = ""
        self._pieces: list[str] = []
        self._new = 0
        self.found = False

    def read(self, piece: str) -> None:
        """Take in the next piece of the answer."""
        self._pieces.append(piece)
        self._new += len(piece)
        if self._new >= _STEP:
            self._tail = (self._tail + "".join(self._pieces))[-_TAIL:]
            self._pieces.clear()
            self._new %= _STEP
            # At places that are the same however the answer was cut into pieces.
            self.found = _loop(self._tail[: len(self._tail) - self._new]) is not None


def before_the_loop(text: str) -> str:
    """Return a text that ends in a loop up to where the passage is said for the second time.

    Empty where nothing stands before a passage that is too short for an answer, or where there is no loop.
    """
    found = _loop(text[-_TAIL:])
    if found is None:
        return ""
    left_out, period = found
    plain = left_out.sub("", text) if left_out else text
    begin = len(plain) - period
    while begin > 0 and plain[begin - 1] == plain[begin - 1 + period]:
        begin -= 1
    before = plain[:begin]
    if not before.strip() and period < _ANSWER:
        return ""
    end = len(text[: _with(left_out, text, begin + period)].rstrip())
    # What stands before the passage may end as the passage does, so its own end is further on.
    closing = _CLOSING.search(text, end - 1, end + period) if before[-1:].strip() else None
    return text[: closing.end() if closing else end].rstrip()


def _with(left_out: re.Pattern[str] | None, text: str, end: int) -> int:
    """Return the place in a text that is at ``end`` without what is left out."""
    for match in left_out.finditer(text) if left_out else ():
        if match.start() >= end:
            break
        end += len(match[0])
    return end


def _loop(text: str) -> tuple[re.Pattern[str] | None, int] | None:
    """Return what to leave out of a text so that it ends in one passage again and again, and that one's length;
    ``None`` where it does not.
    """
    if (period := _period(text, _SPAN)) is not None:
        return None, period
    for left_out in () if len(text) < _DATA_SPAN else (_INDENT, _MARKER, _NUMBER):
        plain = left_out.sub("", text)
        # What is ever deeper is mostly white space.
        least, share = (_SPAN, len(plain) / len(text)) if left_out is _INDENT else (_LONGEST_SPAN, 1.0)
        period = _period(plain, least, share)
        if period is not None and (left_out is not _NUMBER or _counts(text, plain, period)):
            return left_out, period
    return None


def _counts(text: str, plain: str, period: int) -> bool:
    """Tell whether numbers only count the passages. In data, or more than one in a passage, they say something."""
    numbers = _NUMBER.findall(text, len(text) - _LONGEST_SPAN * len(text) // len(plain))
    return len(numbers) < 1.5 * _LONGEST_SPAN / period and not _DATA.search(plain[-period:])


def _period(text: str, least: int, share: float = 1.0) -> int | None:
    """Return the length of the passage that a text ends in again and again, over a share of so many characters at
    least.
    """
    if len(text) < least * share:
        return None
    for period in _periods(text):
        span = max(int(share * max(least, _span(text[-period:]))), _TIMES * period)
        tail = text[-span:]
        if tail[period:] == tail[:-period]:
            return period if len(tail) == span else None
    return None


def _periods(text: str) -> Iterator[int]:
    """Return how long a passage at the end may be, the shortest first."""
    # It may say its last words more than once, so the nearest place that has them need not end it.
    for size in _NEEDLES:
        needle, end = text[-size:], len(text) - 1
        for _ in range(_CANDIDATES):
            before = text.rfind(needle, max(0, len(text) - size - len(text) // _TIMES), end)
            if before < 0:
                return
            yield len(text) - size - before
            end = before + size - 1


def _span(passage: str) -> int:
    """Return how many characters a passage has to fill."""
    letters = [*filter(str.isalpha, passage)]
    if len(letters) > _LETTERS * len(passage):
        return _DATA_SPAN if _DATA.search(passage + passage[:2]) or len({*letters}) <= _FEW_LETTERS else _SPAN
    if passage.isspace():
        return _SPAN
    if len(passage) >= _ROW:
        return _LONGEST_SPAN
    return _SIGNS_SPAN if passage.isascii() else _DATA_SPAN
