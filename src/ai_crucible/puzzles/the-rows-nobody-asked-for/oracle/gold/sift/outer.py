"""Left joins, and those that are none."""

from sift.conditions import columns_of, holds, parts_of
from sift.terms import And, Compare, Literal, Or


def planned(query):
    """Return the conditions of a query, and by alias the parts of the left joins that are such."""
    conditions = parts_of(query.where)
    left = {source.alias: parts_of(source.on) for source in query.sources if source.kind == "left"}
    for source in query.sources:
        if source.kind == "join":
            conditions += parts_of(source.on)
    while alias := next((each for each in left if not all(can_hold(part, each) for part in conditions)), None):
        conditions += left.pop(alias)
    return conditions, left


def can_hold(part, alias):
    """Tell whether a part of a condition can be true where all columns of a shelf are null."""
    if isinstance(part, And):
        return all(can_hold(each, alias) for each in part.parts)
    if isinstance(part, Or):
        return any(can_hold(each, alias) for each in part.parts)
    known = [column.alias == alias for column in columns_of(part)]
    if all(known):
        return holds(part, _literal)
    return not isinstance(part, Compare) or not any(known) and not any(_literal(each) is None for each in _literals(part))


def _literals(part):
    return [each for each in (part.left, part.right) if isinstance(each, Literal)]


def _literal(operand):
    return operand.value if isinstance(operand, Literal) else None
