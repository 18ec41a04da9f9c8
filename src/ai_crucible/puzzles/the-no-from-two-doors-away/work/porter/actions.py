"""Which actions a rule is about."""


def implied(policy, action):
    """Return an action and those that it implies."""
    return {action, *policy.actions[action]}


def about(policy, rule, action):
    """Tell whether a rule is about an action."""
    return action in implied(policy, rule.action)
