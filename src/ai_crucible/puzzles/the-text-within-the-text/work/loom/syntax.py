"""Expressions as trees.

A node is ``("text", TEXT)``, ``("name", NAME)``, ``("call", NAME, [NODES])`` or ``("joined", [NODES])``.
"""

import re

from loom.errors import Fault
from loom.words import words

PIECE = re.compile(r"\$\{([^}]*)\}|\\(.)|([^\\$]+|\$)", re.DOTALL)
ESCAPES = {"n": "\n", "t": "\t", "\\": "\\", '"': '"', "$": "$"}


def parsed(text):
    """Return the tree of an expression; Fault where it is none."""
    reader = Reader(words(text))
    node = reader.expression()
    reader.take("end")
    return node


def of_string(text):
    """Return the tree of what stands between the quotes of a string."""
    nodes = []
    for match in PIECE.finditer(text):
        if match[1] is not None:
            nodes.append(parsed(match[1]))
        elif match[2] is not None:
            if match[2] not in ESCAPES:
                raise Fault(f"there is no escape \\{match[2]}")
            nodes.append(("text", ESCAPES[match[2]]))
        else:
            nodes.append(("text", match[3]))
    return ("joined", nodes)


class Reader:
    """Reads words by descent."""

    def __init__(self, found):
        self.words = found
        self.at = 0

    def take(self, *wanted):
        """Return the next word; it is of a kind, or a mark, that is wanted."""
        kind, text = self.words[self.at]
        if kind not in wanted and (kind != "mark" or text not in wanted):
            raise Fault(f"{text or 'the end'} stands where {wanted[0]} is expected")
        self.at += 1
        return kind, text

    def comes(self, mark):
        """Tell whether a mark is next."""
        return self.words[self.at] == ("mark", mark)

    def expression(self):
        nodes = [self.single()]
        while self.comes("+"):
            self.take("+")
            nodes.append(self.single())
        return nodes[0] if len(nodes) == 1 else ("joined", nodes)

    def single(self):
        kind, text = self.take("name", "raw", "string", "(")
        if kind == "raw":
            return ("text", text[1:-1].replace("''", "'"))
        if kind == "string":
            return of_string(text[1:-1])
        if kind == "mark":
            node = self.expression()
            self.take(")")
            return node
        if not self.comes("("):
            return ("name", text)
        self.take("(")
        arguments = []
        while not self.comes(")"):
            if arguments:
                self.take(",")
            arguments.append(self.expression())
        self.take(")")
        return ("call", text, arguments)
