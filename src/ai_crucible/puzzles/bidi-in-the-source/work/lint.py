def findings(text):
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        for column, character in enumerate(line):
            if character in "\u202d\u202e":
                found.append([number, column, f"U+{ord(character):04X}"])
    return found


def unbalanced(text):
    return [n for n, line in enumerate(text.splitlines(), 1) if "\u202e" in line]
