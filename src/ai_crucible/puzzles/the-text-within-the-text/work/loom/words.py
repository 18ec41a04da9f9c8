"""The words of an expression."""

import re

from loom.errors import Fault

WORD = re.compile(
    r"""[ \t\n]*(?:
        (?P<name>[a-z][a-z0-9_]*)
      | (?P<raw>'(?:[^']|'')*')
      | (?P<string>"(?:[^"\\]|\\.)*")
      | (?P<mark>[+(),])
      | (?P<comment>\#[^\n]*)
    )""",
    re.VERBOSE,
)


def words(text):
    """Return the words of an expression as pairs of kind and text, and one of the kind ``end``."""
    found, at = [], 0
    text = text.rstrip(" \t\n")
    while at < len(text):
        match = WORD.match(text, at)
        if match is None:
            raise Fault(f"nothing is known that begins with {text[at:].strip()[:1]!r}")
        if match.lastgroup != "comment":
            found.append((match.lastgroup, match[match.lastgroup]))
        at = match.end()
    return [*found, ("end", "")]
