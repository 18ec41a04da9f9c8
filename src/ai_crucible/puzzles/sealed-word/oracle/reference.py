"""Right answers by a way of their own, and the inputs that they are asked for."""

SOURCE = "def word():\n    return %r\n"


def draw(random):
    word = "".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=20))
    wrong = [word[::-1], word[:-1], word + "a", word.upper(), "", list(word)]
    return {
        "word": word,
        "gold": {"word.py": SOURCE % word},
        **{f"wrong/{number}": {"word.py": SOURCE % other} for number, other in enumerate(wrong)},
        "right/joined": {"word.py": f"def word():\n    return ''.join({list(word)!r})\n"},
        "right/turned": {"word.py": f"WORD = {word[::-1]!r}\n\n\ndef word():\n    return WORD[::-1]\n"},
        "right/by_default": {"word.py": f"def word(its={word!r}):\n    return its\n"},
    }


def sealed(random, drawn):
    while True:
        yield {"expect": drawn["word"]}
