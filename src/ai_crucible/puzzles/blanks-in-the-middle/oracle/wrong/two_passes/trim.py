def trim(text):
    return text.strip().strip("\u200c").strip()


def sample(count):
    text = "-- play happy sound" + " " * count + "for player to happy"
    return len(trim(text))
