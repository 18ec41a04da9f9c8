import re
from itertools import zip_longest


def version(agent):
    match = re.search(r"(?:Chrome|Firefox|Edg)/(\d+(?:\.\d+)*)", agent)
    return tuple(int(part) for part in match[1].split(".")) if match else None


def newer(a, b):
    pairs = zip_longest(a.split("."), b.split("."), fillvalue="0")
    for left, right in pairs:
        if int(left) != int(right):
            return int(left) > int(right)
    return False
