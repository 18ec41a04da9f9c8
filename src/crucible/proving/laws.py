"""Laws that a change breaks and that stand without words: what Python promises, and a package of its own errors.

A law counts only where no meant change breaks it. Laws that drawn inputs keep are none: a format, a refusal or an order
may be meant to change for some inputs, and they would be kept by all others.
"""

from __future__ import annotations

import ast
from itertools import dropwhile, takewhile

from crucible.proving.change import ProvenChange, functions, parsed
from crucible.proving.checking import words
from crucible.proving.records import FailedTest

#: Errors that no line means which meets them: of a name that is not there; of what is written, not of what is given.
_UNBOUND, _SLIPS = ("NameError", "UnboundLocalError"), ("TypeError", "AttributeError")
_HOLDING = (ast.stmt, ast.excepthandler)


def broken_law(change: ProvenChange, failure: FailedTest, head: set[str], base: set[str]) -> str:
    """Return the law that a failure breaks, as a sentence; empty for none.

    Args:
        change: the change.
        failure: of the witness on the head.
        head: what its test says of laws there; see :class:`~crucible.proving.records.TestRun`.
        base: likewise on the base, where it passes.
    """
    told, (path, line, _) = words().laws, parsed(failure.at)
    broken = sorted((head - base) & {*told})
    if "slip" in head:
        errors = base & {f"error {name}" for name in _ahead(change.text(path), line)}
        broken = [*sorted(errors if failure.type in _SLIPS else ()), *broken]
        broken = ["unbound"] if failure.type in _UNBOUND else broken
    elif failure.kind == "raised":  # on purpose, as what reads a pickle may refuse it
        return ""
    law, _, error = next(iter(broken), "").partition(" ")
    return told[law].format(error=error, type=failure.type) if law else ""


def _ahead(text: str, line: int) -> set[str]:
    """Return what a text calls from a line straight on: until it raises, or its block turns or ends."""
    nodes = [node for one in functions(text).values() for node in ast.walk(one)]
    holding = [(one, name) for one in nodes if isinstance(one, _HOLDING) for name in ("body", "orelse", "finalbody")]
    ahead = (_straight([*getattr(one, name, ())], line) for one, name in holding)
    return next((_called(rest) for rest in ahead if rest and rest[0].lineno <= line), set[str]())


def _straight(block: list[ast.stmt], line: int) -> list[ast.stmt]:
    below = dropwhile(lambda one: (one.end_lineno or 0) < line, block)
    return [*takewhile(lambda one: isinstance(one, ast.Assign | ast.Expr | ast.Raise), below)]


def _called(rest: list[ast.stmt]) -> set[str]:
    end = next((at for at, one in enumerate(rest, 1) if isinstance(one, ast.Raise)), len(rest))
    calls = [one.func for part in rest[:end] for one in ast.walk(part) if isinstance(one, ast.Call)]
    return {ast.unparse(one).rpartition(".")[2] for one in calls}
