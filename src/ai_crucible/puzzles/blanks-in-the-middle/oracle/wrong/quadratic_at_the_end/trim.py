import re


def trim(text):
    text = re.sub(r"\A[\s\u200c]+", "", text)
    return re.sub(r"[\s\u200c]+\Z", "", text)


def sample(count):
    text = "-- play happy sound" + " " * count + "for player to happy"
    return len(trim(text))
