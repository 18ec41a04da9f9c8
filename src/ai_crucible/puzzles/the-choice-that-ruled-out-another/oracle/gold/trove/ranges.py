"""Ranges of versions."""

import re

from trove.errors import TroveError
from trove.versions import Version, cut

CONDITION = re.compile(r"(=|!=|<=|>=|<|>|\^)(.*)")


class Range:
    """Conditions, all of which must hold."""

    def __init__(self, text):
        self.conditions = []
        for word in text.split(" "):
            if not word:
                continue
            match = CONDITION.fullmatch(word)
            if match is None:
                raise TroveError(f"{word!r} is no condition")
            self.conditions.append((match[1], Version(match[2])))

    def has(self, version):
        """Tell whether a version is in the range."""
        return all(_holds(sign, version, bound) for sign, bound in self.conditions)


def _holds(sign, version, bound):
    if sign == "^":
        return not version < bound and version.numbers < _end(bound.written)
    if sign in ("=", "!="):
        return (version == bound) == (sign == "=")
    if sign == "<":
        return version < bound and (bool(bound.pre) or version.numbers != bound.numbers)
    if sign == ">=":
        return not version < bound
    return (bound < version) == (sign == ">")


def _end(written):
    """Return the numbers at which what ``^`` has ends."""
    at = next((at for at, number in enumerate(written) if number), len(written) - 1)
    return cut((*written[:at], written[at] + 1))
