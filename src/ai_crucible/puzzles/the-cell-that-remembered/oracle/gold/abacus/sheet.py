"""The sheet: texts of cells, and the values that follow from them."""

import re

from abacus.evaluate import evaluate
from abacus.lexer import FormulaError
from abacus.refs import normal, place
from abacus.syntax import parsed
from abacus.values import CYCLE, PARSE

NUMBER = re.compile(r"-?[0-9]+")


class Formula:
    """A tree, its last value, and what it read for it; ``reads`` is None where that is not known."""

    def __init__(self, tree):
        self.tree = tree
        self.value = None
        self.reads = None


class Sheet:
    """Cells by name; those that are not there are empty."""

    def __init__(self):
        self._texts = {}
        self._formulas = {}
        self.evaluated = []

    def set(self, name, text):
        """Give a cell a text; an empty one clears it."""
        name, text = normal(name), text.strip()
        if text == self.text(name):
            return
        self._formulas.pop(name, None)
        self._texts[name] = text
        if not text:
            del self._texts[name]
        elif text.startswith("="):
            self._formulas[name] = Formula(self._tree(text))

    def text(self, name):
        """Return the text of a cell; the empty text where it has none."""
        return self._texts.get(normal(name), "")

    def names(self):
        """Return the names of all cells that are not empty, row by row."""
        return sorted(self._texts, key=lambda name: place(name)[::-1])

    def value(self, name):
        """Return the value of a cell."""
        self.evaluated = []
        wanted = normal(name)
        # Each formula on the way waits for the one behind it; a stack of our own takes any depth.
        known, path = {}, {}
        while True:
            if wanted in path:
                for circular in list(path)[list(path).index(wanted) :]:
                    known[circular] = CYCLE
                    del path[circular]
            if wanted in self._formulas and wanted not in known:
                path[wanted] = self._steps(wanted)
                wanted = next(path[wanted], None)
            else:
                value = known[wanted] if wanted in known else self._plain(wanted)
                if not path:
                    return value
                wanted = self._sent(path, value)
            while wanted is None:
                name, _ = path.popitem()
                value = known[name] = self._formulas[name].value
                if not path:
                    return value
                wanted = self._sent(path, value)

    def _sent(self, path, value):
        """Give the last formula on the way a value; return what it wants next, or None."""
        try:
            return path[next(reversed(path))].send(value)
        except StopIteration:
            return None

    def _steps(self, name):
        """Bring a formula up to date; yields the cells whose values it needs."""
        formula = self._formulas[name]
        for other, before in formula.reads or ():
            if (yield other) != before:
                break
        else:
            if formula.reads is not None:
                return
        reads, run, value = [], evaluate(formula.tree), None
        try:
            while True:
                other = run.send(value)
                value = yield other
                reads.append((other, value))
        except StopIteration as done:
            formula.value = 0 if done.value is None else done.value
        formula.reads = reads
        self.evaluated.append(name)

    def _plain(self, name):
        text = self._texts.get(name)
        return int(text) if text and NUMBER.fullmatch(text) else text

    def _tree(self, text):
        try:
            return parsed(text[1:])
        except FormulaError:
            return ("value", PARSE)
