"""Records, and their fields as lines."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Record:
    """A record: its key, its revision from 1 on, and its fields."""

    key: str
    revision: int
    fields: dict


def lines_of(fields):
    """Return fields as lines without their ends, sorted by name."""
    return [f"{name}={escaped(fields[name])}" for name in sorted(fields)]


def fields_of(lines):
    """Return the fields of lines."""
    return {name: plain(value) for name, _, value in (line.partition("=") for line in lines)}


def escaped(value):
    """Return a value in one line."""
    return value.replace("\\", "\\\\").replace("\n", "\\n")


def plain(text):
    """Return the value of what was written in one line."""
    return re.sub(r"\\(.)", lambda match: "\n" if match[1] == "n" else match[1], text)
