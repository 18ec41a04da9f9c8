"""A text that can be undone."""


class _Step:
    """Edits that are undone and redone at once: the texts and the states at both ends."""

    def __init__(self, before, state_before):
        self.before, self.state_before = before, state_before
        self.after, self.state_after = before, state_before
        self.last = None  # kind, begin and end of its last edit


class Draft:
    """A text with its undo, its redo and its saved mark."""

    def __init__(self, text="", limit=100):
        if limit < 1:
            raise ValueError("limit is at least 1")
        self._text = text
        self._limit = limit
        self._done, self._undone = [], []
        self._sealed = False
        self._state = self._states = self._saved = 0

    @property
    def text(self):
        return self._text

    @property
    def dirty(self):
        return self._state != self._saved

    def insert(self, at, words):
        if not 0 <= at <= len(self._text):
            raise IndexError(at)
        if not words:
            return
        last = self._last()
        joins = last is not None and last[0] == "insert" and last[2] == at and not words.isspace()
        self._edit(self._text[:at] + words + self._text[at:], ("insert", at, at + len(words)), joins)

    def delete(self, at, count):
        if at < 0 or count < 0 or at + count > len(self._text):
            raise IndexError((at, count))
        if not count:
            return
        last = self._last()
        joins = last is not None and last[0] == "delete" and (last[1] == at or count == 1 and at == last[1] - 1)
        self._edit(self._text[:at] + self._text[at + count :], ("delete", at, at + count), joins)

    def undo(self):
        if not self._done:
            return False
        step = self._done.pop()
        self._undone.append(step)
        self._text, self._state = step.before, step.state_before
        self._sealed = True
        return True

    def redo(self):
        if not self._undone:
            return False
        step = self._undone.pop()
        self._done.append(step)
        self._text, self._state = step.after, step.state_after
        self._sealed = True
        return True

    def save(self):
        self._saved = self._state
        self._sealed = True

    def pause(self):
        self._sealed = True

    def _last(self):
        """The edit that the next one may join; None where it may not."""
        return None if self._sealed or not self._done else self._done[-1].last

    def _edit(self, text, edit, joins):
        self._undone.clear()
        if not joins:
            self._done.append(_Step(self._text, self._state))
            if len(self._done) > self._limit:
                del self._done[0]
        self._states += 1
        self._text, self._state = text, self._states
        step = self._done[-1]
        step.after, step.state_after, step.last = text, self._state, edit
        self._sealed = False
