"""Whether a policy can be used."""

from porter.errors import PolicyError


def check(policy):
    """Raise PolicyError where something is named that is not there."""
    for group in policy.groups.values():
        for name in (*group.groups, *group.not_groups):
            if name not in policy.groups:
                raise PolicyError(group.line, f"there is no group {name}")
    for rule in policy.rules:
        if rule.subject[0] == "@" and rule.subject[1:] not in policy.groups:
            raise PolicyError(rule.line, f"there is no group {rule.subject[1:]}")
