"""One field of a schedule, read into a set of numbers."""

from dataclasses import dataclass

MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
WEEKDAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")


class FieldError(ValueError):
    """A field that cannot be read."""


@dataclass(frozen=True)
class Kind:
    """What a field may hold; ``names`` stand for numbers from ``low`` on."""

    name: str
    low: int
    high: int
    names: tuple = ()


MINUTE = Kind("minute", 0, 59)
HOUR = Kind("hour", 0, 23)
DAY = Kind("day of the month", 1, 31)
MONTH = Kind("month", 1, 12, MONTHS)
WEEKDAY = Kind("day of the week", 0, 6, WEEKDAYS)
KINDS = (MINUTE, HOUR, DAY, MONTH, WEEKDAY)


def read_field(text, kind):
    """Return the numbers that a field means."""
    numbers = set()
    for part in text.split(","):
        numbers.update(_part(part, kind))
    return frozenset(number % 7 if kind is WEEKDAY else number for number in numbers)


def _part(text, kind):
    span, slash, step = text.partition("/")
    every = _step(step, kind) if slash else 1
    if span == "*":
        return range(kind.low, kind.high + 1, every)
    first, dash, last = span.partition("-")
    start = _number(first, kind)
    if dash:
        end = _number(last, kind)
    else:
        end = kind.high if slash else start
    if end < start:
        raise FieldError(f"{kind.name}: {span!r} goes backwards")
    return range(start, end + 1, every)


def _step(text, kind):
    if not (text.isascii() and text.isdigit()) or int(text) < 1:
        raise FieldError(f"{kind.name}: {text!r} is no step")
    return int(text)


def _number(text, kind):
    if text.upper() in kind.names:
        return kind.names.index(text.upper()) + kind.low
    if not (text.isascii() and text.isdigit()):
        raise FieldError(f"{kind.name}: {text!r} is no number")
    highest = 7 if kind is WEEKDAY else kind.high
    if not kind.low <= int(text) <= highest:
        raise FieldError(f"{kind.name}: {text} is not from {kind.low} to {kind.high}")
    return int(text)
