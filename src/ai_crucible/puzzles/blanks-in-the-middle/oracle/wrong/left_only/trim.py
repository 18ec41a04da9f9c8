import re

_START = re.compile(r"[\s\u200c]*")


def trim(text):
    return text[_START.match(text).end() :]


def sample(count):
    text = "-- play happy sound" + " " * count + "for player to happy"
    return len(trim(text))
