"""Ranges of versions."""

import re

from trove.errors import TroveError
from trove.versions import Version

CONDITION = re.compile(r"(=|!=|<=|>=|<|>|\^)(.*)")


class Range:
    """Conditions, all of which must hold."""

    def __init__(self, text):
        self.conditions = []
        for word in text.split():
            match = CONDITION.fullmatch(word)
            if match is None:
                raise TroveError(f"{word!r} is no condition")
            self.conditions.append((match[1], Version(match[2])))

    def has(self, version):
        """Tell whether a version is in the range."""
        return all(_holds(sign, version, bound) for sign, bound in self.conditions)


def _holds(sign, version, bound):
    if sign == "^":
        return not version < bound and version.numbers[0] == bound.numbers[0]
    if sign in ("=", "!="):
        return (version == bound) == (sign == "=")
    if sign in ("<", ">="):
        return (version < bound) == (sign == "<")
    return (bound < version) == (sign == ">")
