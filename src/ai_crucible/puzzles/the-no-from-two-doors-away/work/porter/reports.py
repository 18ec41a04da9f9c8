"""What a policy comes to."""

from porter.decide import why
from porter.groups import members


def who(policy, action, path):
    """Return the users who may do an action at a path, and whether others may."""
    users = sorted(user for user in policy.named() if why(policy, user, action, path).allowed)
    others = any(rule.subject == "*" and rule.allows for rule in policy.rules)
    return users, others


def idle(policy):
    """Return the lines of the rules that do nothing."""
    return [rule.line for rule in policy.rules if rule.subject[0] == "@" and not members(policy, rule.subject[1:])]
