"""Which rule decides."""

from dataclasses import dataclass

from porter.actions import about
from porter.groups import chain, distance, memberships
from porter.paths import covers, literal, segments


@dataclass(frozen=True)
class Reason:
    """An answer, the line of the rule that gave it, and the groups by which it is about the user."""

    allowed: bool
    line: int = 0
    chain: tuple = ()


def why(policy, user, action, path):
    """Return whether a user may do an action at a path, and why."""
    if action not in policy.actions:
        raise ValueError(f"there is no action {action}")
    found = memberships(policy)
    rule = deciding(policy, found, user, action, segments(path))
    if rule is None:
        return Reason(False)
    through = chain(policy, found, rule.subject[1:], user) if rule.subject[0] == "@" else ()
    return Reason(rule.allows, rule.line, through)


def deciding(policy, found, user, action, path):
    """Return the rule that decides, or None."""
    ranks = {}
    for rule in policy.rules:
        if covers(rule.path, path) and about(policy, rule, action):
            near = distance(policy, found, rule.subject, user)
            if near is not None:
                ranks[rank(rule, near)] = rule
    return ranks[min(ranks)] if ranks else None


def rank(rule, near):
    """Return what rules are compared by: the least one decides."""
    length = len(rule.path) if rule.final else -len(rule.path)
    return (not rule.final, length, literal(rule.path), near, rule.allows, rule.line)
