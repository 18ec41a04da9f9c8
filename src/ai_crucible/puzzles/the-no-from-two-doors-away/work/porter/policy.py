"""A policy as it was read."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Group:
    """What a group names: users and groups that are in it, and that are not."""

    name: str
    line: int
    users: tuple = ()
    groups: tuple = ()
    not_users: tuple = ()
    not_groups: tuple = ()


@dataclass(frozen=True)
class Rule:
    """Who may, or may not, do an action at a path (its segments) and below."""

    line: int
    allows: bool
    subject: str
    action: str
    path: tuple
    final: bool = False


@dataclass(frozen=True)
class Policy:
    """Actions with those that each implies, groups by name, rules in their order."""

    actions: dict = field(default_factory=dict)
    groups: dict = field(default_factory=dict)
    rules: tuple = ()

    def named(self):
        """Return all users whose names stand somewhere."""
        found = {rule.subject for rule in self.rules if rule.subject[0] not in "@*"}
        for group in self.groups.values():
            found |= {*group.users, *group.not_users}
        return found
