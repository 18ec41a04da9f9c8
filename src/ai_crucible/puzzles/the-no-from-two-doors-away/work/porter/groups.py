"""Who is in which group, and how."""

FAR = float("inf")


def members(policy, name):
    """Return the users that are in a group."""
    group = policy.groups[name]
    found = set(group.users)
    for each in group.not_groups:
        found -= members(policy, each)
    for each in group.groups:
        found |= members(policy, each)
    return frozenset(found - set(group.not_users))


def chain(policy, name, user):
    """Return groups, each named by the one before it, down to one that names a user."""
    group = policy.groups[name]
    if user in group.users:
        return (name,)
    for each in group.groups:
        if user in members(policy, each):
            return (name, *chain(policy, each, user))
    return ()


def distance(policy, subject, user):
    """Return how far a rule's subject is from a user; None where it does not mean him."""
    if subject == "*":
        return FAR
    if subject == user:
        return 0
    if subject[0] == "@" and user in members(policy, subject[1:]):
        return 1
    return None
