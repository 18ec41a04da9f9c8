OPENING = "\u202a\u202b\u202d\u202e"
ISOLATES = "\u2066\u2067\u2068"
ALL = OPENING + ISOLATES + "\u202c\u2069"


def findings(text):
    return [
        [number, column, f"U+{ord(character):04X}"]
        for number, line in enumerate(text.splitlines(), 1)
        for column, character in enumerate(line, 1)
        if character in ALL
    ]


def is_open(line):
    stack = []
    for character in line:
        if character in OPENING + ISOLATES:
            stack.append(character)
        elif character == "\u202c" and stack and stack[-1] in OPENING:
            stack.pop()
        elif character == "\u2069" and set(stack) & set(ISOLATES):
            while stack.pop() not in ISOLATES:
                pass
    return bool(stack)


def unbalanced(text):
    return [number for number, line in enumerate(text.splitlines(), 1) if is_open(line)]
