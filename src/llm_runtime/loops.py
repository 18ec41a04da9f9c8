"""Notices a model that repeats one passage without end, as small ones do until their limit cuts them."""

from __future__ import annotations

import re

#: Characters that are looked at, and after how many new ones they are looked at again.
_TAIL = 16_000
_STEP = 400
#: A loop is a passage of letters, to this share, or of signs alone, that fills so many characters and stands there so
#: often on end.
#: It is looked for by its last characters, at so many places.
_LETTERS = 0.25
_SPAN = 1_200
_TIMES = 4
_NEEDLE = 60
_CANDIDATES = 24
#: Rows of a table, fields of data and strings of a few letters may be equal for longer.
_DATA = re.compile(r'[|│║;{}<>=\t]|":|",|[^\W\d],\w')
_DATA_SPAN = 6_000
_FEW_LETTERS = 5
#: What counts on is progress. But a passage of so many characters, the same under the next number of a list, is
#: none, and the same under any other one number is none when it stood there so often. A shorter one has to stand
#: there three times as often, whichever the number.
_COUNTED, _SHORT = 150, 60
_LONG = 20
_MARKER = re.compile(r"(?m)^[ \t>#*]*\(?\d+[.):、．]+(?!\d)\**[ \t]*")
_CLOSING = re.compile(r"[.!?。！？…)\]\"'»”]{1,4}")
_NUMBER = re.compile(r"\d+")


class Loops:
    """Reads along.

    Attributes:
        found: the answer ends in one passage, again and again, be it under the numbers of a list.
    """

    __slots__ = ("_new", "_tail", "found")

    def __init__(self) -> None:
        self._tail = ""
        self._new = 0
        self.found = False

    def read(self, piece: str) -> None:
        """Take in the next piece of the answer."""
        self._tail = (self._tail + piece)[-_TAIL:]
        self._new += len(piece)
        if self._new >= _STEP:
            self._new %= _STEP
            # At places that are the same however the answer was cut into pieces.
            self.found = _loop(self._tail[: len(self._tail) - self._new]) is not None


def before_the_loop(text: str) -> str:
    """Return a text that ends in a loop up to where the passage is said for the second time.

    Empty where nothing stands before the passage, or where there is no loop.
    """
    found = _loop(text[-_TAIL:])
    if found is None:
        return ""
    left_out, period = found
    plain = left_out.sub("", text) if left_out else text
    begin = len(plain) - period
    while begin > 0 and plain[begin - 1] == plain[begin - 1 + period]:
        begin -= 1
    if not plain[:begin].strip():
        return ""
    end = begin + period
    for match in left_out.finditer(text) if left_out else ():
        if match.start() >= end:
            break
        end += len(match[0])
    # What stands before the passage may end as the passage does.
    closing = _CLOSING.match(text, end)
    return text[: closing.end() if closing else end].rstrip()


def _loop(text: str) -> tuple[re.Pattern[str] | None, int] | None:
    """Return what to leave out of a text so that it ends in one passage again and again, and that one's length;
    ``None`` where it does not.
    """
    if len(text) < _SPAN or not _can_loop(text[-_SPAN:]):
        return None
    if (period := _period(text, 1, _TIMES)) is not None:
        return None, period
    if '":' in text or _NUMBER.search(text, len(text) - _TAIL // _TIMES) is None:
        return None
    if (period := _counted(_MARKER.sub("", text), _TIMES)) is not None:
        return _MARKER, period
    period = _counted(plain := _NUMBER.sub("", text), _LONG)
    if period is None or _DATA.search(plain[-period:]):
        return None
    # More numbers than one in a passage say something of their own.
    passages = text[-(_LONG * period * len(text) // len(plain)) :]
    return (_NUMBER, period) if len(_NUMBER.findall(passages)) < 1.5 * _LONG else None


def _can_loop(end: str) -> bool:
    words = sum(map(str.isalpha, end)) > _LETTERS * _SPAN
    # Signs without an end stand on one line, or are white space; boards and tables have rows, and data have numbers.
    return words or len({*end}) == 1 or not (any(map(str.isalnum, end)) or "\n" in end.strip())


def _counted(text: str, times: int) -> int | None:
    return _period(text, _COUNTED, times) or _period(text, _SHORT, 3 * _LONG)


def _period(text: str, shortest: int, times: int) -> int | None:
    """Return the length of the passage, of so many characters at least, that a text ends in so often."""
    needle, end = text[-_NEEDLE:], len(text) - 1
    # A passage may say its last words more than once, so the nearest place that has them need not end it.
    for _ in range(_CANDIDATES):
        before = text.rfind(needle, max(0, len(text) - _NEEDLE - len(text) // times), end)
        if before < 0:
            return None
        period = len(text) - _NEEDLE - before
        passage = text[-period:]
        data = _DATA.search(passage) or len({*filter(str.isalpha, passage)}) <= _FEW_LETTERS
        span = max(_DATA_SPAN if data else _SPAN, times * period)
        tail = text[-span:]
        if tail[period:] == tail[:-period]:
            return period if period >= shortest and len(tail) == span else None
        end = before + _NEEDLE - 1
    return None
