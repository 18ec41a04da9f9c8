"""The order of siblings."""


def merged_order(ours, theirs):
    """Return the ids of one list, and those that only another one has behind what stands before them there."""
    order = list(ours)
    for at, name in enumerate(theirs):
        if name not in order:
            before = [other for other in theirs[:at] if other in order]
            order.insert(order.index(before[-1]) + 1 if before else len(order), name)
    return order
