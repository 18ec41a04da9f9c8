"""Who may do what, and why."""

from porter.decide import Reason, why
from porter.errors import PolicyError
from porter.groups import members
from porter.policy import Group, Policy, Rule
from porter.reports import idle, who
from porter.text import read_policy

__all__ = ["Group", "Policy", "PolicyError", "Reason", "Rule", "idle", "members", "read_policy", "who", "why"]
