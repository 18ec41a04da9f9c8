"""A text that can be undone."""

import sys
from collections import deque


class Draft:
    """A text with its undo, its redo and its saved mark."""

    def __init__(self, text="", limit=100):
        if limit < 1:
            raise ValueError(f"limit of {limit}")
        self._text = text
        self._back = deque(maxlen=min(limit, sys.maxsize))  # steps: lists of edits (place, taken out, put in)
        self._forth = []
        self._open = False  # whether the last step may still be joined
        self._marks = [object()]  # the states before and after the steps in _back
        self._ahead = []  # the states after the steps in _forth
        self._saved = self._marks[0]

    text = property(lambda self: self._text)
    dirty = property(lambda self: self._marks[-1] is not self._saved)

    def insert(self, at, words):
        was_open, self._open = self._open, True
        if at < 0 or at > len(self._text):
            raise IndexError("place outside of the text")
        if words == "":
            self._open = was_open
            return
        joins = False
        if was_open and self._back:
            place, out, put = self._back[-1][-1]
            joins = out == "" and place + len(put) == at and not words.isspace()
        self._new((at, "", words), joins)

    def delete(self, at, count):
        if at < 0 or count < 0 or at > len(self._text) - count:
            raise IndexError("range outside of the text")
        if count == 0:
            return
        joins = False
        if self._open and self._back:
            place, out, put = self._back[-1][-1]
            joins = put == "" and (at == place or at + count == place)
        self._new((at, self._text[at : at + count], ""), joins)

    def _carry_out(self, edit):
        at, out, put = edit
        self._text = self._text[:at] + put + self._text[at + len(out) :]

    def _new(self, edit, joins):
        self._forth.clear()
        self._ahead.clear()
        self._carry_out(edit)
        if joins:
            self._back[-1].append(edit)
            self._marks[-1] = object()
        else:
            self._back.append([edit])
            self._marks.append(object())
            del self._marks[: -len(self._back) - 1]
        self._open = True

    def undo(self):
        if not self._back:
            return False
        step = self._back.pop()
        for at, out, put in reversed(step):
            self._carry_out((at, put, out))
        self._forth.append(step)
        self._ahead.append(self._marks.pop())
        self._open = False
        return True

    def redo(self):
        if not self._forth:
            return False
        step = self._forth.pop()
        for edit in step:
            self._carry_out(edit)
        self._back.append(step)
        self._marks.append(self._ahead.pop())
        self._open = False
        return True

    def save(self):
        self._saved = self._marks[-1]
        self._open = False

    def pause(self):
        self._open = False
