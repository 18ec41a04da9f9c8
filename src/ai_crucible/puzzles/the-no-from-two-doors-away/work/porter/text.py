"""Policies as text."""

import re

from porter.check import check
from porter.errors import PolicyError
from porter.paths import segments
from porter.policy import Group, Policy, Rule

NAME = re.compile(r"[A-Za-z0-9_.]+")


def read_policy(text):
    """Return the policy of a text."""
    policy, rules = Policy(), []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        try:
            if words[0] == "action":
                _action(policy, words[1:])
            elif words[0] == "group":
                _group(policy, words[1:], number)
            else:
                rules.append(_rule(policy, words, number))
        except ValueError as fault:
            raise PolicyError(number, str(fault)) from None
    policy = Policy(policy.actions, policy.groups, tuple(rules))
    check(policy)
    return policy


def _action(policy, words):
    name, *others = words or [""]
    if not NAME.fullmatch(name) or name in policy.actions:
        raise ValueError(f"{name!r} is no new action")
    if others and (others.pop(0) != "implies" or not others):
        raise ValueError("an action implies others")
    if unknown := [each for each in others if each not in policy.actions]:
        raise ValueError(f"there is no action {unknown[0]} yet")
    policy.actions[name] = tuple(others)


def _group(policy, words, number):
    name, *others = words or [""]
    if not NAME.fullmatch(name) or name in policy.groups:
        raise ValueError(f"{name!r} is no new group")
    kinds = {"": [], "@": [], "-": [], "-@": []}
    for word in others:
        match = re.fullmatch(r"(-?@?)([A-Za-z0-9_.]+)", word)
        if match is None:
            raise ValueError(f"{word!r} is neither a user nor a group")
        kinds[match[1]].append(match[2])
    policy.groups[name] = Group(name, number, *map(tuple, kinds.values()))


def _rule(policy, words, number):
    final = words[0] == "final"
    words = words[final:]
    if len(words) != 4 or words[0] not in ("allow", "deny"):
        raise ValueError("this is neither an action, a group nor a rule")
    way, subject, action, path = words
    if subject != "*" and not NAME.fullmatch(subject.removeprefix("@")):
        raise ValueError(f"{subject!r} is no user and no group")
    if action not in policy.actions:
        raise ValueError(f"there is no action {action} yet")
    return Rule(number, way == "allow", subject, action, segments(path, stars=True), final)
