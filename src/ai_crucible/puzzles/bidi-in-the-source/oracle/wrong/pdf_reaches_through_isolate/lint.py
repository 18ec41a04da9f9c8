CONTROLS = set(range(0x202A, 0x202F)) | set(range(0x2066, 0x206A))
EMBEDDINGS = "\u202a\u202b\u202d\u202e"
ISOLATES = "\u2066\u2067\u2068"


def findings(text):
    return [
        [number, column, f"U+{ord(character):04X}"]
        for number, line in enumerate(text.split("\n"), 1)
        for column, character in enumerate(line, 1)
        if ord(character) in CONTROLS
    ]


def _open(line):
    stack = []
    for character in line:
        if character in EMBEDDINGS or character in ISOLATES:
            stack.append(character)
        elif character == "\u202c":
            for place in range(len(stack) - 1, -1, -1):
                if stack[place] in EMBEDDINGS:
                    del stack[place]
                    break
        elif character == "\u2069":
            for place in range(len(stack) - 1, -1, -1):
                if stack[place] in ISOLATES:
                    del stack[place:]
                    break
    return stack


def unbalanced(text):
    return [number for number, line in enumerate(text.split("\n"), 1) if _open(line)]
