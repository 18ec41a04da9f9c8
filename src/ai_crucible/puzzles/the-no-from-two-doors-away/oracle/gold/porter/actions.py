"""Which actions a rule is about."""


def implied(policy, action):
    """Return an action and those that it implies, through others too."""
    found = [action]
    for each in found:
        found += [one for one in policy.actions[each] if one not in found]
    return found


def about(policy, rule, action):
    """Tell whether a rule is about an action: an allow gives what it implies, a deny takes what implies it."""
    if rule.allows:
        return action in implied(policy, rule.action)
    return rule.action in implied(policy, action)
