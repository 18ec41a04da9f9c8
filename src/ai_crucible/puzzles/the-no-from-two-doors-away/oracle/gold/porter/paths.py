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
    return len(pattern) <= len(path) and all(one in ("*", each) for one, each in zip(pattern, path))


def literal(pattern):
    """Return where a rule's path has stars, to be compared: the less, the sooner it decides."""
    return tuple(segment == "*" for segment in pattern)
