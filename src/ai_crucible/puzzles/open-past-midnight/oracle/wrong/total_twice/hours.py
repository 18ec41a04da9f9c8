"""When a shop is open."""

import re

DAY = 1440
WEEK = 7 * DAY
NAMES = "Mo Tu We Th Fr Sa Su".split()
_DAY = "(?:Mo|Tu|We|Th|Fr|Sa|Su)"
_DAYS = f"{_DAY}(?: *- *{_DAY})?"
_TIME = "[0-9]{2}:[0-9]{2}"
_SPAN = f"{_TIME} *- *{_TIME}"
RULE = re.compile(f" *({_DAYS}(?: *, *{_DAYS})*) +(closed|{_SPAN}(?: *, *{_SPAN})*) *")


def _clock(text):
    hour, minute = int(text[:2]), int(text[3:])
    if minute >= 60 or hour > 24 or (hour == 24 and minute):
        raise ValueError(text)
    return hour * 60 + minute


class Hours:
    """Opening hours of a week that repeats."""

    def __init__(self, text):
        by_day = {day: () for day in range(7)}
        for rule in text.split(";"):
            match = RULE.fullmatch(rule)
            if match is None:
                raise ValueError(f"not a rule: {rule!r}")
            spans = []
            if match[2] != "closed":
                for part in match[2].replace(" ", "").split(","):
                    begin, end = map(_clock, part.split("-"))
                    if begin == DAY:
                        raise ValueError(part)
                    spans.append((begin, end - begin if end > begin else end - begin + DAY))
            for part in match[1].replace(" ", "").split(","):
                first, _, last = part.partition("-")
                day = NAMES.index(first)
                stop = NAMES.index(last or first)
                by_day[day] = tuple(spans)
                while day != stop:
                    day = (day + 1) % 7
                    by_day[day] = tuple(spans)
        self._spans = self._merge(
            [(day * DAY + begin, length) for day, spans in by_day.items() for begin, length in spans]
        )

    @staticmethod
    def _merge(spans):
        """Half-open pieces of [0, WEEK), apart from each other."""
        pieces = []
        for begin, length in spans:
            pieces.append((begin, begin + length))
        merged = []
        for begin, end in sorted(pieces):
            if merged and begin <= merged[-1][1]:
                merged[-1][1] = max(merged[-1][1], end)
            else:
                merged.append([begin, end])
        return merged

    def is_open(self, at):
        at %= WEEK
        return any(begin <= at < end or begin <= at + WEEK < end for begin, end in self._spans)

    def next_change(self, at):
        now = self.is_open(at)
        steps = {(edge - at - 1) % WEEK + 1 for piece in self._spans for edge in piece}
        for step in sorted(steps):
            if self.is_open(at + step) != now:
                return step
        return None

    def total(self):
        return sum(end - begin for begin, end in self._spans)
