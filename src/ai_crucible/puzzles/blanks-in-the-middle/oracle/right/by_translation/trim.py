def trim(text):
    plain = text.replace("\u200c", " ")
    start = len(plain) - len(plain.lstrip())
    return text[start : max(start, len(plain.rstrip()))]


def sample(count):
    text = "-- play happy sound" + " " * count + "for player to happy"
    return len(trim(text))
