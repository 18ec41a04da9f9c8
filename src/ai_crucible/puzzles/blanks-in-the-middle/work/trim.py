import re

_ENDS = re.compile(r"^[\s\u200c]+|[\s\u200c]+$")


def trim(text):
    return _ENDS.sub("", text)


def sample(count):
    text = "-- play happy sound" + " " * count + "for player to happy"
    return len(trim(text))
