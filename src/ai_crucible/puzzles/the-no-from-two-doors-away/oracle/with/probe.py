"""Asks the porter of a solution what the checks compare."""

import contextlib
import io
import os
import tempfile

from porter import PolicyError, Reason, idle, members, read_policy, who, why
from porter.__main__ import main


def grouped(text, names):
    """The users of groups, or the line of a fault."""
    try:
        policy = read_policy(text)
    except PolicyError as fault:
        return ["fault", fault.line, str(fault) == f"line {fault.line}: {fault.reason}"]
    return [sorted(members(policy, name)) for name in names]


def decided(text, asked):
    """The reasons for what is asked."""
    policy = read_policy(text)
    reasons = [why(policy, *one) for one in asked]
    assert {*reasons}, "reasons are values"
    return [[reason.allowed, reason.line, list(reason.chain)] for reason in reasons]


def allowed(text, asked):
    """Who may do what, for each action and path."""
    policy = read_policy(text)
    return [list(who(policy, *one)) for one in asked]


def unused(text):
    return idle(read_policy(text))


def deep(count, back):
    """The chain through many groups; those of the last name the first where they go back."""
    lines = ["action a", *(f"group g{n} @g{n + 1}" for n in range(count)), f"group g{count} u" + (" @g0" if back else "")]
    policy = read_policy("\n".join([*lines, "allow @g0 a /"]))
    reason = why(policy, "u", "a", "/")
    return [reason.allowed, reason.line, len(reason.chain), list(reason.chain[-2:]), sorted(members(policy, "g1"))]


def wide(count):
    """The chain through groups each of which names both of the next ones."""
    lines = ["action a"]
    for n in range(count):
        lines += [f"group x{n} @y{n + 1} @x{n + 1}", f"group y{n} @x{n + 1} @y{n + 1}"]
    policy = read_policy("\n".join([*lines, f"group x{count} u", f"group y{count} u", "allow @y0 a /"]))
    return [list(why(policy, "u", "a", "/x").chain), idle(policy)]


def read(text):
    """A policy as plain values, or the line of its fault."""
    try:
        policy = read_policy(text)
    except PolicyError as fault:
        return ["fault", fault.line]
    groups = [[g.name, g.line, g.users, g.groups, g.not_users, g.not_groups] for g in policy.groups.values()]
    rules = [[r.line, r.allows, r.subject, r.action, r.path, r.final] for r in policy.rules]
    return [policy.actions, groups, rules, sorted(policy.named())]


def refused(text, user, action, path):
    """Whether a question is a ValueError, and none that a policy could raise."""
    try:
        return why(read_policy(text), user, action, path) == Reason(False)
    except ValueError as fault:
        return type(fault).__name__


def printed(text, *words):
    """Exit and output of the command line."""
    with tempfile.TemporaryDirectory() as room:
        path = os.path.join(room, "p")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            code = main([path, *words])
    return [code, out.getvalue()]
