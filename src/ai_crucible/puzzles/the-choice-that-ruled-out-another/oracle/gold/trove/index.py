"""Indexes as text."""

import re
from dataclasses import dataclass, field

from trove.errors import TroveError
from trove.ranges import Range
from trove.versions import Version

LINE = re.compile(r"([a-z]+) +([^ :]+)( +yanked)? *(?:: *(.*))?", re.DOTALL)
NEED = re.compile(r"([a-z]+)(\??)(?: +(.*))?", re.DOTALL)


@dataclass(frozen=True)
class Need:
    """A package that a version needs, or only bears in a range."""

    name: str
    range: Range
    optional: bool = False


@dataclass
class Release:
    """A version of a package, and what it needs."""

    name: str
    version: Version
    yanked: bool = False
    needs: list = field(default_factory=list)


def need(text, optional=False):
    """Return the need that a text is."""
    match = NEED.fullmatch(text.strip(" "))
    if match is None or (match[2] and not optional):
        raise TroveError(f"{text!r} is no name with a range")
    return Need(match[1], Range(match[3] or ""), bool(match[2]))


def parse(text):
    """Return the releases of an index by name, in the order of their lines."""
    index = {}
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip(" ")
        if not line or line.startswith("#"):
            continue
        try:
            release = _release(line)
            if any(release.version == each.version for each in index.get(release.name, [])):
                raise TroveError("that version is there already")
        except TroveError as fault:
            raise TroveError(fault.reason, number) from None
        index.setdefault(release.name, []).append(release)
    return index


def _release(line):
    match = LINE.fullmatch(line)
    if match is None:
        raise TroveError("a line is NAME VERSION: NEEDS")
    needs = [need(part, True) for part in match[4].split(",")] if match[4] else []
    return Release(match[1], Version(match[2]), bool(match[3]), needs)
