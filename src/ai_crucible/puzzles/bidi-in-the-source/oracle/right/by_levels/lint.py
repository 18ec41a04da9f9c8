EMBEDDINGS = {0x202A, 0x202B, 0x202D, 0x202E}
ISOLATES = {0x2066, 0x2067, 0x2068}
POP, POP_ISOLATE = 0x202C, 0x2069


def findings(text):
    result, line, start = [], 1, 0
    for place, character in enumerate(text):
        code = ord(character)
        if character == "\n":
            line, start = line + 1, place + 1
        elif code in EMBEDDINGS | ISOLATES | {POP, POP_ISOLATE}:
            result.append([line, place - start + 1, f"U+{code:X}"])
    return result


def unbalanced(text):
    result = []
    for number, line in enumerate(text.split("\n")):
        outer, inner = [], 0
        for code in map(ord, line):
            if code in EMBEDDINGS:
                inner += 1
            elif code == POP and inner:
                inner -= 1
            elif code in ISOLATES:
                outer.append(inner)
                inner = 0
            elif code == POP_ISOLATE and outer:
                inner = outer.pop()
        if outer or inner:
            result.append(number + 1)
    return result
