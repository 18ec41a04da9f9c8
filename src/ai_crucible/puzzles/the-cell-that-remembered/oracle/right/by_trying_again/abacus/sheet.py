"""The sheet: texts of cells, and the values that follow from them."""

import re

from abacus.evaluate import evaluate
from abacus.lexer import FormulaError
from abacus.refs import normal, place
from abacus.syntax import parsed
from abacus.values import CYCLE, PARSE

NUMBER = re.compile(r"-?[0-9]+")


class Missing(Exception):
    """A cell's value is wanted that is not there yet."""


class Sheet:
    """Cells by name; those that are not there are empty."""

    def __init__(self):
        self._texts = {}
        self._trees = {}
        self._kept = {}
        self.evaluated = []

    def set(self, name, text):
        """Give a cell a text; an empty one clears it."""
        name, text = normal(name), text.strip()
        if self._texts.get(name, "") != text:
            for table in (self._texts, self._trees, self._kept):
                table.pop(name, None)
            if text:
                self._texts[name] = text
            if text.startswith("="):
                self._trees[name] = self._tree(text)

    def text(self, name):
        """Return the text of a cell; the empty text where it has none."""
        return self._texts.get(normal(name), "")

    def names(self):
        """Return the names of all cells that are not empty, row by row."""
        return sorted(self._texts, key=lambda name: place(name)[::-1])

    def value(self, name):
        """Return the value of a cell."""
        self.evaluated = []
        name = normal(name)
        values, left = {}, [name]
        while left:
            try:
                self._try(left[-1], values)
                left.pop()
            except Missing as missing:
                (wanted,) = missing.args
                if wanted in left:
                    at = left.index(wanted)
                    values.update(dict.fromkeys(left[at:], CYCLE))
                    del left[at:]
                else:
                    left.append(wanted)
        return values[name]

    def _try(self, name, values):
        """Put the value of a cell into ``values``; Missing where another one has to come first."""
        if name in values:
            return
        if name not in self._trees:
            text = self._texts.get(name)
            values[name] = int(text) if text and NUMBER.fullmatch(text) else text
            return

        def read(other):
            if other not in values:
                raise Missing(other)
            seen.append((other, values[other]))
            return values[other]

        seen = []
        value, reads = self._kept.get(name, (None, None))
        if reads is None or any(read(other) != before for other, before in reads):
            seen = []
            value = evaluate(self._trees[name], read)
            self._kept[name] = 0 if value is None else value, seen
            self.evaluated.append(name)
        values[name] = self._kept[name][0]

    def _tree(self, text):
        try:
            return parsed(text[1:])
        except FormulaError:
            return ("value", PARSE)
