class State:
    def __init__(self, text, before):
        self.text, self.before, self.after = text, before, None


class Draft:
    def __init__(self, text="", limit=100):
        if not limit >= 1:
            raise ValueError("too few steps")
        self.now = self.kept = State(text, None)
        self.limit, self.last_insert, self.last_delete = limit, None, None

    @property
    def text(self):
        return self.now.text

    @property
    def dirty(self):
        return self.now is not self.kept

    def pause(self):
        self.last_insert = self.last_delete = None

    def save(self):
        self.kept = self.now
        self.pause()

    def undo(self):
        return self._go(self.now.before)

    def redo(self):
        return self._go(self.now.after)

    def _go(self, state):
        if state is None:
            return False
        self.now = state
        self.pause()
        return True

    def insert(self, at, words):
        if at < 0 or len(self.text) < at:
            raise IndexError("place")
        if words:
            joins = at == self.last_insert and len(words.strip()) > 0
            self._set(self.text[:at] + words + self.text[at:], joins)
            self.last_insert = at + len(words)

    def delete(self, at, count):
        if min(at, count) < 0 or len(self.text) < at + count:
            raise IndexError("range")
        if count:
            joins = self.last_delete is not None and self.last_delete in (at, at + count)
            self._set(self.text[:at] + self.text[at + count:], joins)
            self.last_delete = at

    def _set(self, text, joins):
        before = self.now.before if joins else self.now
        state = State(text, before)
        before.after = state
        self.now = state
        self.pause()
        walk = state
        for _ in range(self.limit):
            walk = walk.before
            if walk is None:
                return
        walk.before = None
