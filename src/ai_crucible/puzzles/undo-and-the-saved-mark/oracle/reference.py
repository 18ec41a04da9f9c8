"""Right answers by a way of their own: every state is kept whole."""


class Model:
    """States as pairs of a text and an object that is like no other."""

    def __init__(self, text="", limit=100):
        self.states, self.here, self.limit = [(text, object())], 0, limit
        self.mark, self.last = self.states[0][1], None

    def look(self):
        text, name = self.states[self.here]
        return [text, name is not self.mark]

    def call(self, name, *arguments):
        return getattr(self, name)(*arguments)

    def insert(self, at, words):
        text = self.states[self.here][0]
        if at < 0 or at > len(text):
            return "IndexError"
        if words:
            joins = self.last == ("insert", at) and words.strip() != ""
            self.reach(text[:at] + words + text[at:], joins, ("insert", at + len(words)))

    def delete(self, at, count):
        text = self.states[self.here][0]
        if at < 0 or count < 0 or at + count > len(text):
            return "IndexError"
        if count:
            joins = self.last in (("delete", at), ("delete", at + count))
            self.reach(text[:at] + text[at + count :], joins, ("delete", at))

    def reach(self, text, joins, last):
        del self.states[self.here + 1 :]
        if joins:
            self.states.pop()
        self.states.append((text, object()))
        if len(self.states) > self.limit + 1:
            self.states.pop(0)
        self.here, self.last = len(self.states) - 1, last

    def undo(self):
        return self.move(-1)

    def redo(self):
        return self.move(1)

    def move(self, step):
        if not 0 <= self.here + step < len(self.states):
            return False
        self.here, self.last = self.here + step, None
        return True

    def pause(self):
        self.last = None

    def save(self):
        self.mark, self.last = self.states[self.here][1], None


def case(beginning, calls):
    if len(beginning) > 1 and beginning[1] < 1:
        return {"args": [beginning, calls], "expect": "ValueError"}
    model = Model(*beginning)
    seen = [model.look()]
    for call in calls:
        answer = model.call(*call)
        seen.append([answer, *model.look()])
    return {"args": [beginning, calls], "expect": seen}


U, R, S, P = ["undo"], ["redo"], ["save"], ["pause"]


def typed(text, at=0):
    return [["insert", at + n, letter] for n, letter in enumerate(text)]


def by_hand(random):
    yield case([], [*typed("ab cd"), U, U, U, R, R])
    yield case([], [*typed("ab"), S, ["insert", 2, "c"], U, U, R])
    yield case([], [*typed("ab"), P, ["insert", 2, "c"], U, ["delete", 0, 0], R, ["insert", 1, ""], U, U, U])
    yield case(["hello"], [["delete", 4, 1], ["delete", 3, 1], ["delete", 0, 1], ["delete", 0, 1], U, U, U])
    yield case(["hello"], [["delete", 1, 2], ["delete", 1, 1], ["insert", 1, "x"], ["delete", 1, 1], U, U, U, U])
    yield case(["a", 2], [["insert", 0, " "], S, P, ["insert", 0, " "], P, ["insert", 0, " "], U, U, U, R])
    yield case(["a", 1], [["insert", 1, "b"], ["insert", 2, "c"], U, U, ["insert", 0, "x"], U, U])
    yield case(["a"], [["insert", 1, "b"], ["delete", 1, 1], S, U, U, R, R])
    yield case(["a"], [["insert", 1, "b"], S, U, ["insert", 1, "b"], U, R, S, U])
    yield case(["ab"], [["insert", 3, "x"], ["insert", -1, "x"], ["delete", 1, 2], ["delete", 2, 1], ["delete", 0, -1], ["delete", -1, 1], ["delete", 2, 0], ["delete", 3, 0], ["insert", 3, ""], U])
    yield case(["ab"], [["insert", 1, "x"], ["insert", 9, "y"], ["insert", 2, "z"], U, U])
    yield case([""], [["insert", 0, "x"], U, U, ["insert", 0, "y"], R, U, R, R, ["insert", 1, "z"], U, U])
    yield case([""], [["insert", 0, "a"], R, ["insert", 1, "b"], U, U, ["insert", 0, "c"], ["insert", 1, " d"], ["insert", 3, "\u2003"], ["insert", 4, "\n"], U, U, U])
    yield case([""], [["insert", 0, "  "], ["insert", 2, "x"], U, U])
    yield case(["x", 0], [])
    yield case(["x", -3], [])
    yield case(["", 3], [["insert", 0, "a"], ["insert", 0, "b"], ["insert", 0, "c"], U, U, ["insert", 1, "d"], U, U, U])
    yield case([], [w for n in range(105) for w in (["insert", 0, "x"], P)] + [U] * 102)


def interplay(random):
    """An edit, what may stand between two, and an edit that joins it or just does not; then all back and forth."""
    text = "one two three four"
    inserts = [["insert", 8, "a"], ["insert", 8, "abc"], ["insert", 8, " "], ["insert", 8, "\u00a0b"], ["insert", 0, "x"], ["insert", len(text), "yz"]]
    deletes = [["delete", 8, 1], ["delete", 8, 4], ["delete", 0, 3], ["delete", len(text) - 2, 2], ["delete", 7, 2]]
    undone = [["insert", 3, "q"], U]
    between = [[], [P], [S], [U], [R], [U, R], [U, U, R], [["insert", 99, "x"]], [["insert", -1, "x"]], [["insert", 99, ""]], [["delete", 99, 1]], [["delete", 0, 99]], [["delete", 3, -1]], [["delete", -1, 0]], [["insert", 0, ""]], [["delete", 0, 0]], [["delete", 5, 0]], [R, R], undone]

    def after(first):
        """Edits that touch what the first one left behind, at its ends and a place beside them, of one and of many."""
        kind, at, what = first
        ends = (at, at + len(what)) if kind == "insert" else (at, at)
        for place in sorted({end + off for end in ends for off in (-1, 0, 1)}):
            for words in ("b", "cde", " ", " f", "\n", "\u2003"):
                yield ["insert", place, words]
        for place in sorted({at - 3, at - 2, at - 1, at, at + 1, ends[1] - 1, ends[1]}):
            for count in (1, 2, 3):
                yield ["delete", place, count]

    def one(gap):
        first = random.choice(inserts + deletes)
        second = random.choice([*after(first)])
        third = random.choice([*after(second)])
        yield case([text], [first, *gap, second, U, U, R, R, R, U])
        yield case([text, random.choice([1, 2, 3])], [first, second, *gap, third, U, S, U, U, R, R])

    for first in inserts + deletes:
        for second in after(first):
            yield case([text], [first, second, U, U, R, R])
    while True:
        for gap in between:
            yield from one(gap)
            yield from one(gap + random.choice(between))


def sessions(random):
    while True:
        start = random.choice(["", "a", "one two", "\u00e9\U0001f600x"])
        beginning = random.choice([[start], [start, random.randint(1, 4)], [start, 2]])
        model, calls, cursor = Model(*beginning), [], 0
        for _ in range(random.randint(4, 30)):
            length = len(model.look()[0])
            kind = random.choice(["type"] * 6 + ["erase"] * 4 + ["jump"] * 2 + ["undo"] * 4 + ["redo"] * 3 + ["save", "save", "pause", "bad", "none"])
            if kind == "jump":
                cursor = random.randint(0, length)
                continue
            cursor = min(cursor, length)
            if kind == "type":
                words = random.choice(["a", "b", "c", " ", "xy", "\n", " z"])
                call, cursor = ["insert", cursor, words], cursor + len(words) - (random.random() < 0.1)
            elif kind == "erase":
                if random.random() < 0.5 and cursor:
                    cursor -= 1
                    call = ["delete", cursor, 1]
                else:
                    call = ["delete", cursor, min(random.choice([1, 1, 2]), length - cursor)]
            elif kind == "bad":
                call = random.choice([["insert", length + 1, "q"], ["insert", -1, "q"], ["delete", 0, length + 1], ["delete", cursor, -1], ["delete", -1, 1], ["insert", length + 1, ""], ["delete", length + 1, 0]])
            elif kind == "none":
                call = random.choice([["insert", cursor, ""], ["delete", cursor, 0]])
            else:
                call = [kind]
            calls.append(call)
            model.call(*call)
        yield case(beginning, calls)
