"""Orders of things that come from two lists."""


def ordered(first, other):
    """Return what is in two lists, that of the second behind what comes before it there."""
    found = list(first)
    for at, each in enumerate(other):
        if each not in found:
            found.insert(found.index(other[at - 1]) + 1 if at else 0, each)
    return found
