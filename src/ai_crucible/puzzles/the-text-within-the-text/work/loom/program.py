"""Files of definitions."""

import re

from loom.documents import gathered
from loom.errors import Fault, LoomError
from loom.evaluate import evaluate
from loom.syntax import parsed

DEFINITION = re.compile(r"([a-z][a-z0-9_]*)[ \t]*=(.*)", re.DOTALL)


def run(text):
    """Return the texts of all names of a file."""
    lines, at, names = text.split("\n"), 0, {}
    while at < len(lines):
        number = at + 1
        line, at = gathered(lines, at)
        if not line.strip() or line.lstrip(" \t").startswith("#"):
            continue
        while line.count("(") > line.count(")") and at < len(lines):
            more, at = gathered(lines, at)
            line += "\n" + more
        match = DEFINITION.fullmatch(line)
        if match is None:
            raise LoomError(number, "a definition is NAME = EXPRESSION")
        try:
            names[match[1]] = evaluate(parsed(match[2]), names)
        except Fault as fault:
            raise LoomError(number, str(fault)) from None
    return names
