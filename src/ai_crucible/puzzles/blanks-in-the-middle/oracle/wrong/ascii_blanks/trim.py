def trim(text):
    return text.strip(" \t\n\r\f\v\u200c")


def sample(count):
    text = "-- play happy sound" + " " * count + "for player to happy"
    return len(trim(text))
