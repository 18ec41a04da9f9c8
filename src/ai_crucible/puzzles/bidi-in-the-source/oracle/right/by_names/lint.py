import unicodedata

KINDS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def kind(character):
    name = unicodedata.bidirectional(character)
    return name if name in KINDS else ""


def findings(text):
    rows = text.split("\n")
    return [[r + 1, c + 1, f"U+{ord(x):04X}"] for r in range(len(rows)) for c, x in enumerate(rows[r]) if kind(x)]


def unbalanced(text):
    return [n for n, row in enumerate(text.split("\n"), 1) if depth([kind(x) for x in row])]


def depth(kinds):
    stack = []
    for one in kinds:
        if one in ("LRE", "RLE", "LRO", "RLO"):
            stack.append(False)
        elif one in ("LRI", "RLI", "FSI"):
            stack.append(True)
        elif one == "PDF" and stack and not stack[-1]:
            del stack[-1]
        elif one == "PDI" and True in stack:
            last = len(stack) - 1 - stack[::-1].index(True)
            del stack[last:]
    return len(stack)
