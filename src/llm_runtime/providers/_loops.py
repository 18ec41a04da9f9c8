"""Notices a model that repeats one passage without end, as small ones do until their limit cuts them."""

from __future__ import annotations

import re

#: Characters that are looked at, and after how many new ones they are looked at again.
_TAIL = 8_000
_STEP = 400
#: A loop is a passage of letters, to this share, that fills so many characters and stands there so often on end.
#: It is looked for by its last characters, at so many places.
_LETTERS = 0.25
_SPAN = 1_200
_TIMES = 4
_NEEDLE = 60
_CANDIDATES = 24
#: Where items are counted on, the words between two numbers must be a passage, not the row of a table or of data.
_COUNTED = 150
_NUMBERS = re.compile(r"\d+")


class Loops:
    """Reads along.

    Attributes:
        found: the answer ends in one passage, again and again, be it under new numbers. Dashes and numbers are
            none: tables hold them.
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
            self._new = 0
            self.found = _ends_in_a_loop(self._tail) or (
                '":' not in self._tail and _ends_in_a_loop(_NUMBERS.sub("", self._tail), _COUNTED)
            )


def _ends_in_a_loop(text: str, shortest: int = 1) -> bool:
    """Tell whether a text ends in a passage of so many characters, at least, again and again."""
    if len(text) < _SPAN or sum(map(str.isalpha, text[-_SPAN:])) <= _LETTERS * _SPAN:
        return False
    needle, end = text[-_NEEDLE:], len(text) - 1
    # A passage may say its last words more than once, so the nearest place that has them need not end it.
    for _ in range(_CANDIDATES):
        before = text.rfind(needle, len(text) - _NEEDLE - len(text) // _TIMES, end)
        if before < 0:
            return False
        period = len(text) - _NEEDLE - before
        tail = text[-max(_SPAN, _TIMES * period) :]
        if tail[period:] == tail[:-period]:
            return period >= shortest
        end = before + _NEEDLE - 1
    return False
