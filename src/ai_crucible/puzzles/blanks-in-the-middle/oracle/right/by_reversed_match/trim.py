import re

_RUN = re.compile(r"[\s\u200c]*")


def trim(text):
    head = _RUN.match(text).end()
    tail = _RUN.match(text[::-1]).end()
    return text[head : max(head, len(text) - tail)]


def sample(count):
    text = "-- play happy sound" + " " * count + "for player to happy"
    return len(trim(text))
