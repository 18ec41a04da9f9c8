"""Notices a model that repeats one passage without end, as small ones do until their limit cuts them."""

from __future__ import annotations

#: Characters that are looked at, and after how many new ones they are looked at again.
_TAIL = 3_000
_STEP = 400
#: A loop is a passage of letters, to this share, that fills so many characters and stands there so often on end.
_LETTERS = 0.25
_SPAN = 1_200
_TIMES = 4
_NEEDLE = 60


class Loops:
    """Reads along.

    Attributes:
        found: the answer ends in one passage, again and again. Dashes and numbers are none: tables hold them.
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
            self.found = _ends_in_a_loop(self._tail)


def _ends_in_a_loop(text: str) -> bool:
    before = text.rfind(text[-_NEEDLE:], 0, len(text) - 1)
    period = len(text) - _NEEDLE - before
    span = max(_SPAN, _TIMES * period)
    if before < 0 or span > len(text):
        return False
    end = text[-span:]
    return end[period:] == end[:-period] and sum(map(str.isalpha, end)) > _LETTERS * span
