"""When a shop is open."""

import re

DAYS = ("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su")
DAY = 24 * 60
WEEK = 7 * DAY

_NAME = "(?:" + "|".join(DAYS) + ")"
_SOME = f"{_NAME}(?: *- *{_NAME})?"
_CLOCK = "(?:[01][0-9]|2[0-3]):[0-5][0-9]"
_SPAN = f"{_CLOCK} *- *(?:{_CLOCK}|24:00)"
_RULE = re.compile(f" *({_SOME}(?: *, *{_SOME})*) +(closed|{_SPAN}(?: *, *{_SPAN})*) *")


class Hours:
    """Opening hours of a week that repeats."""

    def __init__(self, text):
        spans = {}
        for rule in text.split(";"):
            match = _RULE.fullmatch(rule)
            if match is None:
                raise ValueError(f"{rule!r} is no rule")
            for day in _days(match[1]):
                spans[day] = _spans(match[2]) or spans.get(day, [])
        self._open = _merged(
            (day * DAY + start, day * DAY + end) for day, own in spans.items() for start, end in own
        )

    def is_open(self, at):
        at %= WEEK
        return any(start <= at < end for start, end in self._open)

    def next_change(self, at):
        if self._open in ([], [(0, WEEK)]):
            return None
        at %= WEEK
        is_open = self.is_open(at)
        edges = {edge for span in self._open for edge in span}
        later = (edge + week for week in (0, WEEK) for edge in edges)
        return min(edge - at for edge in later if edge > at and self.is_open(edge) != is_open)

    def total(self):
        return sum(end - start for start, end in self._open)


def _days(text):
    for part in text.replace(" ", "").split(","):
        first, _, last = part.partition("-")
        start = DAYS.index(first)
        for count in range((DAYS.index(last or first) - start) % 7 + 1):
            yield (start + count) % 7


def _spans(text):
    if text == "closed":
        return []
    spans = []
    for part in text.replace(" ", "").split(","):
        start, end = (int(clock[:2]) * 60 + int(clock[3:]) for clock in part.split("-"))
        spans.append((start, end if end > start else end + DAY))
    return spans


def _merged(spans):
    """Spans within one week, in order, none of which touches another."""
    within = []
    for start, end in spans:
        within.append((start, min(end, WEEK)))
        if end > WEEK:
            within.append((0, end - WEEK))
    merged = []
    for start, end in sorted(within):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
