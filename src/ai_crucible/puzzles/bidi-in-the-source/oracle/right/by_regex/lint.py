import re

BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")


def findings(text):
    found = []
    for number, line in enumerate(text.split("\n"), start=1):
        for match in BIDI.finditer(line):
            found.append([number, match.start() + 1, "U+%X" % ord(match.group())])
    return found


def unbalanced(text):
    numbers = []
    for number, line in enumerate(text.split("\n"), start=1):
        marks = "".join(BIDI.findall(line))
        while True:
            less = re.sub("[\u2066-\u2068][\u202a-\u202e]*\u2069|[\u202a\u202b\u202d\u202e]\u202c", "", marks)
            if less == marks:
                break
            marks = less
        marks = re.sub("^[\u202c\u2069]+", "", marks)
        numbers += [number] if left_open(marks) else []
    return numbers


def left_open(marks):
    stack = ""
    for mark in marks:
        if mark == "\u2069":
            isolates = [place for place, one in enumerate(stack) if one == "i"]
            stack = stack[: isolates[-1]] if isolates else stack
        elif mark == "\u202c":
            stack = stack[:-1] if stack.endswith("e") else stack
        else:
            stack += "i" if mark >= "\u2066" else "e"
    return stack != ""
