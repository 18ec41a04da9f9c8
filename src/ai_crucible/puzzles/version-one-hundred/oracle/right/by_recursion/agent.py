import re


def version(agent):
    for match in re.finditer(r"(\w+)/([\d.]*\d)", agent):
        if match[1].endswith(("Chrome", "Firefox", "Edg")):
            return tuple(int(n) for n in match[2].split("."))


def newer(a, b):
    (first, _, more), (other, _, rest) = a.partition("."), b.partition(".")
    if int(first) != int(other):
        return int(first) > int(other)
    return bool(more or rest) and newer(more or "0", rest or "0")
