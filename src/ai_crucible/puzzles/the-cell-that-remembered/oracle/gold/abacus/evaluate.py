"""The value of a tree."""

from abacus.functions import call
from abacus.values import DIV, Error, number, order, written

COMPARED = {
    "=": lambda sign: sign == 0,
    "<>": lambda sign: sign != 0,
    "<": lambda sign: sign < 0,
    "<=": lambda sign: sign <= 0,
    ">": lambda sign: sign > 0,
    ">=": lambda sign: sign >= 0,
}


def evaluate(node):
    """Return the value of a tree; yields the names of cells that it reads and is sent their values."""
    kind, *parts = node
    if kind == "value":
        return parts[0]
    if kind == "cell":
        return (yield parts[0])
    if kind == "call":
        return (yield from call(parts[0], parts[1], evaluate))
    if kind == "sign":
        value = number((yield from evaluate(parts[0])))
        return value if isinstance(value, Error) else -value
    left = yield from evaluate(parts[1])
    if isinstance(left, Error):
        return left
    right = yield from evaluate(parts[2])
    return right if isinstance(right, Error) else combined(parts[0], left, right)


def combined(mark, left, right):
    """Return what an operator makes of two values that are no errors."""
    if mark in COMPARED:
        return int(COMPARED[mark](order(left, right)))
    if mark == "&":
        return written(left) + written(right)
    left, right = number(left), number(right)
    if isinstance(left, Error) or isinstance(right, Error):
        return left if isinstance(left, Error) else right
    if mark == "+":
        return left + right
    if mark == "-":
        return left - right
    if mark == "*":
        return left * right
    return left // right if right else DIV
