"""Takes no more rows from shelves than it must."""

from heapq import merge

from sift.terms import Column, Compare, In, Literal


def read(shelf, alias, parts, rows, value_of):
    """Return the rows of a shelf that may go with rows so far, in their order."""
    if not rows:
        return []
    best = None
    for part in parts:
        for column, values in _ways(part, alias, rows, value_of):
            if column in shelf.indexed:
                cost = sum(shelf.count(column, value) for value in values)
                if best is None or cost < best[0]:
                    best = cost, column, values
    if best is None:
        return [row for _, row in shelf.rows()]
    return [row for _, row in merge(*(shelf.find(best[1], value) for value in best[2]), key=_number)]


def _number(pair):
    return pair[0]


def _ways(part, alias, rows, value_of):
    """Yield columns of a shelf with the values that they must have by a part of a condition."""
    if isinstance(part, In) and not part.negated and _own(part.operand, alias):
        yield part.operand.name, set(part.values) - {None}
    if isinstance(part, Compare) and part.sign == "=":
        for own, other in ((part.left, part.right), (part.right, part.left)):
            if not _own(own, alias):
                continue
            if isinstance(other, Literal):
                yield own.name, {other.value} - {None}
            elif other.alias in rows[0]:
                yield own.name, {value_of(other, row) for row in rows} - {None}


def _own(operand, alias):
    return isinstance(operand, Column) and operand.alias == alias
