import re
from itertools import zip_longest


def version(agent):
    match = re.search(r"(?:Chrome|Firefox|Edg)/([0-9.]+)", agent)
    return tuple(map(int, match[1].split("."))) if match else None


def newer(a, b):
    for left, right in zip_longest(a.split("."), b.split("."), fillvalue="0"):
        if int(left) != int(right):
            return int(left) > int(right)
    return True
