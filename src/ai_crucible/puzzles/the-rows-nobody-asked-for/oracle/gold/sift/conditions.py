"""What conditions say of rows."""

import operator
from dataclasses import replace

from sift.terms import And, Column, Compare, In, Not, Null, Or

OPPOSITE = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
SIGNS = {"=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def columns_of(condition):
    """Return the columns of which a condition speaks."""
    if isinstance(condition, (And, Or)):
        return [column for part in condition.parts for column in columns_of(part)]
    if isinstance(condition, Not):
        return columns_of(condition.part)
    operands = (condition.left, condition.right) if isinstance(condition, Compare) else (condition.operand,)
    return [each for each in operands if isinstance(each, Column)]


def rank(value):
    """Return what a value is compared by: numbers come before texts."""
    return (isinstance(value, str), value)


def parts_of(condition):
    """Return the parts of a condition. No ``not`` is left in them, so it is enough to know what is true."""
    if condition is None:
        return []
    condition = _moved(condition, False)
    return [part for each in condition.parts for part in parts_of(each)] if isinstance(condition, And) else [condition]


def _moved(condition, negated):
    """Return a condition, or its opposite, with ``not`` moved inwards."""
    if isinstance(condition, Not):
        return _moved(condition.part, not negated)
    if isinstance(condition, (And, Or)):
        kind = Or if isinstance(condition, And) == negated else And
        return kind(tuple(_moved(part, negated) for part in condition.parts))
    if not negated:
        return condition
    if isinstance(condition, Compare):
        return replace(condition, sign=OPPOSITE[condition.sign])
    return replace(condition, negated=not condition.negated)


def holds(part, value_of):
    """Tell whether a part of a condition is true where operands have these values."""
    if isinstance(part, And):
        return all(holds(each, value_of) for each in part.parts)
    if isinstance(part, Or):
        return any(holds(each, value_of) for each in part.parts)
    if isinstance(part, Null):
        return (value_of(part.operand) is None) != part.negated
    if isinstance(part, In):
        return _inside(value_of(part.operand), part)
    left, right = value_of(part.left), value_of(part.right)
    return left is not None and right is not None and SIGNS[part.sign](rank(left), rank(right))


def _inside(value, part):
    if value is None:
        return False
    if part.negated:
        return value not in part.values and None not in part.values
    return value in part.values
