def trim(text):
    while text != text.strip().strip("\u200c"):
        text = text.strip().strip("\u200c")
    return text


def sample(count):
    text = "-- play happy sound" + " " * count + "for player to happy"
    return len(trim(text))
