"""The order of answers."""

from sift.conditions import rank


def in_order(rows, keys, value_of):
    """Return rows in the order of keys; ``value_of`` gives the value of a column in a row."""
    for key in reversed(keys):
        there = [row for row in rows if value_of(key.column, row) is not None]
        nulls = [row for row in rows if value_of(key.column, row) is None]
        there.sort(key=lambda row: rank(value_of(key.column, row)), reverse=key.descending)
        first = key.descending if key.nulls_first is None else key.nulls_first
        rows = nulls + there if first else there + nulls
    return rows
