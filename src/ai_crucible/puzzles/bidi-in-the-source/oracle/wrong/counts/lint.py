ALL = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def findings(text):
    return [[n, c, f"U+{ord(x):04X}"] for n, line in enumerate(text.split("\n"), 1) for c, x in enumerate(line, 1) if x in ALL]


def unbalanced(text):
    return [
        n
        for n, line in enumerate(text.split("\n"), 1)
        if sum(x in "\u202a\u202b\u202d\u202e" for x in line) > line.count("\u202c")
        or sum(x in "\u2066\u2067\u2068" for x in line) > line.count("\u2069")
    ]
