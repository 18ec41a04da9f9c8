"""The order of siblings."""


def merged_order(base, ours, theirs, here):
    """Return the ids that ended up below a parent in their order, and whether the sides disagree about it.

    The first three are the lists that the trees have there, the last one says which ids ended up there.
    """
    common = {*base} & {*ours} & {*theirs}
    before, mine, yours = ([name for name in side if name in common] for side in (base, ours, theirs))
    leading, other = (theirs, ours) if mine == before else (ours, theirs)
    order = [name for name in leading if name in here]
    placed, last = set(order), -1
    for name in other:
        if name in placed:
            last = order.index(name)
        elif name in here:
            last += 1
            order.insert(last, name)
    return order, mine != before and yours not in (before, mine)
