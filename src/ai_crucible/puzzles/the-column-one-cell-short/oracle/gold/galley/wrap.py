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
    while wide(line(parts, not lines)) > room:
        end, hyphen = place(parts, room, not lines)
        lines.append("".join(line(parts[:end], not lines)) + hyphen)
        parts = parts[end:]
    last = line(parts, not lines)
    return lines if lines and not last else [*lines, "".join(last)]


def line(parts, first):
    """Return the clusters that are to be seen on a line, a paragraph's first one or another."""
    parts = seen(parts)
    while parts and parts[-1] == SPACE:
        parts.pop()
    while parts and parts[0] == SPACE and not first:
        del parts[0]
    return parts


def wide(parts):
    """Return how many cells clusters take."""
    return sum(map(width, parts))


def place(parts, room, first):
    """Return behind how many clusters a line ends, and its hyphen."""
    anyhow = None
    for end in range(len(parts), 0, -1):
        here = line(parts[:end], first)
        hyphen = "-" if parts[end - 1] == SOFT else ""
        if not here:
            break
        if end < len(parts) and may_end(parts[end - 1], parts[end]) and wide(here) + len(hyphen) <= room:
            return end, hyphen
        if anyhow is None and wide(here) <= room:
            anyhow = end
        least = end
    return least if anyhow is None else anyhow, ""
