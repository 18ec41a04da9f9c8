class Draft:
    """Steps are pairs of functions on the text."""

    def __init__(self, text="", limit=100):
        if limit < 1:
            raise ValueError
        self.text, self.limit = text, limit
        self.back, self.forth = [], []
        self.id = self.mark = object()
        self.joinable = None

    dirty = property(lambda self: self.id is not self.mark)

    def _carry(self, source, target, returning):
        if not source:
            return False
        step = source.pop()
        target.append(step)
        self.text, self.id = step[returning]
        self.joinable = None
        return True

    def undo(self):
        return self._carry(self.back, self.forth, "was")

    def redo(self):
        return self._carry(self.forth, self.back, "is")

    def pause(self):
        self.joinable = None

    def save(self):
        self.pause()
        self.mark = self.id

    def _step(self, text, joins):
        new = (text, object())
        if joins:
            self.back[-1]["is"] = new
        else:
            self.back.append({"was": (self.text, self.id), "is": new})
            if len(self.back) > self.limit:
                self.back.pop(0)
        self.forth = []
        self.text, self.id = new

    def insert(self, at, words):
        if not 0 <= at <= len(self.text):
            raise IndexError
        if not words:
            return
        self._step(self.text[:at] + words + self.text[at:], self.joinable == ("+", at) and not words.isspace())
        self.joinable = ("+", at + len(words))

    def delete(self, at, count):
        if count < 0 or at < 0 or at + count > len(self.text):
            raise IndexError
        if not count:
            return
        self._step(self.text[:at] + self.text[at + count:], self.joinable in {("-", at), ("-", at + count)})
        self.joinable = ("-", at)
