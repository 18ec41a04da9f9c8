def _blank(character):
    return character.isspace() or character == "\u200c"


def trim(text):
    start, end = 0, len(text)
    while start < end and _blank(text[start]):
        start += 1
    while end > start and _blank(text[end - 1]):
        end -= 1
    return text[start:end]


def sample(count):
    text = "-- play happy sound" + " " * count + "for player to happy"
    return len(trim(text))
