"""Orders of things that come from two lists."""


def ordered(first, other):
    """Return what is in two lists, that of the second behind what comes before it there."""
    known, behind = set(first), {}
    before = None
    for each in other:
        if each in known:
            before = each
        else:
            behind.setdefault(before, []).append(each)
    found = list(behind.get(None, []))
    for each in first:
        found.append(each)
        found += behind.get(each, [])
    return found


def arranged(base, ours, theirs):
    """Return the order of three lists of items, and whether there is a conflict."""
    common = set(base) & set(ours) & set(theirs)
    was, own, other = ([each for each in order if each in common] for order in (base, ours, theirs))
    if own == was and other != was:
        return ordered(theirs, ours), False
    return ordered(ours, theirs), was not in (own, other) and own != other
