"""Versions and their order."""

import re

from trove.errors import TroveError

VERSION = re.compile(r"([0-9]+(?:\.[0-9]+)*)(?:-([0-9a-z]+(?:\.[0-9a-z]+)*))?")


class Version:
    """A version; ``text`` is as it was written, ``written`` are its numbers."""

    def __init__(self, text):
        match = VERSION.fullmatch(text)
        if match is None:
            raise TroveError(f"{text!r} is no version")
        self.text = text
        self.written = tuple(int(word) for word in match[1].split("."))
        self.numbers = cut(self.written)
        self.pre = tuple(_word(word) for word in match[2].split(".")) if match[2] else ()
        self.key = (self.numbers, not self.pre, self.pre)

    def __eq__(self, other):
        return self.key == other.key

    def __lt__(self, other):
        return self.key < other.key

    def __hash__(self):
        return hash(self.key)


def cut(numbers):
    """Return numbers without the zeros at their end."""
    while numbers and not numbers[-1]:
        numbers = numbers[:-1]
    return numbers


def _word(word):
    return (0, int(word), "") if word.isdigit() else (1, 0, word)
