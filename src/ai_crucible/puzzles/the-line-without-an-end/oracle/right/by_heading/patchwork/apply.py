"""Hunks, applied to a text."""

from itertools import chain

from patchwork.parse import split


class Conflict(ValueError):
    """A hunk fits nowhere."""

    def __init__(self, number):
        ValueError.__init__(self, f"hunk {number} does not fit")
        self.number = number


def fits(lines, old, place):
    return place >= 0 and lines[place : place + len(old)] == old


def apply_hunks(hunks, text):
    rest, gone, made, away = split(text), 0, [], 0
    for number, hunk in enumerate(hunks, 1):
        old, wanted = hunk.old, hunk.index + away - gone
        if old:
            steps = chain([0], *((-step, step) for step in range(1, len(rest) + abs(wanted) + 1)))
            place = next((wanted + step for step in steps if fits(rest, old, wanted + step)), None)
        else:
            place = wanted if 0 <= wanted <= len(rest) else None
        if place is None:
            raise Conflict(number)
        made.extend(rest[:place])
        made.extend(hunk.new)
        away = gone + place - hunk.index
        gone += place + len(old)
        rest = rest[place + len(old) :]
    return "".join([*made, *rest])
