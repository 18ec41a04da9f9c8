def trim(text):
    blanks = "".join(set(c for c in text if c.isspace())) + "\u200c\u200b\u200d\ufeff"
    return text.strip(blanks)


def sample(count):
    text = "-- play happy sound" + " " * count + "for player to happy"
    return len(trim(text))
