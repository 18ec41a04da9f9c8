import re

BROWSER = re.compile(r"(?:Chrome|Firefox|Edg)/(\d+(?:\.\d+)*)")


def numbers(text):
    return [int(part) for part in text.split(".")]


def version(agent):
    found = BROWSER.search(agent)
    return None if found is None else tuple(numbers(found.group(1)))


def newer(a, b):
    left, right = numbers(a), numbers(b)
    size = max(len(left), len(right))
    return left + [0] * (size - len(left)) > right + [0] * (size - len(right))
