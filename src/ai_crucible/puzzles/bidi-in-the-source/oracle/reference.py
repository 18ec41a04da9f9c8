"""Right answers by a way of their own, and the inputs that they are asked for."""

CODES = [0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0x2066, 0x2067, 0x2068, 0x2069]
NEAR = [0x2029, 0x202F, 0x2065, 0x206A, 0x200E, 0x200F, 0x061C, 0x2028, 0x85]


def found(text):
    seen, line, column = [], 1, 0
    for character in text:
        column += 1
        if character == "\n":
            line, column = line + 1, 0
        elif ord(character) in CODES:
            seen.append([line, column, "U+%04X" % ord(character)])
    return seen


def still_open(line):
    """Return whether something is open at the end: one level for each open isolate, counting embeddings within it."""
    levels = [0]
    for code in map(ord, line):
        if code in (0x202A, 0x202B, 0x202D, 0x202E):
            levels[-1] += 1
        elif code == 0x202C:
            levels[-1] = max(0, levels[-1] - 1)
        elif code in (0x2066, 0x2067, 0x2068):
            levels.append(0)
        elif code == 0x2069 and len(levels) > 1:
            levels.pop()
    return len(levels) > 1 or levels[0] > 0


def lines_open(text):
    return [number + 1 for number, line in enumerate(text.split("\n")) if still_open(line)]


def some(random, codes, most=10):
    return "".join(random.choice([chr(random.choice(codes)), chr(random.choice(codes)), "a", "\n", random.choice("b \r\u00e9\U0001F600")]) for _ in range(random.randint(0, most)))


ASCII = "".join(map(chr, range(127)))


def finding(random):
    yield {"args": [ASCII], "expect": []}
    for code in CODES:
        for text in (chr(code), f"a{chr(code)}", f"x\n\U0001F600{chr(code)}{chr(code)}\n"):
            yield {"args": [text], "expect": found(text)}
    for text in ("a\r\u202eb", "a\u2028\u202e", "a\x0b\u202e\x0c\u2066\x85\u2069", "a\r\n\u202a", "\n\n\u2067", "\ufeff\u202e", "\t\u202e\t\u2066", "e\u0301\u202a", "\u202a\n" * 3000, "\u2066" * 3000, "a\n" * 2500 + "\U0001F600" * 2500 + "\u202c", "\u202e" + "".join(f"{sign}a\u202d" for sign in "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029\r\t\0"), "\\u202e U+202E &#x202e; \u200e\u202b"):
        yield {"args": [text], "expect": found(text)}
    while True:
        text = some(random, CODES + NEAR[:4])
        yield {"args": [text], "expect": found(text)}


def opened(random):
    yield {"args": [ASCII], "expect": []}
    yield {"args": ["\u202a" + ASCII.replace("\n", "") + "\u202c\n\u2066" + ASCII.replace("\n", "") + "\u2069"], "expect": []}
    yield {"args": ["\u202ea\u202c\n\u2066a\n\u2066\u202a\u2069\n\u2066\u202c\u2069\n\u202a\u2066\u2069"], "expect": [2, 5]}
    for sign in "\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029\0\t":
        # What ends lines elsewhere ends none here.
        for text in (f"\u202a{sign}\u202c", f"\u2066{sign}\u2069", f"a\n\u202e{sign}a\n\u2067{sign}\u202c", f"\u202d{sign}\n\u202c", f"{sign}\u2068{sign}\n{sign}\u2069"):
            yield {"args": [text], "expect": lines_open(text)}
    for depth in (61, 62, 124, 125, 126, 127, 200, 1000, 3000):
        # As deep as it gets: none of them is one too many, and all are closed again, or all but one.
        for text in ("\u202a" * depth + "\u202c" * depth, "\u202e" * depth + "\u202c" * (depth - 1), "\u2066" * depth + "\u2069" * depth, "\u2067" * depth + "\u2069" * (depth - 1), "\u2068\u202b" * depth + "\u2069" * depth, "\u202a\u2066" * depth + "\u2069\u202c" * depth, "\u2066" + "\u202a" * depth + "\u2069", "\u202c" * depth + "\u202a", "\u2069" * depth + "\u2066\u2069", "\u202a" + "\u2069" * depth + "\u202c"):
            yield {"args": [text], "expect": lines_open(text)}
    for text in ("\u202a\n" * 3000, "\u202a\n\u202c" * 300, "\u2066", "\u202e\n", "\n\n\u202e", "\u202e\n\n"):
        yield {"args": [text], "expect": lines_open(text)}
    for one in CODES:
        for text in (chr(one), chr(one) + "\u202c", chr(one) + "\u2069", "\u202a" + chr(one) + "\u202c", "\u2066" + chr(one) + "\u2069", "\u2066" + chr(one) + "\u202c", f"\u2028{chr(one)}\r"):
            yield {"args": [text], "expect": lines_open(text)}
        for other in CODES:
            text = f"{chr(one)}{chr(other)}\u2069\u202c\n\u202a{chr(one)}{chr(other)}\u202c\u202c\n\u2067\u202b{chr(other)}{chr(one)}\u2069"
            yield {"args": [text], "expect": lines_open(text)}
    for one in "\u202a\u202b\u202d\u202e":
        for isolate in "\u2066\u2067\u2068":
            # U+202C below an open isolate, however deep, after it was closed, and beside an embedding of its own.
            for text in (f"{one}{isolate}\u202c\u2069", f"{one}a{isolate}\u202cb\u202c\u2069c", f"{one}{isolate}{isolate}\u202c\u2069\u202c\u2069"):
                yield {"args": [text], "expect": [1]}
            for text in (f"{one}{isolate}\u2069\u202c", f"{one}{isolate}{one}\u202c\u202c\u2069\u202c", f"{one}{isolate}\u202c\u2069\u202c"):
                yield {"args": ["a\n" + text], "expect": []}
    while True:
        text = some(random, CODES, 16)
        yield {"args": [text], "expect": lines_open(text)}


def plain(random):
    for text in ("", "plain\ntext", "\n", *(f"a{chr(code)}b" for code in NEAR)):
        yield {"args": [text], "expect": []}
    while True:
        yield {"args": ["".join(random.choice("ab \t\n\u00e9") for _ in range(random.randint(0, 9)))], "expect": []}
