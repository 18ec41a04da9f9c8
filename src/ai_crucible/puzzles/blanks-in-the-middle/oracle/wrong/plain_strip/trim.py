def trim(text):
    return text.strip()


def sample(count):
    text = "-- play happy sound" + " " * count + "for player to happy"
    return len(trim(text))
