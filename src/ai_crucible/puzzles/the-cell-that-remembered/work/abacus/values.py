"""What cells hold: whole numbers, texts, None for nothing, and errors."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Error:
    """An error is a value too: ``#DIV``, ``#TYPE``, ``#NAME``, ``#PARSE`` or ``#CYCLE``."""

    kind: str

    def __str__(self):
        return self.kind


DIV = Error("#DIV")
TYPE = Error("#TYPE")
NAME = Error("#NAME")
PARSE = Error("#PARSE")
CYCLE = Error("#CYCLE")


def number(value):
    """Return a value as a number, or the error that this is not possible."""
    if value is None:
        return 0
    return TYPE if isinstance(value, str) else value


def written(value):
    """Return a value as text, as a sheet shows it."""
    return "" if value is None else str(value)


def order(one, other):
    """Return -1, 0 or 1, as one value comes before another, beside it or after it."""
    if one is None:
        one = "" if isinstance(other, str) else 0
    if other is None:
        other = "" if isinstance(one, str) else 0
    first, second = (isinstance(one, str), one), (isinstance(other, str), other)
    return (first > second) - (first < second)
