"""Which rule decides."""

from dataclasses import dataclass

from porter.actions import about
from porter.groups import chain, distance
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
    rule = deciding(policy, user, action, segments(path))
    if rule is None:
        return Reason(False)
    through = chain(policy, rule.subject[1:], user) if rule.subject[0] == "@" else ()
    return Reason(rule.allows, rule.line, through)


def deciding(policy, user, action, path):
    """Return the rule that decides, or None."""
    found = [
        rule
        for rule in policy.rules
        if about(policy, rule, action) and covers(rule.path, path) and distance(policy, rule.subject, user) is not None
    ]
    return min(found, key=lambda rule: rank(policy, rule, user), default=None)


def rank(policy, rule, user):
    """Return what rules are compared by: the least one decides."""
    near = distance(policy, rule.subject, user)
    return (not rule.final, -len(rule.path), -literal(rule.path), near, rule.allows, rule.line)
