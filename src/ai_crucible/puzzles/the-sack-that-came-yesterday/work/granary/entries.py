"""Entries of a log."""

import re
from dataclasses import dataclass

NAME = re.compile(r"[a-z]+")
NUMBER = re.compile(r"[0-9]+")
FIELDS = {"in": ("day", "qty", "price"), "out": ("day", "qty"), "move": ("day", "qty")}


class LogError(ValueError):
    """A log that cannot be read: says the line and why."""

    def __init__(self, line, reason):
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


@dataclass
class Entry:
    """An entry: its number, its kind, and what it says; what a kind does not say is empty."""

    number: int
    kind: str
    day: int = 0
    store: str = ""
    good: str = ""
    qty: int = 0
    price: int = 0
    to: str = ""
    target: int = 0
    field: str = ""
    value: int = 0


def entry(number, words):
    """Return the entry that words are; ValueError where they are none."""
    if words[0] == "fix" and len(words) == 4:
        return Entry(number, "fix", target=_number(words[1]), field=words[2], value=_number(words[3], 0))
    if words[0] in ("void", "close") and len(words) == 2:
        at = _number(words[1])
        return Entry(number, words[0], target=at) if words[0] == "void" else Entry(number, "close", at)
    kind = words[1] if len(words) > 1 else ""
    if len(words) != {"in": 6, "out": 5, "move": 6}.get(kind):
        raise ValueError("this is no entry")
    found = Entry(number, kind, _number(words[0]), _name(words[2]), _name(words[3]), _number(words[4]))
    if kind == "in":
        found.price = _number(words[5], 0)
    if kind == "move":
        found.to = _name(words[5])
        if found.to == found.store:
            raise ValueError("it moves nowhere")
    return found


def _number(word, least=1):
    if not NUMBER.fullmatch(word) or int(word) < least:
        raise ValueError(f"a number from {least} is expected")
    return int(word)


def _name(word):
    if not NAME.fullmatch(word):
        raise ValueError("a name has small letters")
    return word
