"""Right answers by a way of their own, and the inputs that they are asked for."""

import re

BLANKS = {chr(n) for n in range(0x3001) if re.match(r"\s", chr(n))} | {"\u200c"}
OTHERS = ["a", "b", "\u200b", "\u200d", "\ufeff", "\u180e", "-", "é", "_", "\u2060", "\0", "\x08", "\x1b", "\x7f", "\u00ad", "\u2063", "\u200e", "\u2800", "\u3164", "\u115f", "\\", "\U000e0020", "\u0300", ".", "0"]


def known(text):
    start = 0
    while start < len(text) and text[start] in BLANKS:
        start += 1
    end = len(text)
    while end > start and text[end - 1] in BLANKS:
        end -= 1
    return text[start:end]


def results(random):
    for text in ("", " ", "\u200c\u200c", " x\t\n", "a\u200cb", "a", " \u200c a \u200c ", "\u200c\na b\n\u200c", "x\n", "\nx"):
        yield {"args": [text], "expect": known(text)}
    for blank in sorted(BLANKS):
        yield {"args": [f"{blank}a{blank}b{blank}"], "expect": f"a{blank}b"}
    for other in OTHERS:
        yield {"args": [f" {other} "], "expect": other}
    while True:
        text = "".join(random.choice([random.choice(sorted(BLANKS)), random.choice(sorted(BLANKS)), " ", random.choice(OTHERS)]) for _ in range(random.randint(0, 14)))
        yield {"args": [text], "expect": known(text)}


def lengths(random):
    many = 600_000
    for parts in (
        [["a", 1], [" ", many], ["b", 1]],
        [["a", 1], [" ", many]],
        [[" ", many], ["a", 1]],
        [["a", 1], ["\u200c ", many // 2]],
        [["\u200c ", many // 2], ["b", 1]],
        [["\n", many], ["x", 1], ["\u200c", many]],
        [[" ", many]],
        [["a ", many // 2], ["b", 1]],
        [["a" + " " * 700, many // 700]],
        [["a" + "\u200c " * 5000, many // 10_000], ["b", 1]],
        [[" ", many // 2], ["\u200c", many // 2], ["b", 1], ["\u200c", many // 2], [" ", many // 2]],
        [["\u200c", 1], [" \u200c\t\n\u3000", many // 5], ["b", 1], [" a", 3], [" \u200c\t\n\u3000", many // 5]],
        [["\u200c", many]],
        [["\u200c\n", many // 2]],
        [["a", many]],
        [[" a", 2], ["\u200b", many], [" ", 3]],
    ):
        left = known("".join(piece * times for piece, times in parts))
        yield {"args": [parts], "expect": [len(left), left[:3], left[-3:]]}
