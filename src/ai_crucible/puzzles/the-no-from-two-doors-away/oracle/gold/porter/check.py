"""Whether a policy can be used."""

from porter.errors import PolicyError
from porter.groups import circles


def check(policy):
    """Raise PolicyError where something is named that is not there, or a circle takes out."""
    for group in policy.groups.values():
        for name in (*group.groups, *group.not_groups):
            if name not in policy.groups:
                raise PolicyError(group.line, f"there is no group {name}")
    for rule in policy.rules:
        if rule.subject[0] == "@" and rule.subject[1:] not in policy.groups:
            raise PolicyError(rule.line, f"there is no group {rule.subject[1:]}")
    wrong = [policy.groups[name].line for circle in circles(policy) if _takes_out(policy, circle) for name in circle]
    if wrong:
        raise PolicyError(min(wrong), "a circle takes out what it brings in")


def _takes_out(policy, circle):
    inside = set(circle)
    return any(inside.intersection(policy.groups[name].not_groups) for name in circle)
