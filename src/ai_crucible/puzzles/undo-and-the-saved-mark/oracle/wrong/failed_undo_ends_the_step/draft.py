"""A text that can be undone."""


class Draft:
    """A text with its undo, its redo and its saved mark.

    A step is a list of edits ``(place, words taken out, words put in)``. A state is known by the number that it got
    when an edit first led to it.
    """

    def __init__(self, text="", limit=100):
        if limit < 1:
            raise ValueError("limit is at least 1")
        self.text = text
        self._limit = limit
        self._done, self._undone = [], []
        self._state = self._saved = self._newest = 0
        self._joins = False

    @property
    def dirty(self):
        return self._state != self._saved

    def insert(self, at, words):
        self._edit(at, 0, words)

    def delete(self, at, count):
        self._edit(at, count, "")

    def undo(self):
        if not self._done:
            return False
        before, edits, _ = step = self._done.pop()
        for at, out, put in reversed(edits):
            self._replace(at, put, out)
        self._undone.append(step)
        self._state, self._joins = before, False
        return True

    def redo(self):
        if not self._undone:
            self._joins = False
            return False
        _, edits, after = step = self._undone.pop()
        for at, out, put in edits:
            self._replace(at, out, put)
        self._done.append(step)
        self._state, self._joins = after, False
        return True

    def pause(self):
        self._joins = False

    def save(self):
        self._saved, self._joins = self._state, False

    def _edit(self, at, count, words):
        if count < 0 or not 0 <= at <= len(self.text) - count:
            raise IndexError(f"{at} and {count} are not within the text")
        if not count and not words:
            return
        edit = (at, self.text[at : at + count], words)
        joins = self._joins and self._follows(edit)
        self._replace(*edit)
        self._newest += 1
        self._undone.clear()
        if joins:
            before, edits, _ = self._done.pop()
            self._done.append((before, [*edits, edit], self._newest))
        else:
            self._done.append((self._state, [edit], self._newest))
            del self._done[: -self._limit]
        self._state, self._joins = self._newest, True

    def _follows(self, edit):
        at, out, put = edit
        last, last_out, last_put = self._done[-1][1][-1]
        if put:
            return bool(last_put) and at == last + len(last_put) and not put.isspace()
        return bool(last_out) and last in (at, at + len(out))

    def _replace(self, at, out, put):
        self.text = self.text[:at] + put + self.text[at + len(out) :]
