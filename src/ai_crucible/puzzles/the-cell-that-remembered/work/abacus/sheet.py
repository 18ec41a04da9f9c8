"""The sheet: texts of cells, and the values that follow from them."""

import re

from abacus.evaluate import evaluate
from abacus.lexer import FormulaError
from abacus.links import Links
from abacus.refs import normal, place
from abacus.syntax import cells, parsed
from abacus.values import CYCLE, PARSE

NUMBER = re.compile(r"-?[0-9]+")


class Sheet:
    """Cells by name; those that are not there are empty."""

    def __init__(self):
        self._texts = {}
        self._trees = {}
        self._values = {}
        self._links = Links()
        self._running = []
        self.evaluated = []

    def set(self, name, text):
        """Give a cell a text; an empty one clears it."""
        name, text = normal(name), text.strip()
        for reader in self._links.behind(name):
            self._values.pop(reader, None)
        self._values.pop(name, None)
        self._trees.pop(name, None)
        self._links.forget(name)
        self._texts[name] = text
        if not text:
            del self._texts[name]
        elif text.startswith("="):
            self._trees[name] = self._tree(text)
            for other in cells(self._trees[name]):
                if other in self._texts:
                    self._links.note(name, other)

    def text(self, name):
        """Return the text of a cell; the empty text where it has none."""
        return self._texts.get(normal(name), "")

    def names(self):
        """Return the names of all cells that are not empty, row by row."""
        return sorted(self._texts, key=lambda name: place(name)[::-1])

    def value(self, name):
        """Return the value of a cell."""
        self.evaluated = []
        return self._value(normal(name))

    def _value(self, name):
        if name in self._trees:
            return self._computed(name)
        text = self._texts.get(name)
        return int(text) if text and NUMBER.fullmatch(text) else text

    def _computed(self, name):
        if name in self._values:
            return self._values[name]
        if name in self._running:
            return CYCLE
        self._running.append(name)
        value = evaluate(self._trees[name], self._value)
        self._running.remove(name)
        self.evaluated.append(name)
        self._values[name] = 0 if value is None else value
        return self._values[name]

    def _tree(self, text):
        try:
            return parsed(text[1:])
        except FormulaError:
            return ("value", PARSE)
