from itertools import count


class Draft:
    """All states of the text, and where among them it is."""

    def __init__(self, text="", limit=100):
        if limit <= 0:
            raise ValueError(limit)
        self.numbers = count(1)
        self.texts, self.names, self.place = [text], [0], 0
        self.most, self.marked, self.pause = limit, 0, self.stop
        self.tail = None

    text = property(lambda self: self.texts[self.place])
    dirty = property(lambda self: self.names[self.place] != self.marked)

    def stop(self):
        self.tail = None

    def save(self):
        self.marked = self.names[self.place]
        self.stop()

    def undo(self):
        if self.place == 0:
            return False
        self.place -= 1
        self.stop()
        return True

    def redo(self):
        if self.place + 1 == len(self.texts):
            return False
        self.place += 1
        self.stop()
        return True

    def insert(self, at, words):
        if at not in range(len(self.text) + 1):
            raise IndexError(at)
        if words == "":
            return
        join = self.tail == (True, at) and not words.isspace()
        self.step(self.text[:at] + words + self.text[at:], join)
        self.tail = (True, at + len(words))

    def delete(self, at, count):
        end = at + count
        if count < 0 or at < 0 or end > len(self.text):
            raise IndexError(at)
        if at == end:
            return
        join = self.tail is not None and not self.tail[0] and self.tail[1] in (at, end)
        self.step(self.text[:at] + self.text[end:], join)
        self.tail = (False, at)

    def step(self, text, join):
        keep = self.place + (not join)
        self.texts[keep:] = [text]
        self.names[keep:] = [next(self.numbers)]
        over = max(0, len(self.texts) - 1 - self.most)
        del self.texts[:over], self.names[:over]
        self.place = len(self.texts) - 1
