"""Results of calls: what was read for them, and what they made."""

import re
from dataclasses import dataclass

from kiln.errors import ToolError

NAME = re.compile(r"[a-z0-9.-]+")


@dataclass
class Had:
    """A result: digests of what was read, by path (None where there was nothing), and what came of it."""

    reads: dict
    made: object


class Results:
    """Results by what was called: the tool with its version and arguments, and the digest of the text."""

    def __init__(self):
        self.by_call = {}

    def add(self, call, had):
        """Add a result."""
        self.by_call.setdefault(call, []).append(had)

    def fitting(self, call, read):
        """Return the first result of a call for which everything reads as it did; None where there is none."""
        for had in self.by_call.get(call, []):
            if all(read(path) == seen for path, seen in had.reads.items()):
                return had
        return None


def files_of(made, target):
    """Return the files that a result is for a target, by path; ToolError where it is none."""
    if not target.endswith("/"):
        if not isinstance(made, str):
            raise ToolError("a file is a text")
        return {target: made}
    if not isinstance(made, dict):
        raise ToolError("a folder has texts by name")
    for name, text in made.items():
        if not (isinstance(name, str) and NAME.fullmatch(name) and isinstance(text, str)):
            raise ToolError("a folder has texts by name")
    return {target + name: text for name, text in made.items()}
