"""Opening hours as the edges at which a shop opens and shuts."""

from bisect import bisect_right
from re import compile as pattern

ORDER = {name: number for number, name in enumerate(("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"))}
TOKEN = pattern("(Mo|Tu|We|Th|Fr|Sa|Su)|([0-9][0-9]:[0-9][0-9])|(closed)|([,-])|( +)")
FORM = pattern("D(-D)?(,D(-D)?)* (C|T-T(,T-T)*)")


class Hours:
    def __init__(self, text):
        days = {}
        for rule in text.split(";"):
            kinds, words, place = "", [], 0
            while place < len(rule):
                token = TOKEN.match(rule, place)
                if not token:
                    raise ValueError(rule[place:])
                kinds += {1: "D", 2: "T", 3: "C", 5: " "}.get(token.lastindex, token[0])
                words.append(token[0])
                place = token.end()
            plain = kinds.strip(" ")
            for mark in ",-":
                plain = plain.replace(" " + mark, mark).replace(mark + " ", mark)
            if not FORM.fullmatch(plain):
                raise ValueError(rule)
            names = [word for word in words if word in ORDER]
            clocks = [self.minute(word) for word in words if ":" in word]
            if any(clock > 1440 for clock in clocks) or 1440 in clocks[::2]:
                raise ValueError(rule)
            spans = [(a, b if b > a else b + 1440) for a, b in zip(clocks[::2], clocks[1::2])]
            shape = plain.split(" ")[0].split(",")
            left = iter(names)
            for part in shape:
                first = ORDER[next(left)]
                last = ORDER[next(left)] if part == "D-D" else first
                for day in range(first, last + 1 if last >= first else last + 8):
                    days[day % 7] = spans
        steps = {}
        for day, spans in days.items():
            for start, end in spans:
                for shift in (-10080, 0, 10080):
                    for at, step in ((start, 1), (end, -1)):
                        at += day * 1440 + shift
                        steps[at] = steps.get(at, 0) + step
        self.edges, self.states, depth = [], [False], 0
        for at in sorted(steps):
            depth += steps[at]
            if (depth > 0) != self.states[-1]:
                self.edges.append(at)
                self.states.append(depth > 0)

    @staticmethod
    def minute(word):
        hours, minutes = map(int, word.split(":"))
        if minutes > 59:
            raise ValueError(word)
        return hours * 60 + minutes

    def is_open(self, at):
        return self.states[bisect_right(self.edges, at % 10080)]

    def next_change(self, at):
        at %= 10080
        place = bisect_right(self.edges, at)
        if place == len(self.edges) or self.edges[place] - at >= 10080:
            return None
        return self.edges[place] - at

    def total(self):
        total, at = 0, 0
        for edge in [edge for edge in self.edges if 0 < edge < 10080] + [10080]:
            total += (edge - at) * self.is_open(at)
            at = edge
        return total
