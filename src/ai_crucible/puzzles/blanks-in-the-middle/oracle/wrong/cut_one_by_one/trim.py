def trim(text):
    while text and (text[0].isspace() or text[0] == "\u200c"):
        text = text[1:]
    while text and (text[-1].isspace() or text[-1] == "\u200c"):
        text = text[:-1]
    return text


def sample(count):
    text = "-- play happy sound" + " " * count + "for player to happy"
    return len(trim(text))
