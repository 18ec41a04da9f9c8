"""Heads of frames."""

import re
from dataclasses import dataclass

LONGEST = 20
HEAD = re.compile(r"([A-Z]+) (\d+) (\d+)( \+)?")


@dataclass(frozen=True)
class Head:
    """The head of a frame: its kind, the message's id, the length of its body, whether the message goes on."""

    kind: str
    id: int
    length: int
    more: bool


def read(line):
    """Return the head that a line of bytes is; None where it is none."""
    match = HEAD.match(line.decode("latin-1").strip())
    if match is None:
        return None
    return Head(match[1], int(match[2]), int(match[3]), bool(match[4]))
