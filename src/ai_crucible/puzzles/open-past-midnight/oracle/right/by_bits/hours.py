"""Opening hours as one bit a minute of the week."""

import re

NAMES = ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"]
WEEK = 10080
ALL = (1 << WEEK) - 1


def turned(bits, by):
    """The week as it looks from so many minutes later."""
    return (bits >> by | bits << (WEEK - by)) & ALL


class Hours:
    def __init__(self, text):
        own = dict.fromkeys(range(7), 0)
        for rule in text.split(";"):
            days, times = re.fullmatch(r" *([A-Za-z ,-]*[A-Za-z]) +(closed|[0-9][0-9:, -]*) *", rule).groups() if re.fullmatch(r" *([A-Za-z ,-]*[A-Za-z]) +(closed|[0-9][0-9:, -]*) *", rule) else ("", "")
            bits = 0
            if times != "closed":
                for span in times.strip(" ").split(","):
                    match = re.fullmatch(r" *([0-9]{2}):([0-9]{2}) *- *([0-9]{2}):([0-9]{2}) *", span)
                    if not match:
                        raise ValueError(span)
                    a, b, c, d = map(int, match.groups())
                    if a > 23 or b > 59 or d > 59 or c * 60 + d > 1440:
                        raise ValueError(span)
                    start, end = a * 60 + b, c * 60 + d
                    end += 1440 * (end <= start)
                    bits |= (1 << end) - (1 << start)
            for part in days.split(","):
                match = re.fullmatch(" *([A-Z][a-z])( *- *([A-Z][a-z]))? *", part)
                if not match or match[1] not in NAMES or (match[3] or "Mo") not in NAMES:
                    raise ValueError(part)
                first = NAMES.index(match[1])
                last = NAMES.index(match[3]) if match[3] else first
                last += 7 * (last < first)
                for day in range(first, last + 1):
                    own[day % 7] = bits
        whole = 0
        for day, bits in own.items():
            whole |= bits << day * 1440
        self.bits = whole & ALL | whole >> WEEK

    def is_open(self, at):
        return bool(self.bits >> at % WEEK & 1)

    def next_change(self, at):
        bits = turned(self.bits, at % WEEK)
        if bits & 1:
            bits ^= ALL
        return (bits & -bits).bit_length() - 1 if bits else None

    def total(self):
        return bin(self.bits).count("1")
