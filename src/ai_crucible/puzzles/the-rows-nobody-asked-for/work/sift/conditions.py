"""What conditions say of rows."""

import operator

from sift.terms import And, Column, Compare, In, Not, Null, Or

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


def holds(condition, value_of):
    """Tell whether a condition is true where operands have these values."""
    if isinstance(condition, And):
        return all(holds(part, value_of) for part in condition.parts)
    if isinstance(condition, Or):
        return any(holds(part, value_of) for part in condition.parts)
    if isinstance(condition, Not):
        return not holds(condition.part, value_of)
    if isinstance(condition, Null):
        return (value_of(condition.operand) is None) != condition.negated
    if isinstance(condition, In):
        return (value_of(condition.operand) in condition.values) != condition.negated
    left, right = value_of(condition.left), value_of(condition.right)
    if left is None or right is None:
        return False
    return SIGNS[condition.sign](rank(left), rank(right))
