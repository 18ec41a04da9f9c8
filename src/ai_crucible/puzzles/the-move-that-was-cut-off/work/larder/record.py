"""Records, and their fields as lines."""

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
    fields = {}
    for line in lines:
        name, _, value = line.strip().partition("=")
        fields[name] = plain(value)
    return fields


def escaped(value):
    """Return a value in one line."""
    return value.replace("\n", "\\n").replace("\\", "\\\\")


def plain(text):
    """Return the value of what was written in one line."""
    return text.replace("\\\\", "\\").replace("\\n", "\n")
