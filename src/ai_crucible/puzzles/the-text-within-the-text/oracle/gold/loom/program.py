"""Files of definitions."""

import re

from loom.errors import Fault, LoomError
from loom.evaluate import evaluate
from loom.syntax import Reader

BEGIN = re.compile(r"([a-z][a-z0-9_]*)[ \t]*=")
NOTHING = re.compile(r"[ \t]*(#[^\n]*)?(\n|\Z)")


def run(text):
    """Return the texts of all names of a file."""
    reader, names = Reader(text), {}
    while reader.at < len(text):
        if match := NOTHING.match(text, reader.at):
            reader.at = match.end()
            continue
        number = text.count("\n", 0, reader.at) + 1
        match = BEGIN.match(text, reader.at)
        if match is None:
            raise LoomError(number, "a definition is NAME = EXPRESSION")
        try:
            reader.take(match[0])
            node = reader.expression()
            if reader.at < len(text) and not reader.comes("\n"):
                raise Fault("something stands behind the expression")
            reader.end_line()
            names[match[1]] = evaluate(node, names)
        except Fault as fault:
            raise LoomError(number, str(fault)) from None
    return names
