OPENING = "\u202a\u202b\u202d\u202e"
ISOLATES = "\u2066\u2067\u2068"
ALL = OPENING + ISOLATES + "\u202c\u2069"


def findings(text):
    return [
        [number, column, f"U+{ord(character):04X}"]
        for number, line in enumerate(text.split("\n"), 1)
        for column, character in enumerate(line, 1)
        if character in ALL
    ]


def _open(line):
    stack = []
    for character in line:
        if character in OPENING or character in ISOLATES:
            stack.append(character in ISOLATES)
        elif character == "\u202c" and stack and not stack[-1]:
            stack.pop()
        elif character == "\u2069" and True in stack:
            while not stack.pop():
                pass
    return bool(stack)


def unbalanced(text):
    return [number for number, line in enumerate(text.split("\n"), 1) if _open(line)]
