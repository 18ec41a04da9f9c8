import re


def version(agent):
    match = re.search(r"(?:Chrome|Firefox|Edg)/(\d{1,2})", agent)
    return (int(match[1]),) if match else None


def newer(a, b):
    return a > b
