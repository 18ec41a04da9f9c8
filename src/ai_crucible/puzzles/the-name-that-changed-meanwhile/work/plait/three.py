"""The rule of three."""


def settle(base, ours, theirs):
    """Return what becomes of a thing, and whether there is a conflict."""
    if ours == theirs or theirs == base:
        return ours, False
    return (theirs, False) if ours == base else (ours, True)
