"""Formulas as trees.

A node is ``("value", V)``, ``("cell", NAME)``, ``("range", [NAMES])``, ``("sign", NODE)``, ``("both", OPERATOR, LEFT,
RIGHT)`` or ``("call", NAME, [NODES])``.
"""

from abacus.lexer import FormulaError, words
from abacus.refs import normal, within

LEVELS = [("=", "<>", "<", "<=", ">", ">="), ("&",), ("+", "-"), ("*", "/")]


def parsed(text):
    """Return the tree of a formula, without its ``=``; FormulaError where it is none."""
    reader = Reader(words(text))
    node = reader.level(0)
    reader.take("end")
    return node


class Reader:
    """Reads words by descent."""

    def __init__(self, found):
        self.words = found
        self.at = 0

    @property
    def next(self):
        return self.words[self.at]

    def take(self, *wanted):
        """Return the next word's text; it is of a kind, or a mark, that is wanted."""
        kind, text = self.next
        if kind not in wanted and (kind != "mark" or text not in wanted):
            raise FormulaError(f"{text or 'the end'} stands where {wanted[0]} is expected")
        self.at += 1
        return text

    def comes(self, *marks):
        """Tell whether the next word is one of some marks."""
        return self.next[0] == "mark" and self.next[1] in marks

    def level(self, depth):
        if depth == len(LEVELS):
            return self.signed()
        node = self.level(depth + 1)
        while self.comes(*LEVELS[depth]):
            mark = self.take("mark")
            node = ("both", mark, node, self.level(depth + 1))
        return node

    def signed(self):
        if self.comes("-"):
            self.take("-")
            return ("sign", self.signed())
        return self.single()

    def single(self):
        kind, text = self.next
        if kind == "number":
            return ("value", int(self.take("number")))
        if kind == "text":
            return ("value", self.take("text")[1:-1].replace('""', '"'))
        if self.comes("("):
            self.take("(")
            node = self.level(0)
            self.take(")")
            return node
        self.take("name")
        if self.comes("("):
            return ("call", text.upper(), self.arguments())
        return ("cell", self.cell(text))

    def arguments(self):
        self.take("(")
        if self.comes(")"):
            self.take(")")
            return []
        found = [self.argument()]
        while self.comes(","):
            self.take(",")
            found.append(self.argument())
        self.take(")")
        return found

    def argument(self):
        if self.next[0] == "name" and self.words[self.at + 1] == ("mark", ":"):
            first = self.cell(self.take("name"))
            self.take(":")
            return ("range", within(first, self.cell(self.take("name"))))
        return self.level(0)

    def cell(self, text):
        try:
            return normal(text)
        except ValueError as fault:
            raise FormulaError(str(fault)) from None


def cells(node):
    """Yield the names of all cells that stand in a tree."""
    kind, *parts = node
    if kind == "cell":
        yield parts[0]
    elif kind == "range":
        yield from parts[0]
    elif kind == "sign":
        yield from cells(parts[0])
    elif kind == "both":
        yield from cells(parts[1])
        yield from cells(parts[2])
    elif kind == "call":
        for argument in parts[1]:
            yield from cells(argument)
