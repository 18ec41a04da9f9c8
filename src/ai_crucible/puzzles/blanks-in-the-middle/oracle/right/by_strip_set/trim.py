def trim(text):
    blanks = {character for character in text if character.isspace()} | {"\u200c"}
    return text.strip("".join(blanks))


def sample(count):
    text = "-- play happy sound" + " " * count + "for player to happy"
    return len(trim(text))
