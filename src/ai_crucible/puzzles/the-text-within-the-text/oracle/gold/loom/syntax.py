"""Expressions as trees, read letter by letter.

A node is ``("text", TEXT)``, ``("name", NAME)``, ``("call", NAME, [NODES])`` or ``("joined", [NODES])``. A document is a
joined node whose list is filled at the end of the line on which it begins.
"""

import re

from loom.errors import Fault

NAME = re.compile(r"[a-z][a-z0-9_]*")
DOCUMENT = re.compile(r"<<(~?)('?)([A-Z][A-Z0-9_]*)\2")
ESCAPES = {"n": "\n", "t": "\t", "\\": "\\", '"': '"', "$": "$"}


class Reader:
    """Reads a file by descent; ``brackets`` counts those that are open, over which ends of lines do not count."""

    def __init__(self, text):
        self.text = text
        self.at = 0
        self.brackets = 0
        self.waiting = []

    def comes(self, word):
        """Tell whether a text is next."""
        return self.text.startswith(word, self.at)

    def take(self, word):
        """Pass over a text and what does not count behind it; Fault where something else stands there."""
        if not self.comes(word):
            raise Fault(f"{word} is expected")
        self.at += len(word)
        self.pass_over()

    def pass_over(self):
        """Pass over blanks and comments, and over ends of lines in brackets."""
        while self.at < len(self.text):
            if self.text[self.at] in " \t":
                self.at += 1
            elif self.comes("#"):
                self.at = self.line_end()
            elif self.comes("\n") and self.brackets > 0:
                self.end_line()
            else:
                return

    def line_end(self):
        """Return where the line ends."""
        end = self.text.find("\n", self.at)
        return len(self.text) if end < 0 else end

    def end_line(self):
        """Pass over the end of a line, and over the documents that were begun on it."""
        self.at += 1
        waiting, self.waiting = self.waiting, []
        for document in waiting:
            self.document(*document)

    def expression(self):
        nodes = [self.single()]
        while self.comes("+"):
            self.take("+")
            nodes.append(self.single())
        return ("joined", nodes)

    def single(self):
        node = self.unspaced()
        self.pass_over()
        return node

    def unspaced(self):
        if self.comes('"'):
            self.at += 1
            nodes = self.pieces('"')
            self.at += 1
            return ("joined", nodes)
        if self.comes("'"):
            return self.raw()
        if self.comes("("):
            return self.listed()[0]
        if match := DOCUMENT.match(self.text, self.at):
            self.at = match.end()
            self.waiting.append((match[1], match[2], match[3], []))
            return ("joined", self.waiting[-1][-1])
        match = NAME.match(self.text, self.at)
        if match is None:
            raise Fault("an expression is expected")
        self.at = match.end()
        self.pass_over()
        return ("call", match[0], self.listed(True)) if self.comes("(") else ("name", match[0])

    def listed(self, many=False):
        """Return what stands in brackets: one expression, or arguments."""
        self.brackets += 1
        self.take("(")
        nodes = []
        if not many or not self.comes(")"):
            nodes.append(self.expression())
        while many and self.comes(","):
            self.take(",")
            nodes.append(self.expression())
        self.brackets -= 1
        if not self.comes(")"):
            raise Fault("a bracket is not closed")
        self.at += 1
        return nodes

    def raw(self):
        end = self.at
        while True:
            end = self.text.find("'", end + 1)
            if end < 0 or "\n" in self.text[self.at : end]:
                raise Fault("a string does not end on its line")
            if not self.text.startswith("''", end):
                break
            end += 1
        text = self.text[self.at + 1 : end].replace("''", "'")
        self.at = end + 1
        return ("text", text)

    def pieces(self, quote):
        """Return the nodes of a string up to its quote, or of a line of a document up to its end."""
        nodes = []
        while not (quote and self.comes(quote)):
            if self.at == len(self.text) or self.comes("\n"):
                if quote:
                    raise Fault("a string does not end on its line")
                break
            if self.comes("${"):
                nodes.append(self.inserted())
                continue
            letter = self.text[self.at]
            self.at += 1
            if letter == "\\":
                letter = ESCAPES.get(self.text[self.at : self.at + 1])
                self.at += 1
                if letter is None:
                    raise Fault("there is no such escape")
            nodes.append(("text", letter))
        return nodes

    def inserted(self):
        """Return the expression of a ``${ }``, which ends on its line whatever brackets are open."""
        around, self.brackets = self.brackets, -1000
        self.take("${")
        node = self.expression()
        if not self.comes("}"):
            raise Fault("${ does not end on its line")
        self.at += 1
        self.brackets = around
        return node

    def document(self, cut, raw, tag, nodes):
        """Read the lines of a document, and fill its nodes."""
        lines = []
        while True:
            if self.at >= len(self.text):
                raise Fault(f"{tag} does not end")
            line = self.text[self.at : self.line_end()]
            blanks = len(line) - len(line.lstrip(" "))
            if line[blanks if cut else 0 :] == tag:
                self.at = self.line_end() + 1
                break
            self.at += blanks
            if raw:
                own = [("text", line[blanks:])]
                self.at = self.line_end() + 1
            else:
                own = self.pieces("")
                self.end_line()
            lines.append((blanks, blanks < len(line), own))
        taken = min((blanks for blanks, counts, _ in lines if counts), default=0) if cut else 0
        for blanks, _, own in lines:
            nodes += [("text", " " * (blanks - taken)), *own, ("text", "\n")]
