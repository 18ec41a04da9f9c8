"""Clusters: what is not torn."""

from galley.chars import BREAK, JOINER, SOFT, cells, is_mark


def clusters(text):
    """Return the clusters of a text."""
    found = []
    for char in text:
        open_ = found and found[-1] not in (BREAK, SOFT) and char not in (BREAK, SOFT)
        if open_ and (is_mark(char) or found[-1].endswith(JOINER)):
            found[-1] += char
        else:
            found.append(char)
    return found


def width(text):
    """Return how many cells a text takes."""
    return sum(max(map(cells, cluster)) for cluster in clusters(text))
