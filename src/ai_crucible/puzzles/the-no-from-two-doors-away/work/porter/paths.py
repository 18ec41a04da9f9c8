"""Paths, as segments."""

import re

SEGMENT = re.compile(r"[A-Za-z0-9_.]+")


def segments(text, stars=False):
    """Return the segments of a path; ValueError where it is none."""
    if text == "/":
        return ()
    first, *rest = text.split("/")
    if first or not rest or not all(SEGMENT.fullmatch(each) or (stars and each == "*") for each in rest):
        raise ValueError(f"{text!r} is no path")
    return tuple(rest)


def covers(pattern, path):
    """Tell whether a rule's path covers a path."""
    return "/".join(path).startswith("/".join(pattern))


def literal(pattern):
    """Return how exactly a rule's path says what it means."""
    return sum(segment != "*" for segment in pattern)
