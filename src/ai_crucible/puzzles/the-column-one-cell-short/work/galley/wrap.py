"""Texts as lines."""

from galley.breaks import may_end, seen
from galley.chars import SOFT, SPACE
from galley.clusters import clusters, width


def wrap(text, room):
    """Return the lines of a text."""
    if room < 1:
        raise ValueError("a line has a cell at least")
    lines = []
    for paragraph in text.split("\n"):
        lines += paragraph_lines(clusters(paragraph), room)
    return lines


def paragraph_lines(parts, room):
    """Return the lines of one paragraph."""
    lines = []
    while width(line(parts)) > room:
        end = place(parts, room)
        lines.append(line(parts[:end], parts[end - 1] == SOFT))
        parts = parts[end:]
    return [*lines, line(parts)]


def line(parts, hyphen=False):
    """Return clusters as a line."""
    return seen(parts).rstrip(SPACE) + "-" * hyphen


def place(parts, room):
    """Return behind how many clusters a line ends."""
    best = 0
    for end in range(1, len(parts)):
        if width(line(parts[:end])) > room:
            break
        if may_end(parts[end - 1], parts[end]):
            best = end
    return best or room
