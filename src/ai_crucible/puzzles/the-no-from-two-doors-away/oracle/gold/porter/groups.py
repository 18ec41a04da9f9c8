"""Who is in which group, and how."""

FAR = float("inf")


def circles(policy):
    """Return the groups in lists: those of a circle together, and what others name before them."""
    order, back = _order(policy), {name: [] for name in policy.groups}
    for group in policy.groups.values():
        for each in (*group.groups, *group.not_groups):
            back[each].append(group.name)
    found, seen = [], set()
    for start in reversed(order):
        if start in seen:
            continue
        seen.add(start)
        circle = [start]
        for name in circle:
            for each in back[name]:
                if each not in seen:
                    seen.add(each)
                    circle.append(each)
        found.append(circle)
    return found[::-1]


def _order(policy):
    """Return the groups in the order in which a walk over what they name leaves them."""
    order, seen = [], set()
    for start in policy.groups:
        walk = [(start, False)]
        while walk:
            name, done = walk.pop()
            if done:
                order.append(name)
            elif name not in seen:
                seen.add(name)
                group = policy.groups[name]
                walk.append((name, True))
                walk += [(each, False) for each in (*group.groups, *group.not_groups)]
    return order


def memberships(policy):
    """Return the users of all groups, by name."""
    found = {name: frozenset() for name in policy.groups}
    for circle in circles(policy):
        changed = True
        while changed:
            changed = False
            for name in circle:
                now = _users(policy.groups[name], found)
                changed |= now != found[name]
                found[name] = now
            changed &= len(circle) > 1
    return found


def _users(group, found):
    brought = {*group.users}.union(*(found[each] for each in group.groups))
    return frozenset(brought.difference(group.not_users, *(found[each] for each in group.not_groups)))


def members(policy, name):
    """Return the users that are in a group."""
    return memberships(policy)[name]


def chain(policy, found, name, user):
    """Return the shortest chain, first by names, from a group that a user is in to one that names him."""
    if user not in found[name]:
        return ()
    before, level = {name: None}, [name]
    while level:
        for each in level:
            if user in policy.groups[each].users:
                return _back(before, each)
        below = []
        for each in level:
            for one in sorted(policy.groups[each].groups):
                if one not in before and user in found[one]:
                    before[one] = each
                    below.append(one)
        level = below
    return ()


def _back(before, name):
    names = []
    while name is not None:
        names.append(name)
        name = before[name]
    return tuple(reversed(names))


def distance(policy, found, subject, user):
    """Return how far a rule's subject is from a user; None where it does not mean him."""
    if subject == "*":
        return FAR
    if subject[0] == "@":
        return len(chain(policy, found, subject[1:], user)) or None
    return 0 if subject == user else None
