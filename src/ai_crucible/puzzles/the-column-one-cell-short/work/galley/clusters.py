"""Clusters: what is not torn."""

from galley.chars import is_mark


def clusters(text):
    """Return the clusters of a text."""
    found = []
    for char in text:
        if found and is_mark(char):
            found[-1] += char
        else:
            found.append(char)
    return found


def width(text):
    """Return how many cells a text takes."""
    return len(clusters(text))
