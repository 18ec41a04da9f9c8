"""When a shop is open."""

import re

WEEK = 7 * 24 * 60
DAYS = ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"]


def _minute(text, last):
    match = re.fullmatch("([0-9]{2}):([0-9]{2})", text)
    if not match:
        raise ValueError(text)
    hour, minute = int(match[1]), int(match[2])
    value = hour * 60 + minute
    if minute > 59 or value > 1440:
        raise ValueError(text)
    if value == 1440 and not last:
        raise ValueError(text)
    return value


def _days(text):
    found = []
    for part in text.split(","):
        ends = [piece.strip(" ") for piece in part.split("-")]
        if len(ends) > 2 or any(piece not in DAYS for piece in ends):
            raise ValueError(text)
        first, last = DAYS.index(ends[0]), DAYS.index(ends[-1])
        found += [(first + step) % 7 for step in range((last - first) % 7 + 1)]
    return found


def _spans(text):
    if text == "closed":
        return []
    found = []
    for part in text.split(","):
        ends = [piece.strip(" ") for piece in part.split("-")]
        if len(ends) != 2:
            raise ValueError(text)
        begin, end = _minute(ends[0], False), _minute(ends[1], True)
        if end <= begin:
            end += 1440
        found.append((begin, end))
    return found


class Hours:
    """Opening hours of a week that repeats."""

    def __init__(self, text):
        days = [[] for _ in DAYS]
        for rule in text.split(";"):
            match = re.fullmatch("(.*?) +(closed|[0-9].*)", rule.strip(" "), re.DOTALL)
            if not match:
                raise ValueError(rule)
            spans = _spans(match[2])
            for day in _days(match[1]):
                days[day] = spans
        self._open = [False] * WEEK
        for day, spans in enumerate(days):
            for begin, end in spans:
                for minute in range(begin, end):
                    self._open[(day * 1440 + minute) % WEEK] = True

    def is_open(self, at):
        return self._open[at % WEEK]

    def next_change(self, at):
        now = self.is_open(at)
        for step in range(1, WEEK):
            if self.is_open(at + step) != now:
                return step
        return None

    def total(self):
        return sum(self._open)
