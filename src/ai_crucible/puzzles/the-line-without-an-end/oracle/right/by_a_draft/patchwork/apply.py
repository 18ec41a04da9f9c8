"""Hunks, applied to a text."""

from patchwork.parse import split


class Conflict(ValueError):
    """A hunk fits nowhere; ``number`` counts the hunks of its file from 1."""

    def __init__(self, number):
        super().__init__(f"hunk {number} does not fit")
        self.number = number


def apply_hunks(hunks, text):
    """Return the new text."""
    lines = split(text)
    made, taken, away = [], 0, 0
    for number, hunk in enumerate(hunks, 1):
        place = _place(lines, hunk, hunk.index + away, taken)
        if place is None:
            raise Conflict(number)
        made += lines[taken:place] + hunk.new
        taken = place + len(hunk.old)
        away = place - hunk.index
    return "".join(made + lines[taken:])


def _place(lines, hunk, wanted, first):
    """Return where a hunk fits, nearest to where it is wanted; ``None`` where it does not."""
    old = hunk.old
    last = len(lines) - len(old)
    if not old:
        return wanted if first <= wanted <= last else None
    for place in sorted(range(first, last + 1), key=lambda place: (abs(place - wanted), place)):
        if lines[place : place + len(old)] == old:
            return place
    return None
