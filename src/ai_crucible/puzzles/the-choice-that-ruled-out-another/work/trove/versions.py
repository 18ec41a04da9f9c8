"""Versions and their order."""

import re

from trove.errors import TroveError

VERSION = re.compile(r"([0-9]+(?:\.[0-9]+)*)(?:-([0-9a-z]+(?:\.[0-9a-z]+)*))?")


class Version:
    """A version; ``text`` is as it was written."""

    def __init__(self, text):
        match = VERSION.fullmatch(text)
        if match is None:
            raise TroveError(f"{text!r} is no version")
        self.text = text
        self.numbers = tuple(int(word) for word in match[1].split("."))
        self.pre = match[2] or ""
        self.key = (self.numbers, self.pre)

    def __eq__(self, other):
        return self.key == other.key

    def __lt__(self, other):
        return self.key < other.key

    def __hash__(self):
        return hash(self.key)
