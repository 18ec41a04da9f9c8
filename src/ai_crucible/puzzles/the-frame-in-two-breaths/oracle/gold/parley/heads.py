"""Heads of frames."""

import re
from dataclasses import dataclass

LONGEST = 20
HEAD = re.compile(rb"(?:(DATA)|PING|STOP) ([1-9][0-9]{0,2}) (0|[1-9][0-9]{0,3})( \+)?")


@dataclass(frozen=True)
class Head:
    """The head of a frame: its kind, the message's id, the length, whether the message goes on."""

    kind: str
    id: int
    length: int
    more: bool


def read(line):
    """Return the head that a line of bytes is; None where it is none."""
    match = HEAD.fullmatch(line)
    if match is None or (not match[1] and (match[3] != b"0" or match[4])):
        return None
    return Head(line[:4].decode(), int(match[2]), int(match[3]), bool(match[4]))
