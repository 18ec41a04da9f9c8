"""What a policy comes to."""

from porter.decide import deciding, why
from porter.groups import memberships

NOBODY = "/"
"""No user's name, and no segment of a path."""


def who(policy, action, path):
    """Return the users who may do an action at a path, and whether others may."""
    users = sorted(user for user in policy.named() if why(policy, user, action, path).allowed)
    return users, why(policy, NOBODY, action, path).allowed


def idle(policy):
    """Return the lines of the rules that do nothing.

    Whatever covers a rule's own path, with a name of its own for each star, covers all paths that the rule covers: if
    the rule decides anywhere, it decides there.
    """
    found, users = memberships(policy), [*policy.named(), NOBODY]
    idle = []
    for rule in policy.rules:
        path = tuple(NOBODY if segment == "*" else segment for segment in rule.path)
        decided = (deciding(policy, found, user, action, path) for user in users for action in policy.actions)
        if not any(each is rule for each in decided):
            idle.append(rule.line)
    return idle
