"""The words of a formula."""

import re

WORD = re.compile(
    r"""\s*(?:
        (?P<number>[0-9]+)
      | (?P<text>"(?:[^"]|"")*")
      | (?P<name>[A-Za-z]+[0-9]*)
      | (?P<mark><>|<=|>=|[-+*/&=<>(),:])
    )""",
    re.VERBOSE,
)


class FormulaError(ValueError):
    """A formula that cannot be read."""


def words(text):
    """Return the words of a formula as pairs of kind and text; the last one is of the kind ``end``."""
    found, at = [], 0
    text = text.rstrip()
    while at < len(text):
        match = WORD.match(text, at)
        if match is None:
            raise FormulaError(f"nothing is known that begins with {text[at:].strip()[:1]!r}")
        found.append((match.lastgroup, match[match.lastgroup]))
        at = match.end()
    return [*found, ("end", "")]
