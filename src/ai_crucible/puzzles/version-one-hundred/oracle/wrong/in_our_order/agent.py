import re
from itertools import zip_longest


def version(agent):
    for name in ("Chrome", "Firefox", "Edg"):
        match = re.search(name + r"/([0-9.]+)", agent)
        if match:
            return tuple(map(int, match[1].split(".")))
    return None


def newer(a, b):
    for left, right in zip_longest(a.split("."), b.split("."), fillvalue="0"):
        if int(left) != int(right):
            return int(left) > int(right)
    return False
