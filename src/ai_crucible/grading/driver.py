"""Runs in a box without the oracle: calls functions of a work copy and prints what they return, as Python literals.

It reads ``{"module", "function", "cases": [[args, kwargs], ...]}`` from stdin. What is tested may print or exit or
lie as it likes: it does not know what is expected.
"""

# pyright: basic
# ruff: noqa: PTH109, UP031, B905
# It runs alone in the box, under whatever Python is there, on data of any shape; every import costs each attempt.

import importlib
import json
import os
import sys
import types


def plain(value, depth=0):
    """Return a value whose repr is a literal; iterators become lists, what has no literal its type's name."""
    if depth > 20:
        return "<too deep>"
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return value
    if isinstance(value, dict):
        return {plain(key, depth + 1): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return {plain(item, depth + 1) for item in value}
    if isinstance(value, tuple):
        return tuple(plain(item, depth + 1) for item in value)
    if isinstance(value, list):
        return [plain(item, depth + 1) for item in value]
    if isinstance(value, types.GeneratorType) or hasattr(value, "__next__"):
        return [plain(item, depth + 1) for item, _ in zip(value, range(10000))]
    return "<%s>" % type(value).__name__


def main():
    """Answer one line a case: ``["ok", literal, literal of the arguments afterwards]`` or ``["raised", name]``."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    order = json.loads(sys.stdin.read())
    quiet = os.open(os.devnull, os.O_RDWR)
    os.dup2(quiet, 0)
    os.dup2(quiet, 1)
    sys.path.insert(0, os.getcwd())
    sys.dont_write_bytecode = True
    sys.setrecursionlimit(2000)
    target = importlib.import_module(order["module"])
    for name in order["function"].split("."):
        target = getattr(target, name)
    for args, kwargs in order["cases"]:
        try:
            result = plain(target(*args, **kwargs))  # pyright: ignore[reportCallIssue]
            answer = ["ok", repr(result), repr(plain(args))]
        except Exception as fault:
            answer = ["raised", [kind.__name__ for kind in type(fault).__mro__]]
        out.write(json.dumps(answer) + "\n")
        out.flush()
    out.close()
    os._exit(0)


main()
